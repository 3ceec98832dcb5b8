//! Loads the REST sections of a definition: `[instance]`, `[kind]`, `[shared.x]`, `[attr.x]` and
//! `[refresh]`.
//!
//! Unknown keys are errors; `docs/definitions.md` describes all keys. [`check`](check::check)
//! compares the result with the type's model.

pub(in crate::driver) mod attribute_keys;
mod check;
mod choice;
pub(in crate::driver) mod instance_keys;
#[cfg(test)]
mod key_tests;
pub(in crate::driver) mod location;
mod netconf;
mod parent;
mod placeholders;
mod removal;
mod requests;

use crate::map::IndexMap;

use self::instance_keys::ObjectForm;
use self::location::{UNSET, read_attribute};
use self::parent::{LoadedParent, check_parent_keys, parent_levels};
use self::removal::read_removal;
use super::codec::ValueCodec;
use super::definition::{
    CreateRule, DeviceOwned, KeyRule, Lookup, NameRule, ObjectKind, ObjectKinds, RequestTarget,
    RestAttributeRule, RestDefinition, RestInstanceRule, SharedArray, UpdateRule,
};
use super::refresh::RefreshRequest;
use super::template::TextTemplate;
use super::toml::{self, body, required_template, template};
use crate::diagnostic::suggest;
use crate::document::{Findings, Item, Table};
use crate::document::{KeyValue, word};
use crate::driver::context::Context;
use crate::driver::json_fields::fields;
use crate::driver::read_rule::{ParseRule, answer_fields, report_no_expectation};
use crate::model::TypeModel;
use crate::operation::Method;
use crate::read::ReadRequest;
use crate::read::answer_rule::Expectation;
use crate::read::field_path::{FieldPath, FieldPathError};
use crate::read::nested_rows::NestedRows;
use crate::read::rows::RowsRule;
use crate::value::Name;

/// Reads the REST sections of a file; what is wrong goes to the file's findings. `lacking` has the
/// attributes that are not supported although the file does not say so, and the reason.
pub(crate) fn read(
    root: &Table<'_>,
    context: &Context<'_>,
    (lacking, reason): &(&[Name], String),
) -> Option<RestDefinition> {
    let (model, rows) = (&**context.model, context.rows);
    let namespaces = context.namespaces;
    let instance = root.required_table("instance");
    let unset = instance.as_ref().and_then(|table| table.get("unset"));
    let unset = unset.and_then(|item| word(&item, &UNSET));
    let instance = instance.and_then(|table| match namespaces {
        Some(namespaces) => netconf::read_instance(&table, model, namespaces),
        None => read_instance(&table, context),
    });
    let kinds = root.table("kind").and_then(|table| read_kinds(&table));
    let shared = toml::named(root, "shared", read_shared);
    let mut attributes: IndexMap<Name, RestAttributeRule> = IndexMap::default();
    if let Some(table) = root.table("attr") {
        for (name, span, item) in table.entries() {
            if !check_attribute_exists(table.findings, &span, &name, model) {
                continue;
            }
            if let Some(table) = item.table()
                && let Some(mut rule) =
                    read_attribute(&name, &table, model, (unset, namespaces.is_some()))
            {
                if namespaces.is_some() && model.attributes[name.as_str()].array.is_some() {
                    netconf::unset_of_list(&mut rule);
                }
                attributes.insert(name.into(), rule);
            }
        }
    }
    if let (Some(namespaces), Some(instance)) = (namespaces, &instance) {
        for (name, rule) in &mut attributes {
            netconf::complete_order((name, rule), instance, namespaces);
        }
    }
    for name in *lacking {
        let rule = RestAttributeRule::unsupported(reason.clone());
        attributes.insert(name.clone(), rule);
    }
    let refresh = root.table("refresh");
    let refresh = refresh.map(|table| RefreshRequest::load(&table, model));
    let definition = RestDefinition {
        namespaces: namespaces.cloned(),
        inactive: context.inactive.cloned(),
        instance: instance?,
        rows: rows.cloned(),
        kinds,
        shared,
        attributes,
        refresh: refresh.flatten(),
    };
    check::check(&definition, root, model);
    if let Some(namespaces) = namespaces {
        netconf::check(&definition, model, root, namespaces);
    }
    Some(definition)
}

