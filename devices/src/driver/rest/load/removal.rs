//! Loads `remove` of `[instance]`: whether and how objects are removed.

use crate::document::{Table, word};
use crate::driver::rest::definition::RemoveRule;
use crate::driver::rest::toml::{body, template};
use crate::operation::Method;

pub(super) fn read_removal(table: &Table<'_>, is_singleton: bool) -> Option<RemoveRule> {
    let item = table.get("remove");
    let Some(item) = item.filter(|item| item.is_table()) else {
        let is_possible = table.bool("remove").unwrap_or(!is_singleton);
        return is_possible.then(RemoveRule::default);
    };
    let removal = item.table()?;
    let verbs = [
        ("DELETE", Method::Delete),
        ("POST", Method::Post),
        ("PUT", Method::Put),
        ("PATCH", Method::Patch),
    ];
    let verb = removal.get("verb").and_then(|item| word(&item, &verbs));
    let body = body(&removal, "body");
    let read = RemoveRule {
        members_first: removal.bool("members_first").unwrap_or(false),
        method: verb.unwrap_or(if body.is_empty() {
            Method::Delete
        } else {
            Method::Post
        }),
        path: template(&removal, "path"),
        body,
    };
    removal.finish();
    if read.body.is_empty() && read.path.is_none() && !read.members_first {
        removal.missing("body");
    }
    Some(read)
}
