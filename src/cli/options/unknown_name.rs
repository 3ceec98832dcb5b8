//! Errors for types and platforms that do not exist.

use switchtender_devices::driver::Registry;
use switchtender_devices::names::{PlatformName, TypeName};

use crate::cli::exit::CommandError;
use crate::diagnostic::suggest;
use crate::inventory::platform_hint;

/// No type has this name.
pub(crate) fn unknown_type(registry: &Registry, name: &str) -> CommandError {
    let names = registry.type_names().map(TypeName::as_str);
    // A host type has a model, and no platform has it.
    let names = names.filter(|other| *other != name);
    let list = "list the types with `switchtender type`";
    CommandError::new(format!("unknown type `{name}`")).hint(suggest(name, names, list))
}

/// No platform has this name.
pub(crate) fn unknown_platform(registry: &Registry, name: &str) -> CommandError {
    let names: Vec<&str> = registry
        .platform_names()
        .map(PlatformName::as_str)
        .collect();
    let hint = platform_hint(&names, Some(registry), name);
    CommandError::new(format!("unknown platform `{name}`")).hint(hint)
}