fn check_attribute_exists(
    findings: &Findings,
    span: &std::ops::Range<usize>,
    name: &str,
    model: &TypeModel,
) -> bool {
    if model.attributes.contains_key(name) {
        return true;
    }
    let names = model.attributes.keys().map(Name::as_str);
    let help = suggest(name, names, "declare it in the model first");
    findings.error_with_help(
        "unknown-attribute",
        span.clone(),
        format!("`{}` has no attribute `{name}`", model.name),
        help,
    );
    false
}

fn read_instance(table: &Table<'_>, context: &Context<'_>) -> Option<RestInstanceRule> {
    let model = context.model;
    let source = table.get("from").map(|item| read_source(&item, context));
    let source = match source {
        Some(source) => Some(source?),
        None => None,
    };
    let document = source
        .as_ref()
        .and_then(|read| context.documents.get(&read.name));
    let collection = match &source {
        Some(read) => TextTemplate::parse(&read.command).ok(),
        None => required_template(table, "collection"),
    };
    let singleton = table.string("singleton");
    let object = match (template(table, "object"), &singleton) {
        (None, Some(_)) => collection.clone(),
        (None, None) if document.is_some() => name_in_document(table, source.as_ref()),
        (None, None) => {
            table.missing("object");
            None
        }
        (object, _) => object,
    };
    let key = read_key(table, model, singleton.is_some());
    let rows = read_rows(table, context.rows, singleton.is_some());
    let parent = table.table("parent");
    let parent = parent.map(|parent| LoadedParent::read(&parent, context.rows));
    let envelope = match table.get("envelope") {
        Some(item) => FieldPath::read(&item),
        None => Some(FieldPath::default()),
    };
    let create = table.table("create").map(|create| read_create(&create));
    let update = table.table("update").map(|update| read_update(&update));
    let query = table
        .table("query")
        .iter()
        .flat_map(Table::entries)
        .filter_map(|(key, _, item)| Some((key, item.string()?)))
        .collect();
    let key_codec = table
        .get("codec")
        .and_then(|item| word(&item, &ValueCodec::ALL));
    let name = table.table("name").and_then(|name| {
        let template = required_template(&name, "from");
        let suffix = name.string("suffix").unwrap_or_default();
        name.finish();
        Some(NameRule {
            template: template?,
            suffix,
        })
    });
    let reserved = table.pattern("reserved");
    let device_owned = DeviceOwned(fields(table, "device_owned"));
    let removal = read_removal(table, singleton.is_some());
    let lookups = read_lookups(table);
    let is_optional = table.bool("optional").unwrap_or(false);
    let has_etag = table.bool("etag").unwrap_or(false);
    let is_uncertain = rows
        .as_ref()
        .is_some_and(|rows| rows.outermost().is_uncertain());
    let answer = if source.is_none() && (singleton.is_some() || is_uncertain) {
        required_answer(table, singleton.is_none(), &["kind"])
    } else {
        answer_fields(table, &["kind"])
    };
    let form = match (&source, document, &singleton) {
        (_, Some(_), _) => ObjectForm::Document,
        (Some(_), None, _) => ObjectForm::Read,
        (None, None, Some(_)) => ObjectForm::Singleton,
        (None, None, None) => ObjectForm::Collection,
    };
    instance_keys::TABLE.check(form, table);
    // All keys are read before a missing one ends the reading.
    table.finish();
    if rows.is_none() && singleton.is_none() {
        return None;
    }
    let (mut key, object) = (key?, object?);
    let parent = match (parent, &rows) {
        (Some(parent), Some(rows)) => Some(parent?.rule(rows)),
        _ => None,
    };
    let rows = match &parent {
        Some(parent) => rows.map(|rows| parent.add_to(rows, &mut key)),
        None => rows,
    };
    let rows = rows.map(|rows| named(rows, &key));
    let parent_levels = match document {
        Some(_) => 0,
        None => parent_levels(&key, &object),
    };
    if parent_levels > 0 {
        check_parent_keys(table);
    }
    Some(RestInstanceRule {
        collection: collection?,
        query,
        answer,
        is_optional,
        parent,
        rows,
        parent_levels,
        source,
        document: document.cloned(),
        location: FieldPath::default(),
        key,
        key_codec,
        name,
        object,
        envelope: envelope?,
        create,
        update: update.unwrap_or(UpdateRule {
            method: Method::Patch,
            target: RequestTarget::Object,
            is_complete: document.is_some(),
            fields: Vec::new(),
            frame: Vec::new(),
        }),
        has_etag,
        remove: removal,
        singleton,
        reserved,
        device_owned,
        lookups,
    })
}

