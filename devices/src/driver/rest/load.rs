//! Reading of the REST sections of an implementation file: `[instance]`, `[kind]`, `[shared.x]`
//! and `[attr.x]`.
//!
//! Keys are strict; what a key means is in `definitions/README.md`. [`check`] compares the result
//! with the type's model.

use indexmap::IndexMap;
use serde_json::Value as Json;
use toml::de::DeValue;

use super::codec::{GroupCodec, ValueCodec};
use super::definition::{
    AttributeRule, Create, Definition, EntriesRule, FieldRule, InstanceRule, Kind, Kinds, Members,
    Otherwise, Place, Setting, SharedArray, Split,
};
use super::json::FieldPath;
use super::template::Template;
use crate::diagnostic::nearest;
use crate::document::{Findings, Item, Table};
use crate::model::load::{pattern, value_of, word};
use crate::model::{Role, TypeModel};
use crate::operation::Method;
use crate::value::Value;

/// Reads the REST sections of a file; what is wrong goes to the file's findings.
pub fn read(root: &Table<'_>, model: &TypeModel) -> Option<Definition> {
    let Some(instance) = root.table("instance") else {
        root.missing("instance");
        return None;
    };
    let instance = read_instance(&instance);
    let kinds = root.table("kind").and_then(|table| read_kinds(&table));
    let shared = named(root, "shared", read_shared);
    let mut attributes = IndexMap::new();
    if let Some(table) = root.table("attr") {
        for (name, span, item) in table.entries() {
            if !known_attribute(table.findings, &span, &name, model) {
                continue;
            }
            if let Some(table) = item.table()
                && let Some(rule) = read_attribute(&name, &table, model)
            {
                attributes.insert(name, rule);
            }
        }
    }
    let definition = Definition {
        instance: instance?,
        kinds,
        shared,
        attributes,
    };
    check(&definition, root, model);
    Some(definition)
}

fn known_attribute(
    findings: &Findings,
    span: &std::ops::Range<usize>,
    name: &str,
    model: &TypeModel,
) -> bool {
    if model.attributes.contains_key(name) {
        return true;
    }
    let help = nearest(name, model.attributes.keys().map(String::as_str)).map_or_else(
        || "declare it in the model first".to_owned(),
        |known| format!("did you mean `{known}`?"),
    );
    findings.error_with_help(
        "unknown-attribute",
        span.clone(),
        format!("`{}` has no attribute `{name}`", model.name),
        help,
    );
    false
}

fn read_instance(table: &Table<'_>) -> Option<InstanceRule> {
    let collection = required_template(table, "collection");
    let object = template(table, "object");
    let singleton = table.string("singleton");
    let key = table.table("key").and_then(|key| {
        let entries = key.entries();
        let [(attribute, _, item)] = entries.as_slice() else {
            key.findings.error(
                "wrong-kind",
                key.span.clone(),
                "`key` names one attribute and its field",
            );
            return None;
        };
        Some((attribute.clone(), FieldPath::new(&item.string()?)))
    });
    let create = table.table("create").map(|create| {
        let rule = Create {
            method: method(&create, "verb").unwrap_or(Method::Post),
            body: templates(&create, "body"),
            needs: create.strings("needs").unwrap_or_default(),
        };
        create.finish();
        rule
    });
    let update = table.table("update").map(|update| {
        let verb = method(&update, "verb");
        update.finish();
        verb.unwrap_or(Method::Patch)
    });
    let rule = InstanceRule {
        query: table
            .table("query")
            .iter()
            .flat_map(Table::entries)
            .filter_map(|(key, _, item)| Some((key, item.string()?)))
            .collect(),
        key: key.unwrap_or_else(|| ("name".to_owned(), FieldPath::new("fullPath"))),
        key_codec: table
            .get("codec")
            .and_then(|item| word(&item, &ValueCodec::ALL)),
        object: match (&object, &collection) {
            (Some(object), _) => object.clone(),
            (None, Some(collection)) if singleton.is_some() => collection.clone(),
            _ => {
                table.missing("object");
                return None;
            }
        },
        collection: collection?,
        create,
        update: update.unwrap_or(Method::Patch),
        remove: table.bool("remove").unwrap_or(singleton.is_none()),
        singleton,
        reserved: table
            .get("reserved")
            .and_then(|item| pattern(&item, &item.string()?)),
        lookups: table.strings("lookups").unwrap_or_default(),
    };
    table.finish();
    Some(rule)
}

