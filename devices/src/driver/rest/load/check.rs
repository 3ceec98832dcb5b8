//! Checks a definition against its model: every attribute has a location, and every location is
//! valid.

use std::borrow::Cow;

use super::choice::choice_errors;
use super::placeholders::{placeholder_errors, unencoded};
use super::requests::request_errors;
use crate::document::Table;
use crate::driver::rest::codec::ValueCodec;
use crate::driver::rest::definition::{
    FieldRule, ObjectMove, OrderRule, RequestTarget, RestAttributeRule, RestDefinition,
    RestInstanceRule, RestLocation, UnsetRule,
};
use crate::driver::rest::order::FIRST;
use crate::driver::rest::template::TextTemplate;
use crate::model::{AttributeModel, Role, TypeModel, ValueSpec};
use crate::read::field_path::FieldPath;

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
        let is_sensitive = model.attributes.get(name).is_some_and(|one| one.sensitive);
        // The name of its field is what tells a secret in the text of a device.
        let is_shared = matches!(
            &rule.location,
            RestLocation::Group { .. }
                | RestLocation::Inside(_)
                | RestLocation::Members(_)
                | RestLocation::Entries(_)
        );
        if is_sensitive && is_shared {
            error(format!(
                "`{name}` is sensitive and shares its place with other values, so that it cannot be masked: give it a `field` of its own"
            ));
        }
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
                let values = states.keys().map(String::as_str).collect();
                for value in values_without(rule, &model.attributes[name], &values) {
                    error(format!("value `{value}` of `{name}` has no `set.{value}`"));
                }
                let is_read_only = model.attributes[name].role == Role::ReadOnly;
                for (value, state) in states {
                    let has_request = rule.requests.contains_key(value);
                    if state.set.is_empty() && !is_read_only && !has_request {
                        error(format!(
                            "`set.{value}` of `{name}` has no field, so that the value cannot be written"
                        ));
                    }
                }
            }
            RestLocation::Upload(upload) => {
                if !rule.write_only || !model.attributes[name].sensitive {
                    error(format!(
                        "the file in `{name}` cannot be read: it requires `write_only = true`, and `sensitive = true` in the model"
                    ));
                }
                for template in [&upload.path, &upload.value] {
                    let mut holes = template.holes();
                    if let Some(hole) = holes.find(|hole| !definition.instance.is_key(hole)) {
                        error(format!(
                            "`{template}` uses `{hole}`, which is not a namevar in `key`"
                        ));
                    }
                }
                unencoded(&upload.path).for_each(&error);
            }
            RestLocation::Field(field) => {
                default_word_error(&model.attributes[name], rule, field)
                    .into_iter()
                    .for_each(&error);
            }
            RestLocation::Order(order) => {
                order_errors(definition, name, order)
                    .into_iter()
                    .for_each(&error);
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
    let instance = instance_errors(definition, model).into_iter();
    instance
        .chain(placeholder_errors(definition, model))
        .chain(choice_errors(definition, model))
        .chain(request_errors(definition, model))
        .for_each(&error);
    for (name, rule) in &definition.attributes {
        for message in writing_errors(definition, name, &rule.location) {
            error(message);
        }
    }
}

/// The values of an attribute that have no location of their own and are no other spelling.
pub(super) fn values_without<'a>(
    rule: &'a RestAttributeRule,
    attribute: &'a AttributeModel,
    located: &'a Vec<&str>,
) -> impl Iterator<Item = Cow<'a, str>> {
    let valid = rule.narrowed.as_ref().unwrap_or(attribute);
    let values = valid.values.iter().map(ValueSpec::name);
    values.filter(|value| {
        let is_meant = rule.spellings.iter().any(|(spelling, _)| spelling == value);
        let is_lacking = rule.unsupported_values.contains_key(value.as_ref());
        !is_meant && !is_lacking && !located.contains(&value.as_ref())
    })
}

/// Keys that contradict each other.
fn instance_errors(definition: &RestDefinition, model: &TypeModel) -> Vec<String> {
    let rule = &definition.instance;
    let mut errors = Vec::new();
    for key in &rule.key {
        let role = model.attributes.get(key.attribute.as_str());
        let name = &key.attribute;
        if role.map(|attribute| attribute.role) != Some(Role::Namevar) {
            errors.push(format!("`{name}` in `key` is not a namevar of the model"));
        }
        let is_in_path = rule.object.holes().any(|hole| hole == name);
        let is_needed = rule.rows.is_some() && key.up >= rule.parent_levels;
        if is_needed && !is_in_path && !rule.has_frames() {
            errors.push(format!(
                "`object` has no placeholder for the namevar `{name}`"
            ));
        }
    }
    let has_lists = !rule.lookups.is_empty() || !definition.shared.is_empty();
    if has_lists && definition.rows.is_none() {
        errors.push("`lookups` and [shared] require `rows` in platform.toml".to_owned());
    }
    let is_netconf = definition.namespaces.is_some();
    errors.extend(list_errors(rule, is_netconf));
    errors.extend(document_errors(rule));
    errors.extend(parent_errors(definition));
    if let Some(create) = &rule.create
        && rule.document.is_none()
        && rule.is_map()
        && !matches!(create.target, RequestTarget::Object)
    {
        errors.push(
            "an object in a map is created at its own path: add `at = \"object\"` to `create`"
                .to_owned(),
        );
    }
    if rule.has_frames() {
        let has_frame = |frame: &[_]| !frame.is_empty();
        let is_complete = rule.create.iter().all(|create| has_frame(&create.frame))
            && has_frame(&rule.update.frame)
            && rule.remove.iter().all(|remove| has_frame(&remove.body));
        if !is_complete {
            errors.push(
                "a `frame` in `create`, `update` and `body` in `remove` require each other"
                    .to_owned(),
            );
        }
        if !rule.update.is_complete {
            errors.push("`frame` requires `update = { body = \"whole\" }`".to_owned());
        }
    }
    errors
}

