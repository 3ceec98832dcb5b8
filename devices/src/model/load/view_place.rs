//! Loads the keys `view` and `section`, and refuses names that files of desired state reserve.

use crate::document::{Item, Table};
use crate::map::IndexMap;
use crate::model::view::{METAPARAMETERS, RESERVED, USE, ViewPlace};
use crate::model::{AttributeModel, Role};
use crate::value::Name;

/// Refuses the name of a type that is a key of desired state.
pub(crate) fn check_type_name(root: &Table<'_>, name: &str) {
    if RESERVED.contains(&name)
        && let Some(item) = root.get("type")
    {
        let message = format!("`{name}` is a key of desired state, no type can have this name");
        item.findings.error_with_help(
            "reserved-name",
            item.span.clone(),
            message,
            "use another name, such as one that begins with that of the platform",
        );
    }
}

/// Refuses an attribute that could not be told from the names of profiles.
pub(crate) fn check_attribute_name(item: &Item<'_>, name: &str) {
    if name == USE {
        item.findings.error_with_help(
            "reserved-name",
            item.span.clone(),
            format!("`{USE}` has the names of profiles in desired state, no attribute can have this name"),
            "use another name",
        );
    }
}

/// `view = "interface"` and `section = "switchport"`.
pub(crate) fn read_place(
    root: &Table<'_>,
    attributes: &IndexMap<Name, AttributeModel>,
) -> Option<ViewPlace> {
    let (view, section) = (root.get("view"), root.get("section"));
    let Some(item) = view else {
        if let Some(item) = section {
            item.findings.error_with_help(
                "view",
                item.span.clone(),
                "`section` requires `view`",
                "add `view = \"interface\"`, or remove `section`",
            );
        }
        return None;
    };
    let namevars = attributes
        .values()
        .filter(|attribute| attribute.role == Role::Namevar);
    if namevars.count() > 1 {
        item.findings.error_with_help(
            "view",
            item.span.clone(),
            "a type with several namevars cannot be in a view: the title of the view is its name",
            "remove `view`",
        );
    }
    let view = word(&item, &RESERVED)?;
    let section = match section {
        Some(item) => Some(word(&item, &[&METAPARAMETERS[..], &[USE]].concat())?),
        None => None,
    };
    Some(ViewPlace { view, section })
}

/// A key of desired state files that is none of these.
fn word(item: &Item<'_>, refused: &[&str]) -> Option<Name> {
    let text = item.string()?;
    let is_word = text.starts_with(|c: char| c.is_ascii_lowercase())
        && text
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    let reason = if refused.contains(&text.as_str()) {
        "has another meaning in desired state"
    } else if is_word {
        return Some(text.into());
    } else {
        "is not a word of small letters, digits and `_`"
    };
    item.findings.error_with_help(
        "reserved-name",
        item.span.clone(),
        format!("`{text}` {reason}"),
        "use another name",
    );
    None
}