fn read_kinds(table: &Table<'_>) -> Option<Kinds> {
    let attribute = table.required_string("attr");
    let kinds = named(table, "is", |table| {
        let kind = Kind {
            path: table.string("path"),
            marks: fields(table, "marks"),
            entry: table.table("entry").and_then(|entry| {
                let entries = entry.entries();
                let (name, _, item) = entries.first()?;
                Some((name.clone(), item.string()?))
            }),
            needs: table.strings("needs").unwrap_or_default(),
        };
        table.finish();
        Some(kind)
    });
    table.finish();
    Some(Kinds {
        attribute: attribute?,
        kinds,
    })
}

fn read_shared(table: &Table<'_>) -> Option<SharedArray> {
    let read = table.required_string("sub");
    let write = table.required_string("field");
    let kinds = required_template(table, "kinds");
    table.finish();
    Some(SharedArray {
        read: FieldPath::new(&read?),
        write: FieldPath::new(&write?),
        kinds: kinds?,
    })
}

fn read_attribute(name: &str, table: &Table<'_>, model: &TypeModel) -> Option<AttributeRule> {
    let create_only = table.bool("create_only").unwrap_or(false);
    let write_only = table.bool("write_only").unwrap_or(false);
    let kinds = table.strings("kinds").unwrap_or_default();
    let mut same: Vec<(String, Value)> = table
        .table("same")
        .iter()
        .flat_map(Table::entries)
        .filter_map(|(key, _, item)| Some((key, value_of(&item)?)))
        .collect();
    if let Some(item) = table.get("truthy") {
        match item.strings().as_deref() {
            Some([yes, no]) => same.extend(truthy(yes, no)),
            Some(_) => item.error(
                "wrong-kind",
                "`truthy` needs two words: for true, for false",
            ),
            None => {}
        }
    }
    let place = if let Some(reason) = table.string("unsupported") {
        Some(Place::Unsupported(reason))
    } else if let Some(leader) = table.string("inside") {
        Some(Place::Inside(leader))
    } else {
        let needs_list = model.attributes[name].array.is_some();
        read_place(name, table, needs_list)
    };
    table.finish();
    Some(AttributeRule {
        place: place?,
        same,
        kinds,
        create_only,
        write_only,
    })
}

/// The spellings of yes and no, on two words of the device.
fn truthy(yes: &str, no: &str) -> Vec<(String, Value)> {
    [
        ("yes", yes),
        ("true", yes),
        ("enabled", yes),
        ("no", no),
        ("false", no),
        ("disabled", no),
    ]
    .into_iter()
    .filter(|(spelling, word)| spelling != word)
    .map(|(spelling, word)| (spelling.to_owned(), word.into()))
    .collect()
}

fn read_place(name: &str, table: &Table<'_>, is_array: bool) -> Option<Place> {
    if table.get("sub").is_some() {
        return read_members(name, table);
    }
    if let Some(of) = table.string("entry") {
        return Some(Place::Entries(EntriesRule {
            of,
            kinds: table.strings("kind").unwrap_or_else(|| {
                table.missing("kind");
                Vec::new()
            }),
            context: table.string("context"),
            both: table.strings("both").unwrap_or_default(),
            absent: table.get("absent").and_then(|item| value_of(&item)),
            otherwise: table.table("otherwise").and_then(|table| {
                let rule = Otherwise {
                    when: table
                        .table("when")
                        .iter()
                        .flat_map(Table::entries)
                        .filter_map(|(key, _, item)| Some((key, item.strings()?)))
                        .collect(),
                    kind: required_template(&table, "kind")?,
                    paths: table
                        .get("paths")
                        .and_then(|item| item.list())
                        .iter()
                        .flatten()
                        .filter_map(item_template)
                        .collect(),
                };
                table.finish();
                Some(rule)
            }),
        }));
    }
    if table.get("set").is_some() {
        return Some(Place::States(read_states(table)));
    }
    let Some(field) = table.string("field") else {
        table.findings.error_with_help(
            "missing-key",
            table.span.clone(),
            format!("[{}] does not say where the attribute is", table.path),
            "one of `field`, `set`, `sub`, `entry`, `inside` or `unsupported`",
        );
        return None;
    };
    let path = FieldPath::new(&field);
    let with = table.strings("with").unwrap_or_default();
    let codec = table.get("codec");
    if let Some(item) = &codec
        && let Some((_, group, arity)) = GroupCodec::ALL
            .iter()
            .find(|(known, ..)| Some(*known) == item.value.as_str())
    {
        if with.len() + 1 != *arity {
            item.error(
                "codec",
                format!("the codec serves {arity} attributes; `with` must name the others"),
            );
        }
        return Some(Place::Group {
            codec: *group,
            field: path,
            with,
        });
    }
    let codec = match codec {
        Some(item) => {
            let known: Vec<_> = ValueCodec::ALL
                .iter()
                .map(|(name, codec)| (*name, Some(*codec)))
                .chain(GroupCodec::ALL.iter().map(|(name, ..)| (*name, None)))
                .collect();
            word(&item, &known).flatten()
        }
        None => None,
    };
    if matches!(codec, Some(ValueCodec::Words | ValueCodec::Lines)) && !is_array {
        table.findings.error(
            "codec",
            table.span.clone(),
            format!("[{}]: this codec needs an array attribute", table.path),
        );
    }
    Some(Place::Field(FieldRule {
        path,
        map: map(table),
        absent: table.get("absent").and_then(|item| value_of(&item)),
        codec,
    }))
}

