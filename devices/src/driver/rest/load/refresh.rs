//! Loads `[refresh]`: the request that a refresh sends.

use super::instance_keys::RefreshKeys;
use crate::diagnostic::suggest;
use crate::document::{Item, KeyValue, Table};
use crate::driver::rest::definition::RefreshRequest;
use crate::driver::rest::template::TextTemplate;
use crate::model::TypeModel;
use crate::value::Name;

/// The request. `None`: its error is reported.
pub(super) fn read_refresh(item: &Item<'_>, model: &TypeModel) -> Option<RefreshRequest> {
    let keys = RefreshKeys::read(item)?;
    let table = item.table()?;
    for hole in keys.path.unencoded_holes() {
        let message = format!("`{{{hole}}}` in `path` is not encoded; use `{{{hole}|percent}}`");
        item.error("template", message);
    }
    let body = keys.body.0;
    let templates = body.iter().map(|(_, template)| template);
    for template in templates.chain([&keys.path]) {
        check_names(template, model, &table);
    }
    Some(RefreshRequest {
        path: keys.path,
        body,
    })
}

/// Every placeholder must be an attribute of the model without secrets.
fn check_names(template: &TextTemplate, model: &TypeModel, table: &Table<'_>) {
    for name in template.holes() {
        if let Some(attribute) = model.attributes.get(name) {
            if attribute.sensitive {
                let message = format!("`{template}` sends the secret `{name}`");
                table.findings.error("secret", table.span.clone(), message);
            }
            continue;
        }
        let names = model.attributes.keys().map(Name::as_str);
        let help = suggest(name, names, "declare it in the model first");
        table.findings.error_with_help(
            "unknown-attribute",
            table.span.clone(),
            format!(
                "`{template}` uses `{name}`, which is not an attribute of {}",
                model.name
            ),
            help,
        );
    }
}
