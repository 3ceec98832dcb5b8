//! `[parameter.x]`: a value of each device in the texts of a definition, `{device.x}`.
//!
//! The values are filled in when the files are loaded, so that no other part knows of them.

use std::collections::BTreeMap;

use crate::document::{Item, KeyValue, keys};
use crate::pattern::Pattern;

/// The values of parameters by name.
pub type ParameterValues = BTreeMap<String, String>;

/// A parameter of a platform.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// What it is.
    pub doc: String,
    /// The value of devices that do not set it; `None`: each device sets it.
    pub default: Option<String>,
    pattern: Option<Pattern>,
}

keys! {
    /// A parameter of a platform's devices.
    pub(super) struct ParameterKeys {
        /// What the parameter is.
        doc: String = String::new(),
        /// Its value for devices without one.
        default: Option<String>,
        /// Pattern of valid values.
        pattern: Option<Pattern>,
    }
}

impl Parameter {
    /// Reads the section `[parameter]` of a platform.
    pub(super) fn load_all(item: &Item<'_>) -> Vec<Self> {
        let entries = item.table().map(|table| table.entries());
        let entries = entries.into_iter().flatten();
        let parameters = entries.filter_map(|(name, _, item)| Self::load(name, &item));
        parameters.collect()
    }

    fn load(name: String, item: &Item<'_>) -> Option<Self> {
        let keys = ParameterKeys::read(item)?;
        let parameter = Self {
            name,
            doc: keys.doc,
            default: keys.default,
            pattern: keys.pattern,
        };
        let refusal = parameter.default.as_deref();
        if let Some(reason) = refusal.and_then(|value| parameter.refusal(value)) {
            item.error("parameter", format!("`default` {reason}"));
        }
        Some(parameter)
    }

    /// Why a value is not valid, without a subject. Only characters without a meaning in paths, queries
    /// and lines are.
    fn refusal(&self, value: &str) -> Option<String> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if value.is_empty() || !value.chars().all(is_plain) || value.starts_with('.') {
            return Some(format!("is `{value}`: use letters, digits and `-_.`"));
        }
        let pattern = self.pattern.as_ref()?;
        (!pattern.is_match(value))
            .then(|| format!("is `{value}`, which does not match `{pattern}`"))
    }

    /// The parameter with its default, for users.
    pub fn describe(&self) -> String {
        let (name, doc) = (&self.name, &self.doc);
        match &self.default {
            Some(default) => format!("{{device.{name}}}, by default {default}: {doc}"),
            None => format!("{{device.{name}}}, of each device: {doc}"),
        }
    }

    /// What is wrong with the values of a device: the parameter and the reason.
    pub fn problems(parameters: &[Self], supplied: &ParameterValues) -> Vec<(String, String)> {
        let unknown = supplied.keys().filter(|name| {
            let mut known = parameters.iter();
            known.all(|parameter| parameter.name != **name)
        });
        let unknown = unknown.map(|name| (name.clone(), "is no parameter".to_owned()));
        let wrong = parameters.iter().filter_map(|parameter| {
            let reason = match supplied.get(&parameter.name) {
                Some(value) => parameter.refusal(value)?,
                None if parameter.default.is_none() => "has no value".to_owned(),
                None => return None,
            };
            Some((parameter.name.clone(), reason))
        });
        unknown.chain(wrong).collect()
    }

    /// The values of a device. Definitions are checked and tested with the defaults, and with its name for
    /// a parameter that has none.
    pub(super) fn values(parameters: &[Self], supplied: &ParameterValues) -> ParameterValues {
        let values = parameters.iter().map(|parameter| {
            let name = &parameter.name;
            let value = supplied.get(name).or(parameter.default.as_ref());
            (name.clone(), value.unwrap_or(name).clone())
        });
        values.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definitions::DefinitionFile;
    use crate::driver::Registry;

    const PLATFORM: &str = r#"
schema = 1
platform = "box"
transport = "rest"
[connection]
port = 443
[parameter.tenant]
default = "acme"
pattern = '^[a-z]+$'
[parameter.zone]
[read.list]
command = "/{device.tenant}/{device.zone}"
parse = "json"
answer = "list"
"#;

    fn values(pairs: &[(&str, &str)]) -> ParameterValues {
        let pairs = pairs.iter();
        pairs
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    #[test]
    fn parameters_of_a_device_are_in_its_platform() {
        let file = DefinitionFile::new("box/platform.toml", PLATFORM);
        let registry = Registry::from_files(&[], &[file]).unwrap();
        let command = |supplied: &[(&str, &str)]| {
            let platform = registry.platform_with("box", &values(supplied))?;
            Some(platform.reads["list"].request.command.clone())
        };
        let own = [("tenant", "other"), ("zone", "z")];
        assert_eq!(command(&own).as_deref(), Some("/other/z"));
        assert_eq!(command(&[("zone", "y")]).as_deref(), Some("/acme/y"));
        assert_eq!(command(&own).as_deref(), Some("/other/z"));
        for wrong in [&[][..], &[("zone", "a/b")], &[("zone", "z"), ("x", "y")]] {
            assert_eq!(command(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn parameters_that_are_unknown_missing_or_wrong_are_problems() {
        let file = DefinitionFile::new("box/platform.toml", PLATFORM);
        let registry = Registry::from_files(&[], &[file]).unwrap();
        let parameters = &registry.platform("box").unwrap().parameters;
        let problems = |supplied: &[(&str, &str)]| {
            let found = Parameter::problems(parameters, &values(supplied)).into_iter();
            let found: Vec<_> = found
                .map(|(name, reason)| format!("{name} {reason}"))
                .collect();
            found.join("; ")
        };
        assert_eq!(problems(&[("zone", "z")]), "");
        assert_eq!(problems(&[]), "zone has no value");
        assert_eq!(
            problems(&[("zon", "z"), ("tenant", "A"), ("zone", "z?")]),
            "zon is no parameter; tenant is `A`, which does not match `^[a-z]+$`; \
             zone is `z?`: use letters, digits and `-_.`"
        );
    }
}
