//! Lookups in the answers beyond a type's own objects: the kinds of profiles, and the default route
//! domains of partitions.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value as Json;

use super::definition::{RestDefinition, SharedArray};
use super::read_requests::{name_of, with_kind};
use crate::model::TypeModel;
use crate::read::json_text::entry_path;
use crate::read::{Parsed, State};

/// The partition of a full path.
pub(crate) fn partition(name: &str) -> String {
    let mut parts = name.split('/');
    match (parts.next(), parts.next(), parts.next()) {
        (Some(""), Some(partition), Some(_)) => partition.to_owned(),
        _ => String::new(),
    }
}

/// Lookups in the answers beyond the objects themselves.
#[derive(Debug, Default)]
pub(crate) struct Lookups {
    /// Default route domain by partition.
    domains: BTreeMap<String, u32>,
    /// Paths of the objects of a kind, by the path of the kind's collection.
    of_kind: BTreeMap<String, BTreeSet<String>>,
}

impl Lookups {
    pub(crate) fn new(definition: &RestDefinition, state: &State) -> Self {
        let mut surveyed = Self::default();
        for lookup in &definition.instance.lookups {
            for item in items(definition, answer(state, &name_of(&lookup.path))) {
                let name = item.get("name").and_then(Json::as_str);
                let domain = item.get(&lookup.default_domain).and_then(Json::as_u64);
                if let (Some(name), Some(domain)) = (name, domain) {
                    let domain = u32::try_from(domain).unwrap_or_default();
                    surveyed.domains.insert(name.to_owned(), domain);
                }
            }
        }
        for shared in definition.shared.values() {
            let (before, after) = neighbors_of_kind(shared);
            for (name, parsed) in state.iter() {
                let Some(path) = name.strip_prefix("GET ") else {
                    continue;
                };
                if path.starts_with(&before)
                    && path.ends_with(&after)
                    && path.len() > before.len() + after.len()
                    && let Parsed::Json(answer) = parsed
                    && !answer.is_null()
                {
                    let paths = items(definition, Some(answer))
                        .into_iter()
                        .filter_map(|item| item.get("fullPath")?.as_str())
                        .map(str::to_owned)
                        .collect();
                    surveyed.of_kind.insert(path.to_owned(), paths);
                }
            }
        }
        surveyed
    }

    /// Like [`Lookups::new`], built once for all objects of a type.
    pub(crate) fn of(definition: &RestDefinition, model: &TypeModel, state: &State) -> Arc<Self> {
        state.derived_from_all(&model.name, || Self::new(definition, state))
    }

    /// The default route domain of a partition; `None` if the device did not list it.
    pub(crate) fn domain(&self, partition: &str) -> Option<u32> {
        self.domains.get(partition).copied()
    }

    /// Whether all objects of the kind were read.
    pub(crate) fn has_list_of(&self, shared: &SharedArray, kind: &str) -> bool {
        self.of_kind.contains_key(&with_kind(&shared.kinds, kind))
    }

    /// Whether the device has an object of the kind at the path.
    pub(crate) fn has(&self, shared: &SharedArray, kind: &str, path: &str) -> bool {
        self.of_kind
            .get(&with_kind(&shared.kinds, kind))
            .is_some_and(|paths| paths.contains(path))
    }

    /// Whether an entry of a shared array is of one of the kinds: according to the collections of
    /// the kinds, or to the entry's link, which newer releases return.
    pub(crate) fn is_of(&self, shared: &SharedArray, kinds: &[String], entry: &Json) -> bool {
        let path = entry_path(entry).unwrap_or_default();
        let link = entry
            .get("nameReference")
            .and_then(|reference| reference.get("link"))
            .and_then(Json::as_str)
            .unwrap_or_default();
        kinds.iter().any(|kind| {
            self.has(shared, kind, &path)
                || link.contains(&format!("{}/", with_kind(&shared.kinds, kind)))
        })
    }
}

fn neighbors_of_kind(shared: &SharedArray) -> (String, String) {
    let text = shared.kinds.to_string();
    match text.split_once("{kind}") {
        Some((before, after)) => (before.to_owned(), after.to_owned()),
        None => (text, String::new()),
    }
}

/// The objects in an answer of the platform.
fn items<'a>(definition: &RestDefinition, answer: Option<&'a Json>) -> Vec<&'a Json> {
    let rows = definition.rows.as_ref().zip(answer);
    let rows = rows.and_then(|(rows, answer)| rows.rows(answer).ok());
    let rows = rows.unwrap_or_default().into_iter();
    rows.map(|row| row.value).collect()
}

/// The answer to a read; `None` if it was not read.
pub(crate) fn answer<'a>(state: &'a State, read: &str) -> Option<&'a Json> {
    match state.get(read) {
        Some(Parsed::Json(json)) => Some(json),
        _ => None,
    }
}
