//! Loads `remove` of `[instance]`: whether and how objects are removed.

use crate::document::Table;
use crate::driver::rest::template::BodyField;
use crate::driver::rest::toml::body;
use crate::read::field_path::FieldPath;

/// How objects are removed.
pub(super) struct Removal {
    pub(super) is_possible: bool,
    /// Members are removed before the object.
    pub(super) members_first: bool,
    /// The body of a `POST` that removes an object; empty: a `DELETE` of its path.
    pub(super) body: Vec<(FieldPath, BodyField)>,
}

pub(super) fn read_removal(table: &Table<'_>, is_singleton: bool) -> Removal {
    let item = table.get("remove");
    let Some(removal) = item.filter(|item| item.is_table()) else {
        return Removal {
            is_possible: table.bool("remove").unwrap_or(!is_singleton),
            members_first: false,
            body: Vec::new(),
        };
    };
    let removal = removal.table();
    let members_first = removal.as_ref().and_then(|one| one.bool("members_first"));
    let body = removal.as_ref().map(|one| body(one, "body"));
    let read = Removal {
        is_possible: true,
        members_first: members_first.unwrap_or(false),
        body: body.unwrap_or_default(),
    };
    if let Some(removal) = removal {
        removal.finish();
        if read.body.is_empty() && !read.members_first {
            removal.missing("body");
        }
    }
    read
}
