//! Positions of values in a JSON text.
//!
//! Loading does not store positions, because only messages need them. To locate a value, the text
//! is parsed again into a tree with byte ranges.

use std::fmt;
use std::ops::Range;

use jsonc_parser::ast::{self, ObjectPropName};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

/// One step of a path into a JSON document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Segment {
    Key(String),
    Index(usize),
}

impl From<&str> for Segment {
    fn from(key: &str) -> Self {
        Segment::Key(key.to_owned())
    }
}

impl From<usize> for Segment {
    fn from(index: usize) -> Self {
        Segment::Index(index)
    }
}

impl fmt::Display for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Segment::Key(key) => write!(f, ".{key}"),
            Segment::Index(index) => write!(f, "[{index}]"),
        }
    }
}

/// The byte range of the value at each path. If a path ends early, the range of the nearest
/// ancestor. `None` if the text is not JSON.
pub(crate) fn locate_all<'a>(
    text: &str,
    paths: impl IntoIterator<Item = &'a [Segment]>,
) -> Vec<Option<Range<usize>>> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default())
        .ok()
        .and_then(|result| result.value);
    paths
        .into_iter()
        .map(|path| parsed.as_ref().map(|root| descend(root, path)))
        .collect()
}

fn descend(root: &ast::Value, path: &[Segment]) -> Range<usize> {
    let mut value = root;
    for segment in path {
        let next = match (value, segment) {
            (ast::Value::Object(object), Segment::Key(key)) => object
                .properties
                .iter()
                .rev() // of a repeated key the last counts
                .find(|property| name(&property.name) == key)
                .map(|property| &property.value),
            (ast::Value::Array(array), Segment::Index(index)) => array.elements.get(*index),
            _ => None,
        };
        match next {
            Some(next) => value = next,
            None => break,
        }
    }
    let range = value.range();
    range.start..range.end
}

fn name<'a>(name: &'a ObjectPropName<'a>) -> &'a str {
    match name {
        ObjectPropName::String(text) => &text.value,
        ObjectPropName::Word(word) => word.value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locate_finds_the_value_or_its_nearest_ancestor() {
        let text = r#"{"resources": [{"title": "a"}, {"title": "b"}]}"#;
        let at = |path: &[Segment]| &text[locate_all(text, [path])[0].clone().unwrap()];
        assert_eq!(at(&["resources".into(), 1.into(), "title".into()]), "\"b\"");
        assert_eq!(
            at(&["resources".into(), 1.into(), "file".into()]),
            r#"{"title": "b"}"#
        );
        let root: &[Segment] = &[];
        assert_eq!(locate_all("{", [root]), [None]);
    }
}
