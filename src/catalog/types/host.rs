//! Types that manage the agent's own host. They are never applied here, so any attribute is
//! accepted.

use std::sync::Arc;

use switchtender_devices::model::{Refresh, Role, RunsOn};
use switchtender_devices::names::TypeName;

use super::super::resource_ref::capitalize;
use super::{ResourceType, TypeBehavior, ValueStyle, small_model};

/// The names of Puppet's own types, and those of the modules that ship with its agent.
pub(super) const NAMES: [&str; 21] = [
    "augeas",
    "cron",
    "exec",
    "file",
    "filebucket",
    "group",
    "host",
    "mount",
    "package",
    "scheduled_task",
    "selboolean",
    "selmodule",
    "service",
    "ssh_authorized_key",
    "sshkey",
    "tidy",
    "user",
    "yumrepo",
    "zfs",
    "zone",
    "zpool",
];

pub(super) fn resource_type(name: &str) -> ResourceType {
    let namevar = match name {
        "exec" => "command",
        "file" | "tidy" => "path",
        _ => "name",
    };
    let mut model = small_model(name, RunsOn::Host, &[(namevar, Role::Namevar)]);
    if matches!(name, "exec" | "mount" | "package" | "service") {
        model.refresh = Refresh::Yes;
    }
    ResourceType {
        model: Arc::new(model),
        behavior: Arc::new(Open),
    }
}

/// A type that accepts any attribute.
#[derive(Debug)]
pub(super) struct Open;

impl TypeBehavior for Open {
    fn values(&self) -> ValueStyle {
        ValueStyle::Classic
    }

    fn open(&self) -> bool {
        true
    }

    fn is_providerless(&self) -> bool {
        true
    }
}

/// A type that does not exist.
#[derive(Debug)]
pub(super) struct Unknown {
    pub(crate) type_name: TypeName,
}

impl TypeBehavior for Unknown {
    fn values(&self) -> ValueStyle {
        ValueStyle::Classic
    }

    fn open(&self) -> bool {
        true
    }

    fn is_providerless(&self) -> bool {
        true
    }

    fn unusable(&self) -> Option<String> {
        let name = capitalize(&self.type_name);
        Some(format!("Resource type '{name}' was not found"))
    }
}