fn map(table: &Table<'_>) -> Vec<(String, Json)> {
    table
        .table("map")
        .iter()
        .flat_map(Table::entries)
        .filter_map(|(key, _, item)| Some((key, json_of(&item)?)))
        .collect()
}

fn read_states(table: &Table<'_>) -> IndexMap<String, Setting> {
    let mut states: IndexMap<String, Setting> = named(table, "set", |table| {
        Some(Setting {
            set: all_fields(table),
            when: None,
        })
    });
    // Without `when` an attribute is read by what it sets; with it, in the order given there.
    let Some(when) = table.table("when") else {
        for state in states.values_mut() {
            let told = state
                .set
                .iter()
                .map(|(path, json)| (path.clone(), vec![json.clone()]));
            state.when = Some(told.collect());
        }
        return states;
    };
    let mut ordered = IndexMap::new();
    for (name, span, item) in when.entries() {
        let Some(mut state) = states.shift_remove(&name) else {
            table.findings.error(
                "unknown-value",
                span,
                format!("`when.{name}` has no `set.{name}`"),
            );
            continue;
        };
        if let Some(table) = item.table() {
            let told = all_fields(&table)
                .into_iter()
                .map(|(path, json)| match json {
                    Json::Array(any) => (path, any),
                    one => (path, vec![one]),
                });
            state.when = Some(told.collect());
        }
        ordered.insert(name, state);
    }
    ordered.extend(states);
    ordered
}

fn read_members(name: &str, table: &Table<'_>) -> Option<Place> {
    let read = table.required_string("sub")?;
    let split = match table.get("split") {
        None => Split::Whole,
        Some(item) => {
            let template = item_template(&item)?;
            let holes: Vec<_> = template.holes().map(str::to_owned).collect();
            match holes.as_slice() {
                [one] => Split::Field(one.clone()),
                [host, port] => Split::HostPort(host.clone(), port.clone()),
                _ => {
                    item.error("split", "`split` is `{host}:{port}` or `{field}`");
                    return None;
                }
            }
        }
    };
    let create = table.table("create");
    let body = create
        .iter()
        .map(|create| templates(create, "body"))
        .next()
        .unwrap_or_default();
    if let Some(create) = create {
        create.finish();
    }
    Some(Place::Members(Box::new(Members {
        read: FieldPath::new(&read),
        write: FieldPath::new(&table.string("field").unwrap_or_else(|| name.to_owned())),
        collection: required_template(table, "collection")?,
        object: required_template(table, "object")?,
        key: FieldPath::new(&table.string("key").unwrap_or_else(|| "fullPath".to_owned())),
        split,
        none: table.get("none").and_then(|item| value_of(&item)),
        create: body,
        fields: named(table, "item", |table| {
            let place = if table.get("set").is_some() {
                Place::States(read_states(table))
            } else {
                Place::Field(FieldRule {
                    path: FieldPath::new(&table.required_string("field")?),
                    map: map(table),
                    absent: table.get("absent").and_then(|item| value_of(&item)),
                    codec: None,
                })
            };
            table.finish();
            Some(place)
        }),
    })))
}

