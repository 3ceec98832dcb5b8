//! Values that several sections share: templates, codecs, `replace`.

use std::sync::Arc;

use crate::diagnostic::suggest;
use crate::document::{Item, Table};
use crate::driver::cli::block_path::BlockPath;
use crate::driver::cli::template::LineTemplate;
use crate::driver::codec::Codec;
use crate::driver::context::Context;
use crate::model::load::word;

/// A path of blocks.
pub(super) fn block_path(item: Item<'_>) -> Option<BlockPath> {
    let text = item.template()?;
    match BlockPath::parse(&text) {
        Ok(path) => Some(path),
        Err(error) => {
            item.error("template", error.to_string());
            None
        }
    }
}

pub(super) fn templates(item: Option<Item<'_>>) -> Vec<LineTemplate> {
    let items = item.map(|item| item.one_or_more());
    items
        .iter()
        .flatten()
        .filter_map(LineTemplate::load)
        .collect()
}

pub(super) fn remove_first(table: &Table<'_>) -> bool {
    table
        .get("replace")
        .and_then(|item| word(&item, &[("remove-first", ())]))
        .is_some()
}

/// A codec by its name, from the platform or built in.
pub(super) fn codec(context: &Context<'_>, item: &Item<'_>) -> Option<Arc<Codec>> {
    let name = item.string()?;
    if let Some(codec) = context.codecs.get(&name) {
        return Some(Arc::clone(codec));
    }
    let built_in = Codec::built_in(&name).map(Arc::new);
    if built_in.is_none() {
        let names = context.codecs.keys().map(String::as_str);
        let help = suggest(&name, names, "declare it in platform.toml as [codec.NAME]");
        let message = format!("the platform has no codec `{name}`");
        item.findings
            .error_with_help("unknown-codec", item.span.clone(), message, help);
    }
    built_in
}
