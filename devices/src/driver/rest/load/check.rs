//! Checks a definition against its model: every attribute has a location, and every location is
//! valid.

use crate::document::Table;
use crate::driver::rest::definition::{RestDefinition, RestLocation};
use crate::model::{Role, TypeModel};

/// Checks that every attribute has a location, and that every location is valid.
pub(crate) fn check(definition: &RestDefinition, root: &Table<'_>, model: &TypeModel) {
    let error = |message: String| {
        root.findings
            .error("incomplete", root.span.start..root.span.start, message);
    };
    for attribute in model.properties() {
        let name = &attribute.name;
        let is_kind = definition
            .kinds
            .as_ref()
            .is_some_and(|kinds| kinds.attribute == *name);
        if name != "ensure" && !is_kind && !definition.attributes.contains_key(name) {
            error(format!(
                "the attribute `{name}` of the model has no section [attr.{name}]; add it with a location or `unsupported = \"REASON\"`"
            ));
        }
    }
    for (name, rule) in &definition.attributes {
        match &rule.location {
            RestLocation::Inside(leader) => {
                let led = definition.attributes.get(leader.as_str()).is_some_and(
                    |rule| matches!(&rule.location, RestLocation::Group { with, .. } if with.contains(name)),
                );
                if !led {
                    error(format!(
                        "`{name}` has `inside = \"{leader}\"`, but `with` of `{leader}` does not list it"
                    ));
                }
            }
            RestLocation::Group { with, .. } => {
                for member in with {
                    let inside = definition.attributes.get(member).is_some_and(
                        |rule| matches!(&rule.location, RestLocation::Inside(leader) if leader == name),
                    );
                    if !inside {
                        error(format!(
                            "`with` of `{name}` lists `{member}`, which has no `inside = \"{name}\"`"
                        ));
                    }
                }
            }
            RestLocation::Entries(entries) if !definition.shared.contains_key(&entries.of) => {
                error(format!(
                    "`{name}` requires the section [shared.{}]",
                    entries.of
                ));
            }
            RestLocation::States(states) => {
                for value in &model.attributes[name].values {
                    let value = value.name();
                    let meant = rule.same.iter().any(|(spelling, _)| *spelling == value);
                    if !meant && !states.contains_key(value.as_ref()) {
                        error(format!("value `{value}` of `{name}` has no `set.{value}`"));
                    }
                }
            }
            _ => {}
        }
        for kind in &rule.kinds {
            let is_declared = definition
                .kinds
                .as_ref()
                .is_some_and(|kinds| kinds.kinds.contains_key(kind));
            if !is_declared {
                error(format!(
                    "`kinds` of `{name}` lists `{kind}`, which [kind] does not declare"
                ));
            }
        }
    }
    let (key, _) = &definition.instance.key;
    if model
        .attributes
        .get(key.as_str())
        .map(|attribute| attribute.role)
        != Some(Role::Namevar)
    {
        error(format!("`{key}` in `key` is not a namevar of the model"));
    }
}
