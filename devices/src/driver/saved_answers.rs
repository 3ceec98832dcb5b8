//! The types of a device whose answers were saved before: what is read of the configuration instead of an answer
//! that is missing, and what stays unknown.

use std::sync::Arc;

use super::implementation::Implementation;
use super::{Driver, Platform};
use crate::model::TypeModel;
use crate::names::TypeName;
use crate::read::{CONFIG, ReadRequest, Reads, State};

/// A read whose answer is not saved.
#[derive(Clone, Debug)]
pub struct UnsavedRead {
    /// The request.
    pub request: ReadRequest,
    /// The types whose instances are unknown without it.
    pub types: Vec<TypeName>,
    /// What of it the configuration does not show, if the definition says so.
    pub hidden: Option<String>,
    /// The configuration is read instead.
    pub is_replaced: bool,
}

impl Driver {
    /// The same types for a device whose answers are these. `None`: the device can be asked.
    #[must_use]
    pub fn with_saved(self, answers: Option<&Reads>) -> Self {
        Self {
            saved: answers.map(|answers| answers.keys().cloned().collect()),
            ..self
        }
    }

    fn is_saved(&self, read: &str) -> bool {
        let saved = self.saved.as_ref();
        saved.is_none_or(|saved| saved.iter().any(|name| name == read))
    }

    /// The form of a type for what is known of the device.
    pub(super) fn saved_form<'a>(
        &self,
        implementation: &'a Arc<dyn Implementation>,
    ) -> &'a Arc<dyn Implementation> {
        let is_missing = |read: &str| !self.is_saved(read);
        match (implementation.listing_read(), implementation.in_config()) {
            (Some(read), Some(form)) if is_missing(read) && self.is_saved(CONFIG) => form,
            _ => implementation,
        }
    }

    /// The reads of these types whose answers are not saved, each once.
    pub fn unsaved_reads(&self, models: &[&Arc<TypeModel>]) -> Vec<UnsavedRead> {
        let mut unsaved: Vec<UnsavedRead> = Vec::new();
        for model in models {
            let Some(index) = self.platform.types.get_index_of(&model.name) else {
                continue;
            };
            let Ok(implementation) = self.chosen_variant(index) else {
                continue;
            };
            let listing = implementation.listing_read();
            let has_form = !Arc::ptr_eq(self.saved_form(implementation), implementation);
            for request in implementation.reads(None) {
                if self.is_saved(&request.name) {
                    continue;
                }
                let is_listing = listing.is_none_or(|read| read == request.name);
                let hidden = self.platform.hidden_offline(&request.name);
                // The configuration shows the same.
                if is_listing && has_form && hidden.is_none() {
                    continue;
                }
                let is_unknown = !has_form && (is_listing || !request.optional);
                let types = is_unknown.then(|| model.name.clone());
                match unsaved
                    .iter_mut()
                    .find(|one| one.request.name == request.name)
                {
                    Some(one) => one.types.extend(types),
                    None => unsaved.push(UnsavedRead {
                        types: types.into_iter().collect(),
                        hidden,
                        is_replaced: is_listing && has_form,
                        request,
                    }),
                }
            }
        }
        unsaved
    }
}

impl Platform {
    /// Adds the answers that the configuration among these has in comments or in its own lines, and empty
    /// answers for what the device does not have.
    pub fn add_saved_answers(&self, reads: &mut Reads) {
        let Some(mut config) = reads.get(CONFIG).cloned() else {
            return;
        };
        let rule = self
            .reads
            .get(CONFIG)
            .and_then(|rule| rule.offline.as_ref());
        if let Some(lines) = rule.and_then(|rule| rule.without_braces(&config)) {
            reads.insert(CONFIG.to_owned(), lines.clone());
            config = lines;
        }
        let mut tree: Option<State> = None;
        for (name, rule) in &self.reads {
            if reads.contains_key(name) {
                continue;
            }
            let offline = rule.offline.as_ref();
            let in_comments = offline.and_then(|rule| rule.in_comments(&config));
            let in_comments = in_comments.filter(|text| rule.request.answer.check(text).is_ok());
            if let Some(text) = in_comments {
                reads.insert(name.clone(), text);
                continue;
            }
            if let Some(offline) = offline.filter(|rule| rule.has_lines()) {
                let known = tree.get_or_insert_with(|| self.parse_config(&config));
                let lines = known.tree(CONFIG).map(|tree| offline.tree(tree).text());
                reads.insert(name.clone(), lines.unwrap_or_default());
                continue;
            }
            let with = offline.and_then(|rule| rule.with.as_ref());
            let has_answer =
                with.is_some_and(|with| config.lines().any(|line| with.is_match(line)));
            if !has_answer && rule.request.is_unknown_to(reads) {
                reads.insert(name.clone(), String::new());
            }
        }
    }

    fn parse_config(&self, text: &str) -> State {
        let reads = Reads::from_iter([(CONFIG.to_owned(), text.to_owned())]);
        self.parse(&reads).unwrap_or_default()
    }

    /// What of an answer the configuration does not show.
    fn hidden_offline(&self, read: &str) -> Option<String> {
        let hidden = self.reads.get(read)?.offline.as_ref()?.hidden.clone();
        hidden.filter(|hidden| !hidden.is_empty())
    }
}
