//! Loads `[instance]` of a REST interface: where the objects are, and the requests for them.

use super::instance_keys::{
    CreateKeys, KeyField, LookupKeys, NameKeys, ObjectForm, ObjectKeys, RemovalKeys, RequiredNames,
    UpdateKeys,
};
use super::parent::{LoadedParent, check_parent_keys, parent_levels};
use crate::diagnostic::suggest;
use crate::document::{At, Table};
use crate::driver::answer_fields::report_no_expectation;
use crate::driver::context::Context;
use crate::driver::read_rule::ParseRule;
use crate::driver::rest::definition::{
    CreateRule, DeviceOwned, KeyRule, Lookup, NameRule, RemoveRule, RequestTarget,
    RestInstanceRule, UpdateRule,
};
use crate::driver::rest::template::TextTemplate;
use crate::driver::rest::toml::ChangeBody;
use crate::model::TypeModel;
use crate::operation::Method;
use crate::read::ReadRequest;
use crate::read::answer_rule::Expectation;
use crate::read::field_path::FieldPath;
use crate::read::nested_rows::NestedRows;
use crate::read::rows::RowsRule;

/// The rule of the objects. `None`: its error is reported.
pub(super) fn read_instance(table: &Table<'_>, context: &Context<'_>) -> Option<RestInstanceRule> {
    let Some(keys) = ObjectKeys::of(table) else {
        table.finish();
        return None;
    };
    let is_singleton = keys.singleton.is_some();
    let from = keys.from.as_ref();
    let source = from.map(|from| read_source(from, table, context));
    let document = source.as_ref().and_then(|read| {
        let read = read.as_ref()?;
        context.documents.get(&read.name)
    });
    let form = match (&source, document) {
        (_, Some(_)) => ObjectForm::Document,
        (Some(_), None) => ObjectForm::Read,
        (None, None) if is_singleton => ObjectForm::Singleton,
        (None, None) => ObjectForm::Collection,
    };
    ObjectKeys::KEYS.check(form, table);
    // An unknown key can be the one that is missing.
    table.finish();
    let source = match source {
        Some(source) => Some(source?),
        None => None,
    };
    let rows = if is_singleton {
        None
    } else {
        let platform = || context.rows.cloned().map(NestedRows::from);
        let rows = keys.rows.or_else(platform);
        if rows.is_none() {
            report_no_rows(table);
            return None;
        }
        rows
    };
    let mut key = key_rules(keys.key, context.model, is_singleton, table)?;
    let collection = match &source {
        Some(read) => TextTemplate::parse(&read.command).ok(),
        None => keys.collection,
    };
    let Some(collection) = collection else {
        table.missing("collection");
        return None;
    };
    let object = match keys.object {
        Some(object) => object,
        None if is_singleton => collection.clone(),
        None if document.is_some() => name_in_document(rows.as_ref()?, &key, source.as_ref()?)?,
        None => {
            table.missing("object");
            return None;
        }
    };
    let answer = keys.answer.0;
    let mut lists = rows.iter().map(NestedRows::outermost);
    let is_uncertain = is_singleton || lists.any(RowsRule::is_uncertain);
    if source.is_none() && is_uncertain {
        check_answer(table, &answer, !is_singleton);
    }
    let (parent, rows) = match (keys.parent, rows) {
        (Some(parent), Some(rows)) => {
            let parent = LoadedParent::new(parent, (table, context.rows))?.rule(&rows);
            let rows = parent.add_to(rows, &mut key);
            (Some(parent), Some(rows))
        }
        (_, rows) => (None, rows),
    };
    let rows = rows.map(|rows| named(rows, &key));
    let parent_levels = match document {
        Some(_) => 0,
        None => parent_levels(&key, &object),
    };
    if parent_levels > 0 {
        check_parent_keys(table);
    }
    let query = keys.query.into_iter();
    Some(RestInstanceRule {
        collection,
        query: query.map(|(name, value)| (name.value, value)).collect(),
        answer,
        is_optional: keys.optional,
        parent,
        rows,
        parent_levels,
        source,
        document: document.cloned(),
        location: FieldPath::default(),
        key,
        key_codec: keys.codec,
        name: keys.name.map(NameRule::from),
        object,
        envelope: keys.envelope,
        create: keys.create.map(CreateRule::from),
        update: keys.update.map_or_else(
            || UpdateRule {
                is_complete: document.is_some(),
                ..UpdateRule::with(Method::Patch)
            },
            UpdateRule::from,
        ),
        has_etag: keys.etag,
        remove: removal(keys.remove, is_singleton),
        singleton: keys.singleton,
        reserved: keys.reserved,
        device_owned: DeviceOwned(keys.device_owned.0),
        unset: keys.unset,
        lookups: lookups(keys.lookups, table),
    })
}