/// What objects in the body of a parent, and collections of parents, cannot have.
fn parent_errors(definition: &RestDefinition) -> Vec<String> {
    let rule = &definition.instance;
    let mut errors = Vec::new();
    if let Some(parent) = &rule.parent {
        for (attribute, _) in &parent.key {
            let placeholder = format!("{{{attribute}|percent}}");
            if !rule.collection.to_string().contains(&placeholder) {
                errors.push(format!(
                    "`collection` has no placeholder `{placeholder}` for the namevar of `parent`"
                ));
            }
        }
        let kinds = definition.kinds.iter().flat_map(|kinds| &kinds.kinds);
        if let Some((kind, _)) = kinds.into_iter().find(|(_, kind)| kind.path.is_some()) {
            errors.push(format!(
                "`path` of the kind `{kind}` is not available with `parent`: write a type for each kind"
            ));
        }
    }
    if rule.parent_levels == 0 || rule.document.is_some() {
        return errors;
    }
    if definition.kinds.is_some() || !definition.shared.is_empty() {
        errors.push(
            "[kind] and [shared] are not available for objects in the body of a parent".to_owned(),
        );
    }
    for (name, attribute) in &definition.attributes {
        let is_separate = match &attribute.location {
            RestLocation::Members(members) => members.own.is_some(),
            RestLocation::Upload(_) | RestLocation::Order(_) => true,
            _ => false,
        };
        if is_separate {
            errors.push(format!(
                "`{name}` needs a request of its own, and `object` is the path of a parent: use `field` or `set`"
            ));
        }
    }
    errors
}

fn texts(attributes: &[(String, TextTemplate)]) -> Vec<&TextTemplate> {
    attributes.iter().map(|(_, text)| text).collect()
}

/// Moves of `order` that lack a name, and objects that have no order.
fn order_errors(definition: &RestDefinition, name: &str, order: &OrderRule) -> Vec<String> {
    let rule = &definition.instance;
    let mut errors = Vec::new();
    let is_netconf = definition.namespaces.is_some();
    let has_list = rule
        .rows
        .as_ref()
        .is_some_and(|rows| is_netconf || rows.depth() == 0);
    let own_keys = rule.key.iter().filter(|key| key.up == 0).count();
    if !has_list || rule.is_map() || own_keys != 1 || rule.document.is_some() {
        errors.push(format!(
            "`order` of `{name}` requires a list of objects with one namevar in `key`"
        ));
    }
    let (after, before) = match &order.moves {
        ObjectMove::Requests { after, before, .. } => (vec![after], vec![before]),
        ObjectMove::Attributes { after, before } => (texts(after), texts(before)),
    };
    // A device may have a word for the first place.
    for (templates, other, is_needed) in [(after, name, true), (before, FIRST, false)] {
        let own = (!is_netconf).then(|| (rule.key_attribute(), true));
        let mut known: Vec<(&str, bool)> = own.into_iter().chain([(other, is_needed)]).collect();
        for (template, hole) in templates
            .iter()
            .flat_map(|one| one.holes().map(move |hole| (one, hole)))
        {
            match known.iter().position(|(one, _)| *one == hole) {
                Some(index) => {
                    known.remove(index);
                }
                None => errors.push(format!("`{template}` uses `{hole}`, which has no value")),
            }
        }
        for (missing, _) in known.iter().filter(|(_, is_needed)| *is_needed) {
            let texts: Vec<String> = templates.iter().map(|one| format!("`{one}`")).collect();
            let texts = texts.join(", ");
            errors.push(format!("{texts} has no placeholder `{{{missing}}}`"));
        }
        let paths = templates.iter().filter(|_| !is_netconf);
        errors.extend(paths.flat_map(|path| unencoded(path)));
    }
    errors
}

