//! Loads the REST sections of a definition: `[instance]`, `[kind]`, `[shared.x]`, `[attr.x]` and
//! `[refresh]`.
//!
//! Unknown keys are errors; `definitions/README.md` describes all keys. [`check`](check::check)
//! compares the result with the type's model.

mod check;
mod location;
#[cfg(test)]
mod tests;
pub(super) mod toml;

use crate::map::IndexMap;

use self::location::read_attribute;
use self::toml::{fields, method, named, required_template, template, templates};
use super::codec::ValueCodec;
use super::definition::{
    CreateRule, Lookup, ObjectKind, ObjectKinds, RestAttributeRule, RestDefinition,
    RestInstanceRule, SharedArray,
};
use super::json::FieldPath;
use super::refresh::RefreshRequest;
use crate::diagnostic::suggest;
use crate::document::{Findings, Table};
use crate::driver::read_rule::{answer_fields, report_no_expectation};
use crate::model::TypeModel;
use crate::model::load::word;
use crate::operation::Method;
use crate::read::answer_rule::Expectation;
use crate::read::json_text::COLLECTION_LIST;
use crate::value::Name;

/// Reads the REST sections of a file; what is wrong goes to the file's findings. `lacking` has the
/// attributes that are not supported although the file does not say so, and the reason.
pub(crate) fn read(
    root: &Table<'_>,
    model: &TypeModel,
    (lacking, reason): &(&[Name], String),
) -> Option<RestDefinition> {
    let instance = root.required_table("instance");
    let instance = instance.and_then(|table| read_instance(&table));
    let kinds = root.table("kind").and_then(|table| read_kinds(&table));
    let shared = named(root, "shared", read_shared);
    let mut attributes = IndexMap::default();
    if let Some(table) = root.table("attr") {
        for (name, span, item) in table.entries() {
            if !check_attribute_exists(table.findings, &span, &name, model) {
                continue;
            }
            if let Some(table) = item.table()
                && let Some(rule) = read_attribute(&name, &table, model)
            {
                attributes.insert(name.into(), rule);
            }
        }
    }
    for name in *lacking {
        let rule = RestAttributeRule::unsupported(reason.clone());
        attributes.insert(name.clone(), rule);
    }
    let refresh = root.table("refresh");
    let refresh = refresh.map(|table| RefreshRequest::load(&table, model));
    let definition = RestDefinition {
        instance: instance?,
        kinds,
        shared,
        attributes,
        refresh: refresh.flatten(),
    };
    check::check(&definition, root, model);
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

fn read_instance(table: &Table<'_>) -> Option<RestInstanceRule> {
    let collection = required_template(table, "collection");
    let singleton = table.string("singleton");
    let object = match (template(table, "object"), &singleton) {
        (None, Some(_)) => collection.clone(),
        (None, None) => {
            table.missing("object");
            None
        }
        (object, _) => object,
    };
    let key = table.table("key").and_then(|key| {
        let entries = key.entries();
        let [(attribute, _, item)] = entries.as_slice() else {
            key.findings.error(
                "wrong-kind",
                key.span.clone(),
                "`key` requires one attribute and its field",
            );
            return None;
        };
        Some((attribute.clone(), FieldPath::new(&item.string()?)))
    });
    let create = table.table("create").map(|create| {
        let rule = CreateRule {
            method: method(&create, "verb", ("POST", Method::Post)),
            body: templates(&create, "body"),
            needs: create.strings("needs").unwrap_or_default(),
        };
        create.finish();
        rule
    });
    let update = table.table("update").map(|update| {
        let verb = method(&update, "verb", ("PATCH", Method::Patch));
        update.finish();
        verb
    });
    let query = table
        .table("query")
        .iter()
        .flat_map(Table::entries)
        .filter_map(|(key, _, item)| Some((key, item.string()?)))
        .collect();
    let key_codec = table
        .get("codec")
        .and_then(|item| word(&item, &ValueCodec::ALL));
    let reserved = table.pattern("reserved");
    let remove = table.bool("remove").unwrap_or(singleton.is_none());
    let lookups = read_lookups(table);
    let answer = required_answer(table, singleton.is_none());
    // All keys are read before a missing one ends the reading.
    table.finish();
    Some(RestInstanceRule {
        collection: collection?,
        query,
        answer,
        key: key.unwrap_or_else(|| ("name".to_owned(), FieldPath::new("fullPath"))),
        key_codec,
        object: object?,
        create,
        update: update.unwrap_or(Method::Patch),
        remove,
        singleton,
        reserved,
        lookups,
    })
}

fn read_lookups(table: &Table<'_>) -> Vec<Lookup> {
    let items = table.get("lookups").and_then(|item| item.list());
    let lookups = items.iter().flatten().filter_map(|item| {
        let table = item.table()?;
        let path = table.required_string("path");
        let default_domain = table.required_string("default_domain");
        let answer = required_answer(&table, true);
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
fn required_answer(table: &Table<'_>, is_collection: bool) -> Vec<Expectation> {
    let answer = answer_fields(table);
    let is_certain = |one: &Expectation| match one {
        Expectation::Field { name, value } => {
            !is_collection || value.is_some() || name == COLLECTION_LIST
        }
        _ => false,
    };
    if !answer.iter().any(is_certain) {
        report_no_expectation(
            table,
            format!(
                "add `answer`: a field with the value that identifies the answer, such as \
                 `answer = {{ kind = \"…\" }}`, or `answer = {{ {COLLECTION_LIST} = true }}`"
            ),
        );
    }
    answer
}

fn read_kinds(table: &Table<'_>) -> Option<ObjectKinds> {
    let attribute = table.required_string("attr");
    let kinds = named(table, "is", |table| {
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
    let read = table.required_string("sub");
    let write = table.required_string("field");
    let kinds = required_template(table, "kinds");
    let answer = required_answer(table, true);
    table.finish();
    Some(SharedArray {
        answer,
        read: FieldPath::new(&read?),
        write: FieldPath::new(&write?),
        kinds: kinds?,
    })
}
