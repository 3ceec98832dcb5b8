//! References to resources, `Type[title]`.

use std::fmt;
use std::sync::Arc;

/// A resource's name in a catalog. Prints as `Network_vlan[100]`; cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ResourceRef {
    type_name: Arc<str>,
    title: Arc<str>,
}

/// A text that is no reference.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("No title provided and {text:?} is not a valid resource reference")]
pub struct ParseReferenceError {
    pub text: String,
}

impl ResourceRef {
    /// A reference from its parts. The type's segments are capitalised, as are a class's.
    pub fn new(type_name: &str, title: &str) -> Self {
        Self::with_type(capitalize(type_name).into(), title)
    }

    /// A reference with a type name that is capitalised already, so that many can share it.
    pub fn with_type(type_name: Arc<str>, title: &str) -> Self {
        let title = if &*type_name == "Class" {
            class_title(title).into()
        } else {
            title.into()
        };
        Self { type_name, title }
    }

    /// Reads `Type[title]`: the type up to the first `[`, in any case, the title up to the last
    /// `]`, taken literally.
    ///
    /// # Errors
    /// When the text is not of this form, with the text.
    pub fn parse(text: &str) -> Result<Self, ParseReferenceError> {
        let parts = text
            .strip_suffix(']')
            .and_then(|text| text.split_once('['))
            .filter(|(type_name, title)| {
                !type_name.is_empty() && !type_name.contains(']') && !title.is_empty()
            });
        match parts {
            Some((type_name, title)) => Ok(Self::new(type_name, title)),
            None => Err(ParseReferenceError {
                text: text.to_owned(),
            }),
        }
    }

    /// The capitalised type, `Network_vlan`.
    pub fn type_name(&self) -> &str {
        &self.type_name
    }

    /// The type as models are named, `network_vlan`.
    pub fn model_name(&self) -> String {
        self.type_name.to_lowercase()
    }

    pub fn title(&self) -> &str {
        &self.title
    }

    pub fn is_class(&self) -> bool {
        &*self.type_name == "Class"
    }

    pub(super) fn shared_type(&self) -> &Arc<str> {
        &self.type_name
    }

    pub(super) fn shared_title(&self) -> &Arc<str> {
        &self.title
    }
}

impl fmt::Display for ResourceRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}]", self.type_name, self.title)
    }
}

/// Every `::` segment with a capital first letter and the rest in lower case.
pub(super) fn capitalize(name: &str) -> String {
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
    segments.join("::")
}

fn class_title(title: &str) -> String {
    match title {
        "" => "Main".to_owned(),
        title => capitalize(title),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_is_read_from_any_case_and_its_title_is_literal() {
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
    fn what_is_no_reference_is_named_in_the_error() {
        for text in ["vlan ten", "", "[x]", "Vlan[", "Vlan[]", "Vlan]["] {
            let error = ResourceRef::parse(text).unwrap_err();
            assert!(error.to_string().contains(&format!("{text:?}")), "{error}");
        }
    }
}
