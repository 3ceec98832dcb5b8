//! How a REST type is read and written, as text for users.

use super::definition::{
    CreateOnly, FieldRule, MemberPaths, ObjectMove, RestDefinition, RestLocation, UnsetRule,
};
use super::read_requests;
use super::template::TextTemplate;
use super::write::leaf_path;
use crate::diagnostic::Severity;
use crate::driver::explanation::{AttributeExplanation, Explanation, NotApplied};
use crate::model::TypeModel;
use crate::operation::Method;
use crate::value::Value;

pub(crate) fn explain(definition: &RestDefinition, model: &TypeModel) -> Explanation {
    let rule = &definition.instance;
    let mut instance: Vec<(String, String)> = Vec::new();
    if rule.singleton.is_none() {
        let keys = rule.key.iter().map(|key| match &key.field {
            Some(field) => format!("{} = {}{field}", key.attribute, "../".repeat(key.up)),
            None => format!("{} = name in the map", key.attribute),
        });
        instance.push(("key".to_owned(), keys.collect::<Vec<_>>().join(", ")));
    }
    if let Some(singleton) = &rule.singleton {
        instance.push(("always present".to_owned(), singleton.clone()));
    }
    let verb = |method: Method| match (&definition.namespaces, method) {
        (None, method) => method.to_string(),
        (Some(_), Method::Post) => "create".to_owned(),
        (Some(_), Method::Put) => "replace".to_owned(),
        (Some(_), Method::Delete) => "delete".to_owned(),
        (Some(_), Method::Patch | Method::Get) => "merge".to_owned(),
    };
    if let Some(document) = &rule.document {
        instance.push(("write".to_owned(), document.describe()));
    }
    if rule.parent_levels > 0 {
        let method = rule.update.method;
        let text = format!("{method} {} with the object in its list", rule.object);
        instance.push(("write".to_owned(), text));
    }
    let requests = rule.document.is_none() && rule.parent_levels == 0;
    if let Some(create) = rule.create.as_ref().filter(|_| requests) {
        let verb = verb(create.method);
        instance.push((
            "create".to_owned(),
            format!("{verb} {}", rule.path_of(&create.target)),
        ));
    }
    if requests {
        let update = verb(rule.update.method);
        instance.push((
            "change".to_owned(),
            if rule.update.is_complete {
                format!(
                    "{update} {} with all fields",
                    rule.path_of(&rule.update.target)
                )
            } else {
                format!("{update} {}", rule.path_of(&rule.update.target))
            },
        ));
    }
    if rule.has_etag {
        let text = "only if the object is the one that was read (ETag)";
        instance.push(("condition".to_owned(), text.to_owned()));
    }
    if let Some(remove) = rule.remove.as_ref().filter(|_| requests) {
        let path = remove.path.as_ref().unwrap_or(&rule.object);
        let remove = format!("{} {path}", verb(remove.method));
        instance.push(("remove".to_owned(), remove));
    }
    if let Some(refresh) = &definition.refresh {
        instance.push(("refresh".to_owned(), refresh.to_string()));
    }
    let attributes = model
        .attributes
        .keys()
        .filter_map(|name| attribute(name, definition))
        .collect();
    Explanation {
        reads: read_requests::requests(definition, model, None),
        instance,
        attributes,
    }
}

fn when_missing(absent: &Value) -> String {
    format!("{} when the field is missing or empty", absent.inspect())
}

/// How the values of a field are written. `with` is its condition.
fn write_field(
    definition: &RestDefinition,
    field: &FieldRule,
    with: &str,
    write: &mut Vec<(String, String)>,
) {
    for (value, json) in &field.map {
        write.push((format!("{value}{with}"), format!("{{\"{field}\": {json}}}")));
    }
    write.push((format!("any{with}"), format!("{{\"{field}\": …}}")));
    let (Some(absent), Some(unset)) = (&field.absent, field.unset) else {
        return;
    };
    let removed = match unset {
        UnsetRule::Delete => {
            let path = leaf_path(&definition.instance.object.to_string(), &field.path);
            let verb = match definition.namespaces {
                Some(_) => "delete",
                None => "DELETE",
            };
            format!("{verb} {path}")
        }
        UnsetRule::Null => format!("{{\"{field}\": null}}"),
        UnsetRule::Omit => format!("without \"{field}\""),
    };
    write.push((format!("{}{with}", absent.inspect()), removed));
}

