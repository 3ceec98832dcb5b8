//! Loads the REST sections of a definition: `[instance]`, `[kind]`, `[shared.x]`, `[attr.x]` and
//! `[refresh]`.
//!
//! Unknown keys are errors; `docs/definitions.md` describes all keys. [`check`](check::check)
//! compares the result with the type's model.

mod check;
mod location;
#[cfg(test)]
mod tests;
pub(super) mod toml;

use crate::map::IndexMap;

use self::location::UNSET;
use self::location::read_attribute;
use self::toml::{body, fields, named, required_template, template};
use super::codec::ValueCodec;
use super::definition::{
    CreateRule, KeyRule, Lookup, ObjectKind, ObjectKinds, RestAttributeRule, RestDefinition,
    RestInstanceRule, SharedArray, UpdateRule,
};
use super::refresh::RefreshRequest;
use crate::diagnostic::suggest;
use crate::document::{Findings, Table};
use crate::driver::read_rule::{answer_fields, report_no_expectation};
use crate::model::TypeModel;
use crate::model::load::word;
use crate::operation::Method;
use crate::read::answer_rule::Expectation;
use crate::read::field_path::FieldPath;
use crate::read::rows::RowsRule;
use crate::value::Name;

/// Reads the REST sections of a file; what is wrong goes to the file's findings. `lacking` has the
/// attributes that are not supported although the file does not say so, and the reason; `rows` is
/// the list of objects on the platform.
pub(crate) fn read(
    root: &Table<'_>,
    model: &TypeModel,
    rows: Option<&RowsRule>,
    (lacking, reason): &(&[Name], String),
) -> Option<RestDefinition> {
    let instance = root.required_table("instance");
    let unset = instance.as_ref().and_then(|table| table.get("unset"));
    let unset = unset.and_then(|item| word(&item, &UNSET));
    let instance = instance.and_then(|table| read_instance(&table, model, rows));
    let kinds = root.table("kind").and_then(|table| read_kinds(&table));
    let shared = named(root, "shared", read_shared);
    let mut attributes = IndexMap::default();
    if let Some(table) = root.table("attr") {
        for (name, span, item) in table.entries() {
            if !check_attribute_exists(table.findings, &span, &name, model) {
                continue;
            }
            if let Some(table) = item.table()
                && let Some(rule) = read_attribute(&name, &table, model, unset)
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
        rows: rows.cloned(),
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

fn read_instance(
    table: &Table<'_>,
    model: &TypeModel,
    rows: Option<&RowsRule>,
) -> Option<RestInstanceRule> {
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
    let key = read_key(table, model, singleton.is_some());
    let rows = read_rows(table, rows, singleton.is_some());
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
    let reserved = table.pattern("reserved");
    let remove = table.bool("remove").unwrap_or(singleton.is_none());
    let lookups = read_lookups(table);
    let is_optional = table.bool("optional").unwrap_or(false);
    let has_etag = table.bool("etag").unwrap_or(false);
    let is_uncertain = rows.as_ref().is_some_and(RowsRule::is_uncertain);
    let answer = match singleton.is_some() || is_uncertain {
        true => required_answer(table, singleton.is_none()),
        false => answer_fields(table),
    };
    // All keys are read before a missing one ends the reading.
    table.finish();
    if rows.is_none() && singleton.is_none() {
        return None;
    }
    Some(RestInstanceRule {
        collection: collection?,
        query,
        answer,
        is_optional,
        rows,
        key: key?,
        key_codec,
        object: object?,
        envelope: envelope?,
        create,
        update: update.unwrap_or(UpdateRule {
            method: Method::Patch,
            is_complete: false,
            fields: Vec::new(),
        }),
        has_etag,
        remove,
        singleton,
        reserved,
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
        }]);
    };
    let entries = key.entries().into_iter();
    let rules = entries.filter_map(|(attribute, _, item)| {
        let field = match item.value.as_str() {
            Some(MEMBER_NAME) => None,
            _ => Some(FieldPath::read(&item)?),
        };
        Some(KeyRule { attribute, field })
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

/// `rows`: the list of objects, by default that of the platform.
fn read_rows(
    table: &Table<'_>,
    platform: Option<&RowsRule>,
    is_singleton: bool,
) -> Option<RowsRule> {
    let own = table.get("rows");
    if let (Some(item), true) = (&own, is_singleton) {
        item.error(
            "rows",
            "a singleton has no `rows`: its fields are paths in the answer",
        );
        return None;
    }
    match (own, platform) {
        _ if is_singleton => None,
        (Some(item), _) => RowsRule::read(&item),
        (None, Some(rows)) => Some(rows.clone()),
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

fn read_create(table: &Table<'_>) -> CreateRule {
    let verbs = [("POST", Method::Post), ("PUT", Method::Put)];
    let verb = table.get("verb").and_then(|item| word(&item, &verbs));
    let at = [("collection", false), ("object", true)];
    let at = table.get("at").and_then(|item| word(&item, &at));
    let method = verb.unwrap_or(Method::Post);
    let rule = CreateRule {
        method,
        is_at_object: at.unwrap_or(method == Method::Put),
        body: table.get("body").map(|_| body(table, "body")),
        needs: table.strings("needs").unwrap_or_default(),
    };
    if method == Method::Put && !rule.is_at_object {
        let message = "a `PUT` of one object at the path of the collection replaces all objects";
        table.findings.error_with_help(
            "create",
            table.span.clone(),
            message,
            "use `at = \"object\"`",
        );
    }
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
    let fields = toml::body(table, "fields");
    table.finish();
    UpdateRule {
        fields,
        method,
        is_complete: body.unwrap_or(method != Method::Patch),
    }
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
    let read = table.required("sub");
    let write = table.required("field");
    let kinds = required_template(table, "kinds");
    let answer = required_answer(table, true);
    table.finish();
    Some(SharedArray {
        answer,
        read: FieldPath::read(&read?)?,
        write: FieldPath::read(&write?)?,
        kinds: kinds?,
    })
}
