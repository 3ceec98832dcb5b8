//! Checks a definition against its model: every attribute has a location, and every location is
//! valid.

use crate::document::Table;
use crate::driver::rest::definition::{RestDefinition, RestLocation, UnsetRule};
use crate::driver::rest::template::BodyField;
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
    for message in instance_errors(definition, model) {
        error(message);
    }
    for (name, rule) in &definition.attributes {
        for message in writing_errors(definition, name, &rule.location) {
            error(message);
        }
    }
}

/// Placeholders that have no value, values that can change a path, and keys that contradict each
/// other.
fn instance_errors(definition: &RestDefinition, model: &TypeModel) -> Vec<String> {
    let rule = &definition.instance;
    let mut errors = Vec::new();
    for key in &rule.key {
        let role = model.attributes.get(key.attribute.as_str());
        let name = &key.attribute;
        if role.map(|attribute| attribute.role) != Some(Role::Namevar) {
            errors.push(format!("`{name}` in `key` is not a namevar of the model"));
        }
        if rule.rows.is_some() && !rule.object.holes().any(|hole| hole == name) {
            errors.push(format!(
                "`object` has no placeholder for the namevar `{name}`"
            ));
        }
    }
    let has_lists = !rule.lookups.is_empty() || !definition.shared.is_empty();
    if has_lists && definition.rows.is_none() {
        errors.push("`lookups` and [shared] require `rows` in platform.toml".to_owned());
    }
    let mut paths = vec![(&rule.collection, false), (&rule.object, false)];
    for attribute in definition.attributes.values() {
        if let RestLocation::Members(members) = &attribute.location {
            paths.extend([(&members.collection, true), (&members.object, true)]);
        }
    }
    for (path, has_member) in paths {
        for hole in path.holes() {
            let is_known = rule.is_key(hole)
                || hole == "kind" && definition.kinds.is_some()
                || hole == "member" && has_member;
            if !is_known {
                errors.push(format!(
                    "`{path}` uses `{hole}`, which is not a namevar in `key`"
                ));
            }
        }
        for hole in path.unencoded_holes().filter(|hole| *hole != "kind") {
            errors.push(format!(
                "`{{{hole}}}` in the path `{path}` is not encoded; use `{{{hole}|percent}}`"
            ));
        }
    }
    if let Some(create) = &rule.create
        && rule.is_map()
        && !create.is_at_object
    {
        errors.push(
            "an object in a map is created at its own path: add `at = \"object\"` to `create`"
                .to_owned(),
        );
    }
    let fields = rule.create.iter().flat_map(|create| &create.body).flatten();
    for (_, field) in fields.chain(&rule.update.fields) {
        if let BodyField::Text(template) = field {
            let holes = template.holes();
            let unknown =
                holes.filter(|hole| *hole != "kind" && !model.attributes.contains_key(*hole));
            errors.extend(unknown.map(|hole| {
                format!(
                    "`{template}` uses `{hole}`, which is not an attribute of {}",
                    model.name
                )
            }));
        }
    }
    errors
}

/// Locations that the requests of the type cannot write.
fn writing_errors(definition: &RestDefinition, name: &str, location: &RestLocation) -> Vec<String> {
    let rule = &definition.instance;
    let mut errors = Vec::new();
    let is_complete = rule.update.is_complete;
    let field = match location {
        RestLocation::Field(field) => field,
        RestLocation::Members(_) if rule.has_etag => {
            return vec![format!("`etag` does not cover the members in `{name}`")];
        }
        _ => return errors,
    };
    if !is_complete && (field.path.has_array() || field.each.is_some()) {
        errors.push(format!(
            "`{name}` is in an array, which a request replaces: use `update = {{ body = \"whole\" }}`"
        ));
    }
    match field.unset {
        Some(UnsetRule::Omit) if !is_complete => errors.push(format!(
            "`unset = \"omit\"` of `{name}` requires `update = {{ body = \"whole\" }}`"
        )),
        Some(UnsetRule::Delete) if is_complete => errors.push(format!(
            "`unset = \"delete\"` of `{name}` contradicts `body = \"whole\"`: use `unset = \"omit\"`"
        )),
        Some(UnsetRule::Delete) if rule.has_etag => {
            errors.push(format!("`etag` does not cover `unset = \"delete\"` of `{name}`"));
        }
        Some(_) if field.path.ends_in_array() => errors.push(format!(
            "`unset` of `{name}` requires a field: an element of an array has no name"
        )),
        _ => {}
    }
    errors
}