/// Whether everything that the model says has a place, and every place can work.
fn check(definition: &Definition, root: &Table<'_>, model: &TypeModel) {
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
                "attribute `{name}` of the model has no [attr.{name}]; say where it is, or `unsupported = \"why\"`"
            ));
        }
    }
    for (name, rule) in &definition.attributes {
        match &rule.place {
            Place::Inside(leader) => {
                let led = definition.attributes.get(leader).is_some_and(
                    |rule| matches!(&rule.place, Place::Group { with, .. } if with.contains(name)),
                );
                if !led {
                    error(format!(
                        "`{name}` is inside `{leader}`, whose `with` does not name it"
                    ));
                }
            }
            Place::Group { with, .. } => {
                for member in with {
                    let inside = definition.attributes.get(member).is_some_and(
                        |rule| matches!(&rule.place, Place::Inside(leader) if leader == name),
                    );
                    if !inside {
                        error(format!(
                            "`{name}` has `{member}` in `with`, which is not inside it"
                        ));
                    }
                }
            }
            Place::Entries(entries) if !definition.shared.contains_key(&entries.of) => {
                error(format!(
                    "`{name}` is in [shared.{}], which is missing",
                    entries.of
                ));
            }
            Place::States(states) => {
                for value in &model.attributes[name].values {
                    let value = value.name();
                    let meant = rule.same.iter().any(|(spelling, _)| *spelling == value);
                    if !meant && !states.contains_key(&value) {
                        error(format!("value `{value}` of `{name}` has no `set.{value}`"));
                    }
                }
            }
            _ => {}
        }
        for kind in &rule.kinds {
            let known = definition
                .kinds
                .as_ref()
                .is_some_and(|kinds| kinds.kinds.contains_key(kind));
            if !known {
                error(format!(
                    "`{name}` is for kind `{kind}`, which [kind] does not have"
                ));
            }
        }
    }
    let (key, _) = &definition.instance.key;
    if model.attributes.get(key).map(|attribute| attribute.role) != Some(Role::Namevar) {
        error(format!("`{key}` in `key` is not a namevar of the model"));
    }
}

/// The entries of a table of tables, by name.
fn named<T>(
    table: &Table<'_>,
    key: &str,
    read: impl Fn(&Table<'_>) -> Option<T>,
) -> IndexMap<String, T> {
    table
        .table(key)
        .iter()
        .flat_map(Table::entries)
        .filter_map(|(name, _, item)| Some((name, read(&item.table()?)?)))
        .collect()
}

fn fields(table: &Table<'_>, key: &str) -> Vec<(FieldPath, Json)> {
    table
        .table(key)
        .map_or_else(Vec::new, |table| all_fields(&table))
}

fn all_fields(table: &Table<'_>) -> Vec<(FieldPath, Json)> {
    table
        .entries()
        .iter()
        .filter_map(|(key, _, item)| Some((FieldPath::new(key), json_of(item)?)))
        .collect()
}

fn json_of(item: &Item<'_>) -> Option<Json> {
    Some(match item.value {
        DeValue::String(text) => Json::from(text.as_ref()),
        DeValue::Integer(_) => Json::from(item.integer()?),
        DeValue::Boolean(truth) => Json::from(*truth),
        DeValue::Array(_) => item.list()?.iter().filter_map(json_of).collect(),
        DeValue::Table(_) => Json::Object(
            item.table()?
                .entries()
                .iter()
                .filter_map(|(key, _, item)| Some((key.clone(), json_of(item)?)))
                .collect(),
        ),
        DeValue::Float(_) | DeValue::Datetime(_) => {
            item.error("wrong-kind", format!("`{}` cannot be sent", item.path));
            return None;
        }
    })
}

fn method(table: &Table<'_>, key: &str) -> Option<Method> {
    table.get(key).and_then(|item| {
        word(
            &item,
            &[
                ("POST", Method::Post),
                ("PUT", Method::Put),
                ("PATCH", Method::Patch),
                ("DELETE", Method::Delete),
            ],
        )
    })
}

fn templates(table: &Table<'_>, key: &str) -> IndexMap<String, Template> {
    table
        .table(key)
        .iter()
        .flat_map(Table::entries)
        .filter_map(|(name, _, item)| Some((name, item_template(&item)?)))
        .collect()
}

fn template(table: &Table<'_>, key: &str) -> Option<Template> {
    table.get(key).and_then(|item| item_template(&item))
}

fn required_template(table: &Table<'_>, key: &str) -> Option<Template> {
    if table.get(key).is_none() {
        table.missing(key);
    }
    template(table, key)
}

fn item_template(item: &Item<'_>) -> Option<Template> {
    match Template::parse(&item.string()?) {
        Ok(template) => Some(template),
        Err(message) => {
            item.error("template", message);
            None
        }
    }
}
