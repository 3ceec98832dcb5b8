//! Loads the keys `view` and `section`, and refuses names that files of desired state reserve.

use super::AttributeNames;
use crate::document::{At, Findings, Item};
use crate::model::Role;
use crate::model::view::{METAPARAMETERS, RESERVED, USE, ViewLocation};
use crate::value::Name;

/// Refuses the name of a type that is a key of desired state.
pub(super) fn check_type_name(name: &At<String>, findings: &Findings) {
    if RESERVED.contains(&name.as_str()) {
        let name_text = &name.value;
        findings.error_with_help(
            "reserved-key",
            name.span.clone(),
            format!("`{name_text}` is a key of desired state, no type can have this name"),
            "use another name, such as one that begins with that of the platform",
        );
    }
}

/// Refuses an attribute that could not be told from the names of profiles.
pub(crate) fn check_attribute_name(item: &Item<'_>, name: &str) {
    if name == USE {
        item.findings.error_with_help(
            "reserved-key",
            item.span.clone(),
            format!("`{USE}` has the names of profiles in desired state, no attribute can have this name"),
            "use another name",
        );
    }
}

/// `view = "interface"` and `section = "switchport"`.
pub(super) fn view_location(
    view: Option<At<String>>,
    section: Option<At<String>>,
    names: &AttributeNames<'_>,
) -> Option<ViewLocation> {
    let findings = names.findings;
    let Some(view) = view else {
        if let Some(section) = section {
            findings.error_with_help(
                "view",
                section.span,
                "`section` requires `view`",
                "add `view = \"interface\"`, or remove `section`",
            );
        }
        return None;
    };
    let namevars = names.attributes.values();
    let namevars = namevars.filter(|attribute| attribute.role == Role::Namevar);
    if namevars.count() > 1 {
        findings.error_with_help(
            "view",
            view.span.clone(),
            "a type with several namevars cannot be in a view: the title of the view is its name",
            "remove `view`",
        );
    }
    let view = word(&view, &RESERVED, findings)?;
    let section = match section {
        Some(section) => {
            let refused = [&METAPARAMETERS[..], &[USE]].concat();
            Some(word(&section, &refused, findings)?)
        }
        None => None,
    };
    Some(ViewLocation { view, section })
}

/// A key of desired state files that is none of these.
fn word(word: &At<String>, refused: &[&str], findings: &Findings) -> Option<Name> {
    let text = word.as_str();
    let is_word = text.starts_with(|c: char| c.is_ascii_lowercase())
        && text
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    let reason = if refused.contains(&text) {
        "has another meaning in desired state"
    } else if is_word {
        return Some(text.into());
    } else {
        "is not a word of small letters, digits and `_`"
    };
    findings.error_with_help(
        "reserved-key",
        word.span.clone(),
        format!("`{text}` {reason}"),
        "use another name",
    );
    None
}