/// A field that would have the word for the default as its value.
fn default_word_error(
    model: &AttributeModel,
    rule: &RestAttributeRule,
    field: &FieldRule,
) -> Option<String> {
    let (name, word) = (&model.name, model.default_word.as_deref()?);
    let valid = rule.narrowed.as_ref().unwrap_or(model);
    let is_valid = valid.values.iter().any(|spec| spec.name() == word)
        && !rule.unsupported_values.contains_key(word);
    let is_empty_list = model.array.is_some() && !field.codec.is_some_and(ValueCodec::is_text);
    let is_written = match &field.absent {
        Some(absent) => !model.is_unset(absent) || field.unset.is_some() || is_empty_list,
        None => false,
    };
    let is_mapped = field.map.iter().any(|(text, _)| text == word);
    let has_meaning = is_written || is_mapped || rule.requests.contains_key(word);
    let is_sent = is_valid && !has_meaning && model.role != Role::ReadOnly;
    is_sent.then(|| {
        format!(
            "`{name}` would send the word `{word}`: add `absent` and `unset`, or leave it out of `values`"
        )
    })
}

/// Keys of outer lists that are missing, and outer lists without a key.
fn list_errors(rule: &RestInstanceRule, is_netconf: bool) -> Vec<String> {
    let Some(rows) = &rule.rows else {
        return Vec::new();
    };
    let mut errors = Vec::new();
    for (index, key) in rule.key.iter().enumerate() {
        let name = &key.attribute;
        if rule.key[..index]
            .iter()
            .any(|other| other.attribute == *name)
        {
            errors.push(format!("the namevar `{name}` is in `key` and in `parent`"));
        }
    }
    let depth = rows.depth();
    for key in rule.key.iter().filter(|key| key.up > depth) {
        let name = &key.attribute;
        let list = if is_netconf {
            "`[*]` in `collection`"
        } else {
            "`each` of `rows`"
        };
        let (steps, lists) = match key.up {
            1 => ("../".to_owned(), "an outer list".to_owned()),
            up => ("../".repeat(up), format!("{up} outer lists")),
        };
        errors.push(format!(
            "`{steps}` in the key `{name}` requires {lists}, {list}"
        ));
    }
    for (index, list) in rows.levels().enumerate() {
        let up = depth - index;
        if rule.key.iter().all(|key| key.up != up) {
            let list = list.location();
            let steps = "../".repeat(up);
            errors.push(format!(
                "`key` has no namevar for the list `{list}`: add it, such as `id = \"{steps}id\"`"
            ));
        }
    }
    errors
}

/// Objects that are not in the document of their read.
fn document_errors(rule: &RestInstanceRule) -> Vec<String> {
    let Some(rows) = &rule.rows else {
        return Vec::new();
    };
    let list = rows.outermost().location();
    match &rule.document {
        Some(document) if !document.contains(list) => vec![format!(
            "the list `{list}` is not in the document that [write] sends"
        )],
        _ => Vec::new(),
    }
}

/// Locations that the requests of the type cannot write.
fn writing_errors(definition: &RestDefinition, name: &str, location: &RestLocation) -> Vec<String> {
    let rule = &definition.instance;
    match location {
        RestLocation::Members(_) if rule.document.is_some() => {
            vec![format!(
                "the members in `{name}` are part of a document: use `field = \"list[*].field\"`"
            )]
        }
        RestLocation::Members(members) if rule.has_etag && members.own.is_some() => {
            vec![format!("`etag` does not cover the members in `{name}`")]
        }
        RestLocation::Choice(choice) => {
            let paths = choice.places.values().map(|path| (path, false));
            field_errors(definition, name, paths, choice.unset)
        }
        location => {
            let fields = location.fields();
            let unset = fields.first().and_then(|field| field.unset);
            let paths = fields.into_iter();
            let paths = paths.map(|field| (&field.path, field.each.is_some()));
            field_errors(definition, name, paths, unset)
        }
    }
}

/// Fields that the requests cannot write; each with whether it is a list of objects.
fn field_errors<'a>(
    definition: &RestDefinition,
    name: &str,
    fields: impl Iterator<Item = (&'a FieldPath, bool)>,
    unset: Option<UnsetRule>,
) -> Vec<String> {
    let rule = &definition.instance;
    let is_complete = rule.writes_complete();
    let fields: Vec<_> = fields.collect();
    let mut errors = Vec::new();
    let mut arrays = fields
        .iter()
        .filter(|(path, each)| path.has_array() || *each);
    // A merge finds the elements of a list by their keys.
    if !is_complete && arrays.next().is_some() && definition.namespaces.is_none() {
        errors.push(format!(
            "`{name}` is in an array, which a request replaces: use `update = {{ body = \"whole\" }}`"
        ));
    }
    match unset {
        Some(UnsetRule::Omit) if !is_complete => errors.push(format!(
            "`unset = \"omit\"` of `{name}` requires `update = {{ body = \"whole\" }}`"
        )),
        Some(UnsetRule::Delete) if is_complete => errors.push(format!(
            "`unset = \"delete\"` of `{name}` contradicts `body = \"whole\"`: use `unset = \"omit\"`"
        )),
        Some(UnsetRule::Delete) if rule.has_etag => {
            errors.push(format!("`etag` does not cover `unset = \"delete\"` of `{name}`"));
        }
        Some(_) if fields.iter().any(|(path, _)| path.ends_in_array()) => errors.push(format!(
            "`unset` of `{name}` requires a field: an element of an array has no name"
        )),
        _ => {}
    }
    errors
}
