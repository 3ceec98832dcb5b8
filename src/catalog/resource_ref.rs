//! References to resources, `Type[title]`.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use indexmap::Equivalent;
use switchtender_devices::value::Value;

/// The name of a resource in a catalog. Prints as `Network_vlan[100]`; cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ResourceRef {
    text: Arc<str>,
    /// Length of the type name in bytes.
    type_length: u32,
}

/// A value that is not a resource reference.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("No title provided and {} is not a valid resource reference", value.inspect())]
pub struct ParseReferenceError {
    pub(crate) value: Value,
}

impl ResourceRef {
    /// A reference from its parts. The segments of the type are capitalized, and those of a class
    /// title.
    pub(crate) fn new(type_name: &str, title: &str) -> Self {
        let type_name = capitalize(type_name);
        let title = match (&*type_name, title) {
            ("Class", "") => "Main".into(),
            ("Class", title) => capitalize(title),
            (_, title) => title.into(),
        };
        Self::of_parts(&type_name, &title)
    }

    /// A reference to the same type with another title, taken literally.
    pub(super) fn sibling(&self, name: &str) -> Self {
        Self::of_parts(self.type_name(), name)
    }

    fn of_parts(type_name: &str, title: &str) -> Self {
        let mut text = String::with_capacity(type_name.len() + title.len() + 2);
        text.push_str(type_name);
        text.push('[');
        text.push_str(title);
        text.push(']');
        Self {
            text: text.into(),
            type_length: length(type_name),
        }
    }

    /// The reference in a value of a relationship: `Type[title]` as text.
    ///
    /// # Errors
    /// The value is not a reference.
    pub(crate) fn of(value: &Value) -> Result<Self, ParseReferenceError> {
        let parsed = match value {
            Value::String(text) => Self::parse(text),
            other => Self::parse(&other.ruby_to_s()),
        };
        parsed.map_err(|_| ParseReferenceError {
            value: value.clone(),
        })
    }

    /// Parses `Type[title]`: the type up to the first `[`, in any case, and the title up to the
    /// last `]`, taken literally.
    ///
    /// # Errors
    /// The text does not have this form.
    pub fn parse(text: &str) -> Result<Self, ParseReferenceError> {
        match (ReferenceText::of(text), parts(text)) {
            (Some(written), _) => Ok(Self {
                text: written.text.into(),
                type_length: written.type_length,
            }),
            (None, Some((type_name, title))) => Ok(Self::new(type_name, title)),
            (None, None) => Err(ParseReferenceError { value: text.into() }),
        }
    }

    /// `Network_vlan[100]`.
    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether one is a clone of the other.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.text, &other.text)
    }

    /// The text, shared.
    pub(crate) fn shared(&self) -> Arc<str> {
        Arc::clone(&self.text)
    }

    /// The capitalized type, `Network_vlan`.
    pub(crate) fn type_name(&self) -> &str {
        &self.text[..self.type_length as usize]
    }

    /// The type in the form of models, `network_vlan`.
    pub fn model_name(&self) -> String {
        self.type_name().to_lowercase()
    }

    /// The text between the brackets.
    pub fn title(&self) -> &str {
        &self.text[self.type_length as usize + 1..self.text.len() - 1]
    }

    pub(crate) fn is_class(&self) -> bool {
        self.type_name() == "Class"
    }
}

/// By type, then by title.
impl Ord for ResourceRef {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.type_name(), self.title()).cmp(&(other.type_name(), other.title()))
    }
}

impl PartialOrd for ResourceRef {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for ResourceRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A reference within a text, for the lookup of the equal [`ResourceRef`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ReferenceText<'a> {
    text: &'a str,
    type_length: u32,
}

impl<'a> ReferenceText<'a> {
    /// `None` if it is not a reference or not capitalized. Servers send capitalized references.
    pub(crate) fn of(text: &'a str) -> Option<Self> {
        let (type_name, title) = parts(text)?;
        let in_order = is_capitalized(type_name) && (type_name != "Class" || is_capitalized(title));
        in_order.then(|| Self {
            text,
            type_length: length(type_name),
        })
    }
}

impl Equivalent<ResourceRef> for ReferenceText<'_> {
    fn equivalent(&self, reference: &ResourceRef) -> bool {
        self.type_length == reference.type_length && *self.text == *reference.text
    }
}

/// Type and title of `Type[title]`.
fn parts(text: &str) -> Option<(&str, &str)> {
    let (type_name, title) = text.strip_suffix(']')?.split_once('[')?;
    let is_valid = !type_name.is_empty() && !type_name.contains(']') && !title.is_empty();
    is_valid.then_some((type_name, title))
}

fn length(type_name: &str) -> u32 {
    u32::try_from(type_name.len()).expect("no type has such a name")
}

/// Every `::` segment with a capital first letter and the rest in lower case.
pub(super) fn capitalize(name: &str) -> Cow<'_, str> {
    if is_capitalized(name) {
        return name.into();
    }
    let segments: Vec<String> = name
        .split("::")
        .map(|segment| {
            let mut chars = segment.chars();
            match chars.next() {
                Some(first) => {
                    first.to_uppercase().collect::<String>() + &chars.as_str().to_lowercase()
                }
                None => String::new(),
            }
        })
        .collect();
    segments.join("::").into()
}

/// Whether [`capitalize`] leaves a name unchanged. False for some names that are not ASCII.
fn is_capitalized(name: &str) -> bool {
    let is_segment = |segment: &str| {
        segment.starts_with(|first: char| first.is_ascii_uppercase())
            && segment[1..].bytes().all(is_lowercase_ascii)
    };
    // A search for one byte is much cheaper than a search for two.
    if name.contains(':') {
        name.split("::").all(is_segment)
    } else {
        is_segment(name)
    }
}

/// ASCII and not changed by conversion to lower case.
pub(super) fn is_lowercase_ascii(byte: u8) -> bool {
    byte.is_ascii() && !byte.is_ascii_uppercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resource_ref_accepts_any_case_and_takes_titles_literally() {
        let cases = [
            ("dev_vlan[10]", "Dev_vlan[10]"),
            ("SITE::unit[a b]", "Site::Unit[a b]"),
            ("class[main]", "Class[Main]"),
            ("Class[site::base]", "Class[Site::Base]"),
            ("Notify[a [b] c]]", "Notify[a [b] c]]"),
            ("Notify[Türe -> 'x']", "Notify[Türe -> 'x']"),
        ];
        for (text, expected) in cases {
            assert_eq!(ResourceRef::parse(text).unwrap().to_string(), expected);
        }
    }

    #[test]
    fn resource_ref_error_quotes_the_text() {
        for text in ["vlan ten", "", "[x]", "Vlan[", "Vlan[]", "Vlan]["] {
            let error = ResourceRef::parse(text).unwrap_err();
            assert!(error.to_string().contains(&format!("{text:?}")), "{error}");
        }
    }
}