fn attribute(name: &str, definition: &RestDefinition) -> Option<AttributeExplanation> {
    let rule = definition.attributes.get(name)?;
    let mut read = Vec::new();
    let mut write = Vec::new();
    let mut notes = Vec::new();
    let mut not_applied = None;
    match &rule.location {
        RestLocation::Field(field) => {
            read.push(field.to_string());
            write_field(definition, field, "", &mut write);
            notes.extend(field.absent.as_ref().map(when_missing));
        }
        RestLocation::Chosen(chosen) => {
            for (value, field) in &chosen.places {
                let with = format!(" with {} `{value}`", chosen.by);
                read.push(format!("{field}{with}"));
                write_field(definition, field, &with, &mut write);
            }
            notes.extend(chosen.any().absent.as_ref().map(when_missing));
        }
        RestLocation::Choice(choice) => {
            for (value, path) in &choice.places {
                read.push(path.to_string());
                let others = choice.others(Some(value)).map(|path| format!("\"{path}\""));
                let others: Vec<_> = others.collect();
                let text = format!("{{\"{path}\": …}} without {}", others.join(", "));
                write.push((value.clone(), text));
            }
            notes.extend(choice.absent.as_ref().map(when_missing));
        }
        RestLocation::States(states) => {
            for (value, setting) in states {
                let fields = setting
                    .set
                    .iter()
                    .map(|(path, json)| format!("\"{path}\": {json}"));
                write.push((
                    value.clone(),
                    format!("{{{}}}", fields.collect::<Vec<_>>().join(", ")),
                ));
                for (path, _) in setting.when.iter().flatten() {
                    let path = path.to_string();
                    if !read.contains(&path) {
                        read.push(path);
                    }
                }
            }
        }
        RestLocation::Group { field, with, .. } => {
            read.push(field.to_string());
            write.push(("any".to_owned(), format!("{{\"{field}\": …}}")));
            if !with.is_empty() {
                notes.push(format!("in one field with {}", with.join(", ")));
            }
        }
        RestLocation::Inside(leader) => notes.push(format!("in one field with {leader}")),
        RestLocation::Members(members) => {
            read.push(members.read.to_string());
            match &members.own {
                None => write.push((
                    "any".to_owned(),
                    format!("{{\"{}\": [all members]}}", members.write),
                )),
                Some(MemberPaths { collection, object }) => {
                    write.push(("new member".to_owned(), format!("POST {collection}")));
                    if !members.fields.is_empty() {
                        write.push(("changed member".to_owned(), format!("PATCH {object}")));
                    }
                    write.push(("removed member".to_owned(), format!("DELETE {object}")));
                }
            }
        }
        RestLocation::Entries(entries) => {
            let shared = definition.shared.get(&entries.of)?;
            read.push(format!(
                "{} of kind {}",
                shared.read,
                entries.kinds.join(", ")
            ));
            write.push((
                "any".to_owned(),
                format!("{{\"{}\": [all entries]}}", shared.write),
            ));
            notes.push("entries of other kinds are not changed".to_owned());
        }
        RestLocation::Upload(upload) => {
            let (path, field, value) = (&upload.path, &upload.field, &upload.value);
            let text = format!("POST {path}, then {{\"{field}\": \"{value}\"}}");
            write.push(("any".to_owned(), text));
        }
        RestLocation::Order(order) => {
            read.push("the object before in the list".to_owned());
            let none = order.none.inspect();
            match &order.moves {
                ObjectMove::Requests {
                    method,
                    after,
                    before,
                } => {
                    write.push((none, format!("{method} {before}")));
                    write.push(("any".to_owned(), format!("{method} {after}")));
                }
                ObjectMove::Attributes { after, before } => {
                    write.push((none, attribute_texts(before)));
                    write.push(("any".to_owned(), attribute_texts(after)));
                }
            }
        }
        RestLocation::Unsupported(reason) => {
            not_applied = Some(NotApplied {
                severity: Severity::Error,
                reason: reason.clone(),
            });
        }
    }
    for (value, request) in &rule.requests {
        write.push((value.clone(), request.to_string()));
    }
    match rule.create_only {
        CreateOnly::Nothing => {}
        CreateOnly::Value => notes.push("only on creation".to_owned()),
        CreateOnly::Field => notes.push("added on creation only".to_owned()),
    }
    if rule.write_only {
        notes.push("cannot be read back".to_owned());
    }
    if !rule.kinds.is_empty() {
        notes.push(format!("only for kind {}", rule.kinds.join(", ")));
    }
    Some(AttributeExplanation {
        name: name.to_owned(),
        read,
        write,
        notes,
        not_applied,
    })
}

/// Attributes of an element, as in an edit.
fn attribute_texts(attributes: &[(String, TextTemplate)]) -> String {
    let texts = attributes.iter();
    let texts = texts.map(|(name, text)| format!("{name}=\"{text}\""));
    texts.collect::<Vec<_>>().join(" ")
}
