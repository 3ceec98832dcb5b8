//! REST types: read from JSON and written by requests. NETCONF types: read from XML, which becomes the
//! same tree, and written by edits.
//!
//! A [`RestDefinition`](definition::RestDefinition) has the rules of
//! `definitions/<platform>/<type>.toml`. Pure functions use it: [`read`] converts answers to
//! instances, [`mod@write`] converts a change to requests, and [`predict`] applies requests to the
//! answers. Connections, logins and retries are part of `session`.

mod audit;
mod canonical;
pub(crate) mod choice;
mod claims;
pub(crate) mod codec;
pub(crate) mod definition;
pub(crate) mod document;
mod edit;
mod effects;
mod element_outline;
mod element_path;
mod entries;
mod explain;
mod field;
mod implementation;
mod inactive;
pub(crate) mod load;
mod lookups;
mod members;
mod not_understood;
mod objects;
mod order;
mod outline;
pub(crate) mod own_request;
mod parent;
mod position_in_answer;
mod predict;
mod read;
mod read_requests;
mod refresh;
pub(crate) mod template;
#[cfg(test)]
mod tests;
pub(in crate::driver) mod toml;
mod write;
mod write_choice;
mod writer;

use std::sync::Arc;

use super::context::Context;
use super::implementation::Implementation;
use crate::document::Table;

/// Reads the sections of a definition that describe how the type is read and written.
pub(super) fn load(context: &Context<'_>, root: &Table<'_>) -> Option<Arc<dyn Implementation>> {
    let lacking = (context.lacking, context.lacks());
    let definition = load::read(root, context, &lacking)?;
    Some(Arc::new(implementation::RestType {
        definition,
        model: Arc::clone(context.model),
        source: Arc::clone(context.source),
        examples: context.examples.to_vec(),
    }))
}