/// `key`: namevars and their fields. A singleton has its first namevar.
fn read_key(table: &Table<'_>, model: &TypeModel, is_singleton: bool) -> Option<Vec<KeyRule>> {
    let Some(key) = table.table("key") else {
        if !is_singleton {
            table.missing("key");
            return None;
        }
        let namevar = model.namevars().next()?;
        return Some(vec![KeyRule {
            attribute: namevar.to_owned(),
            field: None,
            up: 0,
        }]);
    };
    let entries = key.entries().into_iter();
    let rules = entries.filter_map(|(attribute, _, item)| {
        let text = item.string()?;
        let (mut own, mut up) = (text.as_str(), 0);
        while let Some(outer) = own.strip_prefix(OUTER) {
            own = outer;
            up += 1;
        }
        let field = match own {
            MEMBER_NAME => None,
            path => match path.parse() {
                Ok(path) => Some(path),
                Err(error) => {
                    let error: FieldPathError = error;
                    item.error("path", error.to_string());
                    return None;
                }
            },
        };
        Some(KeyRule {
            attribute,
            field,
            up,
        })
    });
    let rules: Vec<KeyRule> = rules.collect();
    if rules.is_empty() {
        let message = "`key` requires a namevar and its field";
        key.findings.error("wrong-kind", key.span.clone(), message);
        return None;
    }
    Some(rules)
}

/// The word for the name of an object in a map.
const MEMBER_NAME: &str = "@name";
/// The text before the path of a field in the element that contains the object.
const OUTER: &str = "../";

/// The lists with the fields of the key, which name their rows.
fn named(rows: NestedRows, key: &[KeyRule]) -> NestedRows {
    rows.named(|up| {
        let of_list = key.iter().filter(|key| key.up == up);
        of_list.filter_map(|key| key.field.clone()).collect()
    })
}

/// The name of an object in a document, for comparison with others.
fn name_in_document(table: &Table<'_>, source: Option<&ReadRequest>) -> Option<TextTemplate> {
    let rows = table.get("rows").and_then(|item| NestedRows::read(&item))?;
    let lists = rows.levels().map(|list| list.location().to_string());
    let lists: String = lists.collect();
    let key = table.table("key")?;
    let names = key.entries().into_iter();
    let names: Vec<String> = names
        .map(|(name, ..)| format!("{{{name}|percent}}"))
        .collect();
    let text = format!("{} {lists}/{}", source?.name, names.join("/"));
    TextTemplate::parse(&text).ok()
}

/// `from`: the read of the platform with the objects.
fn read_source(item: &Item<'_>, context: &Context<'_>) -> Option<ReadRequest> {
    let name = item.string()?;
    match context.reads.get(&name) {
        Some(rule) if matches!(rule.parse, ParseRule::Json) => Some(rule.request.clone()),
        Some(_) => {
            item.error("wrong-read", format!("the read `{name}` is not JSON"));
            None
        }
        None => {
            let names = context.reads.keys().map(String::as_str);
            let help = suggest(&name, names, "declare it in platform.toml first");
            item.findings.error_with_help(
                "unknown-read",
                item.span.clone(),
                format!("the platform has no read `{name}`"),
                help,
            );
            None
        }
    }
}

/// `rows`: the list of objects, by default that of the platform.
fn read_rows(
    table: &Table<'_>,
    platform: Option<&RowsRule>,
    is_singleton: bool,
) -> Option<NestedRows> {
    let own = table.get("rows");
    match (own, platform) {
        _ if is_singleton => None,
        (Some(item), _) => NestedRows::read(&item),
        (None, Some(rows)) => Some(rows.clone().into()),
        (None, None) => {
            table.findings.error_with_help(
                "missing-key",
                table.span.clone(),
                "key `rows` is missing in [instance]",
                "add the path of the list in the answer, such as `rows = \"results\"`; `\".\"` is the answer itself",
            );
            None
        }
    }
}

