//! The read requests for a type's objects.

use std::collections::BTreeSet;

use super::definition::{ParentRule, RestDefinition, RestInstanceRule, RestLocation, SharedArray};
use super::element_path::get_config;
use super::template::TextTemplate;
use crate::change::Desired;
use crate::model::TypeModel;
use crate::read::ReadRequest;
use crate::read::answer_rule::{AnswerRule, Expectation};
use crate::read::field_path::FieldPath;
use crate::read::nested_rows::NestedRows;
use crate::read::parents::ParentRead;

/// The name of the read for a path.
pub(crate) fn name_of(path: &str) -> String {
    format!("GET {path}")
}

/// Renders a template that contains only `{kind}`.
pub(crate) fn with_kind(template: &TextTemplate, kind: &str) -> String {
    template
        .fill(|_| Some(kind.to_owned()))
        .unwrap_or_else(|_| template.to_string())
}

/// A collection of a type.
pub(crate) struct Collection<'a> {
    /// The name of its read.
    pub(crate) read: String,
    pub(crate) path: String,
    /// Its kind, if kinds have separate collections.
    pub(crate) kind: Option<&'a str>,
}

/// The path of the collections of parents, with `{name}` for a name of a parent.
fn path_of_parents(collection: &TextTemplate) -> String {
    collection.to_string().replace("|percent}", "}")
}

/// The collections of a type.
pub(crate) fn collections(definition: &RestDefinition) -> Vec<Collection<'_>> {
    let collection = &definition.instance.collection;
    let one = |path: String, kind| Collection {
        read: match &definition.instance.source {
            Some(source) => source.name.clone(),
            None => name_of(&path),
        },
        path,
        kind,
    };
    let by_kind: Vec<_> = definition
        .kinds
        .iter()
        .flat_map(|kinds| &kinds.kinds)
        .filter_map(|(name, kind)| {
            let path = kind.path.as_ref()?;
            Some(one(with_kind(collection, path), Some(name.as_str())))
        })
        .collect();
    if by_kind.is_empty() {
        vec![one(path_of_parents(collection), None)]
    } else {
        by_kind
    }
}

/// The reads for these resources; for all instances if `None`.
pub(crate) fn requests(
    definition: &RestDefinition,
    model: &TypeModel,
    desired: Option<&[&Desired]>,
) -> Vec<ReadRequest> {
    let named = |kind: &str| {
        desired.is_none_or(|desired| {
            desired.iter().any(|resource| {
                definition
                    .kind_of(&resource.attributes)
                    .is_none_or(|(name, _)| name == kind)
            })
        })
    };
    let outer_keys = outer_keys(&definition.instance);
    let mut requests = Vec::new();
    let mut ask = |path: String, query: &str, optional: bool, answer: AnswerRule| {
        let request = ReadRequest {
            name: name_of(&path),
            command: match &definition.namespaces {
                Some(namespaces) => get_config(&path, &outer_keys, namespaces),
                None => format!("{path}{query}"),
            },
            body: None,
            optional,
            answer: AnswerRule {
                namespaces: definition.namespaces.clone(),
                ..answer
            },
            parents: None,
        };
        if !requests.contains(&request) {
            requests.push(request);
        }
    };
    let query: Vec<String> = definition
        .instance
        .query
        .iter()
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    let query = if query.is_empty() {
        String::new()
    } else {
        format!("?{}", query.join("&"))
    };
    let own = match (&definition.instance.source, &definition.instance.parent) {
        (Some(_), _) | (None, Some(_)) => Vec::new(),
        (None, None) => collections(definition),
    };
    for Collection { path, kind, .. } in own {
        if kind.is_none_or(named) {
            // Devices without a module lack its kinds.
            let path_of_kind = kind.and_then(|kind| {
                let kinds = &definition.kinds.as_ref()?.kinds;
                kinds.get(kind)?.path.clone()
            });
            let fields = &definition.instance.answer;
            let rows = definition.instance.rows.clone();
            let answer = answer_rule(fields, rows, path_of_kind.as_deref());
            let is_optional = kind.is_some() || definition.instance.is_optional;
            ask(path, &query, is_optional, answer);
        }
    }
    for lookup in &definition.instance.lookups {
        let rows = definition.rows.clone().map(NestedRows::from);
        let answer = answer_rule(&lookup.answer, rows, None);
        ask(lookup.path.clone(), "", false, answer);
    }
    for (shared, kinds) in entry_kinds(definition, model, desired) {
        for kind in kinds {
            let rows = definition.rows.clone().map(NestedRows::from);
            let answer = answer_rule(&shared.answer, rows, Some(&kind));
            ask(with_kind(&shared.kinds, &kind), "", true, answer);
        }
    }
    requests.extend(definition.instance.source.clone());
    let parents = definition.instance.parent.iter();
    requests.extend(parents.map(|parent| read_of_parents(definition, parent, &query)));
    requests
}