/// `key`: namevars and their fields. A singleton has its first namevar.
pub(super) fn key_rules(
    key: Option<RequiredNames<KeyField>>,
    model: &TypeModel,
    is_singleton: bool,
    table: &Table<'_>,
) -> Option<Vec<KeyRule>> {
    let Some(RequiredNames(key)) = key else {
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
    let rules = key
        .into_iter()
        .map(|(name, KeyField { field, up })| KeyRule {
            attribute: name.value,
            field,
            up,
        });
    Some(rules.collect())
}

/// The lists with the fields of the key, which name their rows.
pub(super) fn named(rows: NestedRows, key: &[KeyRule]) -> NestedRows {
    rows.named(|up| {
        let of_list = key.iter().filter(|key| key.up == up);
        of_list.filter_map(|key| key.field.clone()).collect()
    })
}

/// The name of an object in a document, for comparison with others.
fn name_in_document(
    rows: &NestedRows,
    key: &[KeyRule],
    source: &ReadRequest,
) -> Option<TextTemplate> {
    let lists = rows.levels().map(|list| list.location().to_string());
    let lists: String = lists.collect();
    let names = key
        .iter()
        .map(|key| format!("{{{}|percent}}", key.attribute));
    let names: Vec<String> = names.collect();
    let text = format!("{} {lists}/{}", source.name, names.join("/"));
    TextTemplate::parse(&text).ok()
}

/// `from`: the read of the platform with the objects.
fn read_source(from: &At<String>, table: &Table<'_>, context: &Context<'_>) -> Option<ReadRequest> {
    let name = from.as_str();
    let findings = table.findings;
    match context.reads.get(name) {
        Some(rule) if matches!(rule.parse, ParseRule::Json) => Some(rule.request.clone()),
        Some(_) => {
            let message = format!("the read `{name}` is not JSON");
            findings.error("wrong-read", from.span.clone(), message);
            None
        }
        None => {
            let names = context.reads.keys().map(String::as_str);
            let help = suggest(name, names, "declare it in platform.toml first");
            let message = format!("the platform has no read `{name}`");
            findings.error_with_help("unknown-read", from.span.clone(), message, help);
            None
        }
    }
}

fn report_no_rows(table: &Table<'_>) {
    table.findings.error_with_help(
        "missing-key",
        table.span.clone(),
        "key `rows` is missing in [instance]",
        "add the path of the list in the answer, such as `rows = \"results\"`; `\".\"` is the answer itself",
    );
}

/// Checks that an answer is declared. An empty collection must be distinguishable from another answer.
pub(super) fn check_answer(table: &Table<'_>, answer: &[Expectation], is_collection: bool) {
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
}

fn removal(keys: Option<RemovalKeys>, is_singleton: bool) -> Option<RemoveRule> {
    match keys {
        None => (!is_singleton).then(RemoveRule::default),
        Some(RemovalKeys::IsPossible(is_possible)) => is_possible.then(RemoveRule::default),
        Some(RemovalKeys::Request(keys)) => Some(RemoveRule {
            members_first: keys.members_first,
            method: match keys.verb {
                Some(verb) => verb.0,
                None if keys.body.0.is_empty() => Method::Delete,
                None => Method::Post,
            },
            path: keys.path,
            body: keys.body.0,
        }),
    }
}

fn lookups(keys: Vec<LookupKeys>, table: &Table<'_>) -> Vec<Lookup> {
    let lookups = keys.into_iter().map(|keys| {
        let answer = keys.answer.0;
        check_answer(table, &answer, true);
        Lookup {
            path: keys.path,
            default_domain: keys.default_domain,
            answer,
        }
    });
    lookups.collect()
}

impl From<NameKeys> for NameRule {
    fn from(keys: NameKeys) -> Self {
        Self {
            template: keys.from,
            suffix: keys.end,
        }
    }
}

impl From<CreateKeys> for CreateRule {
    fn from(keys: CreateKeys) -> Self {
        let method = keys.verb.0;
        Self {
            method,
            target: keys.at.unwrap_or(match method {
                Method::Put => RequestTarget::Object,
                _ => RequestTarget::Collection,
            }),
            body: keys.body.map(|body| body.0),
            frame: keys.frame.0,
            needs: keys.needs,
            adds: keys.adds.0,
        }
    }
}

impl From<UpdateKeys> for UpdateRule {
    fn from(keys: UpdateKeys) -> Self {
        let method = keys.verb.0;
        let body = keys.body.map(|body| body == ChangeBody::Complete);
        Self {
            target: keys.at,
            is_complete: body.unwrap_or(method != Method::Patch),
            fields: keys.fields.0,
            frame: keys.frame.0,
            ..Self::with(method)
        }
    }
}

impl UpdateRule {
    /// A change of the object by a method; what the body lacks is removed by those that replace.
    pub(super) fn with(method: Method) -> Self {
        Self {
            method,
            target: RequestTarget::Object,
            is_complete: method == Method::Put,
            fields: Vec::new(),
            frame: Vec::new(),
        }
    }
}