/// Reads `at` of `create` and `update`: `collection`, `object` or a path.
fn read_target(table: &Table<'_>) -> Option<RequestTarget> {
    let item = table.get("at")?;
    match item.string()?.as_str() {
        "collection" => Some(RequestTarget::Collection),
        "object" => Some(RequestTarget::Object),
        path if path.starts_with('/') => template(table, "at").map(RequestTarget::Path),
        _ => {
            item.error("target", "`at` must be `collection`, `object` or a path");
            None
        }
    }
}

fn read_create(table: &Table<'_>) -> CreateRule {
    let verbs = [("POST", Method::Post), ("PUT", Method::Put)];
    let verb = table.get("verb").and_then(|item| word(&item, &verbs));
    let target = read_target(table);
    let method = verb.unwrap_or(Method::Post);
    let rule = CreateRule {
        method,
        target: target.unwrap_or(match method {
            Method::Put => RequestTarget::Object,
            _ => RequestTarget::Collection,
        }),
        body: table.get("body").map(|_| body(table, "body")),
        frame: toml::body(table, "frame"),
        needs: table.strings("needs").unwrap_or_default(),
        adds: toml::templates(table, "adds"),
    };
    table.finish();
    rule
}

fn read_update(table: &Table<'_>) -> UpdateRule {
    let verbs = [
        ("PATCH", Method::Patch),
        ("PUT", Method::Put),
        ("POST", Method::Post),
    ];
    let verb = table.get("verb").and_then(|item| word(&item, &verbs));
    let bodies = [("changed", false), ("whole", true)];
    let body = table.get("body").and_then(|item| word(&item, &bodies));
    let method = verb.unwrap_or(Method::Patch);
    let target = read_target(table).unwrap_or(RequestTarget::Object);
    let fields = toml::body(table, "fields");
    let frame = toml::body(table, "frame");
    table.finish();
    UpdateRule {
        fields,
        frame,
        method,
        target,
        is_complete: body.unwrap_or(method != Method::Patch),
    }
}

fn read_lookups(table: &Table<'_>) -> Vec<Lookup> {
    let items = table.get("lookups").and_then(|item| item.list());
    let lookups = items.iter().flatten().filter_map(|item| {
        let table = item.table()?;
        let path = table.required_string("path");
        let default_domain = table.required_string("default_domain");
        let answer = required_answer(&table, true, &[]);
        table.finish();
        Some(Lookup {
            path: path?,
            default_domain: default_domain?,
            answer,
        })
    });
    lookups.collect()
}

/// The declaration of a valid answer. An empty collection must be distinguishable from another
/// answer.
fn required_answer(
    table: &Table<'_>,
    is_collection: bool,
    placeholders: &[&str],
) -> Vec<Expectation> {
    let answer = answer_fields(table, placeholders);
    let is_certain = |one: &Expectation| match one {
        Expectation::Field { value, .. } => !is_collection || value.is_some(),
        _ => false,
    };
    if !answer.iter().any(is_certain) {
        report_no_expectation(
            table,
            "add `answer`: a field with the value that identifies the answer, such as \
             `answer = { kind = \"…\" }`",
        );
    }
    answer
}

fn read_kinds(table: &Table<'_>) -> Option<ObjectKinds> {
    let attribute = table.required_string("attr");
    let kinds = toml::named(table, "is", |table| {
        let kind = ObjectKind {
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
    Some(ObjectKinds {
        attribute: attribute?,
        kinds,
    })
}

fn read_shared(table: &Table<'_>) -> Option<SharedArray> {
    let read = table.required("sub");
    let write = table.required("field");
    let kinds = required_template(table, "kinds");
    let answer = required_answer(table, true, &["kind"]);
    table.finish();
    Some(SharedArray {
        answer,
        read: FieldPath::read(&read?)?,
        write: FieldPath::read(&write?)?,
        kinds: kinds?,
    })
}