/// The read of the collections of all parents.
fn read_of_parents(definition: &RestDefinition, parent: &ParentRule, query: &str) -> ReadRequest {
    let rule = &definition.instance;
    let path = path_of_parents(&rule.collection);
    let list = ReadRequest {
        name: name_of(&parent.collection),
        command: parent.collection.clone(),
        body: None,
        optional: false,
        answer: answer_rule(&parent.answer, Some(parent.rows.clone().into()), None),
        parents: None,
    };
    ReadRequest {
        name: name_of(&path),
        command: format!("{path}{query}"),
        body: None,
        optional: rule.is_optional,
        answer: answer_rule(&[], rule.rows.clone(), None),
        parents: Some(ParentRead {
            list: Box::new(list),
            rows: parent.rows.clone(),
            key: parent.key.clone(),
            answer: answer_rule(&rule.answer, Some(parent.objects.clone()), None),
        }),
    }
}

/// The fields of the keys of the outer lists, outermost first.
fn outer_keys(rule: &RestInstanceRule) -> Vec<Vec<&FieldPath>> {
    let depth = rule.rows.as_ref().map_or(0, NestedRows::depth);
    let of_list = |up: usize| {
        let keys = rule.key.iter().filter(|key| key.up == up);
        keys.filter_map(|key| key.field.as_ref()).collect()
    };
    (1..=depth).rev().map(of_list).collect()
}

/// The declaration of a valid answer, for a kind of objects.
fn answer_rule(fields: &[Expectation], rows: Option<NestedRows>, kind: Option<&str>) -> AnswerRule {
    let fill = |value: &String| value.replace("{kind}", kind.unwrap_or_default());
    let fields = fields.iter().map(|one| match one {
        Expectation::Field { path, value } => Expectation::Field {
            path: path.clone(),
            value: value.as_ref().map(fill),
        },
        other => other.clone(),
    });
    AnswerRule {
        expectations: fields.chain(rows.map(Expectation::Rows)).collect(),
        ..AnswerRule::default()
    }
}

/// The kinds of entries that must be distinguished, for each shared array.
fn entry_kinds<'a>(
    definition: &'a RestDefinition,
    model: &TypeModel,
    desired: Option<&[&Desired]>,
) -> Vec<(&'a SharedArray, BTreeSet<String>)> {
    let mentioned = |name: &str| {
        desired.is_none_or(|desired| {
            desired
                .iter()
                .any(|resource| resource.attributes.contains_key(name))
        })
    };
    definition
        .shared
        .iter()
        .map(|(of, shared)| {
            let mut needed = BTreeSet::new();
            for (name, rule) in &definition.attributes {
                let RestLocation::Entries(rule) = &rule.location else {
                    continue;
                };
                if rule.of != *of || !model.attributes.contains_key(name) {
                    continue;
                }
                if mentioned(name) {
                    needed.extend(rule.kinds.iter().cloned());
                }
                let defaults = rule.default_entry.iter().flat_map(|otherwise| {
                    desired
                        .unwrap_or_default()
                        .iter()
                        .filter(|resource| {
                            !resource.is_absent() && otherwise.holds(&resource.attributes)
                        })
                        .filter_map(|resource| otherwise.kind(&resource.attributes))
                });
                needed.extend(defaults);
            }
            let marks = definition
                .kinds
                .iter()
                .flat_map(|kinds| kinds.kinds.values());
            for kind in marks {
                if let Some((name, entry)) = &kind.entry
                    && name == of
                {
                    needed.insert(entry.clone());
                }
            }
            (shared, needed)
        })
        .collect()
}
