//! A key that an object of the catalog has twice.

use std::borrow::Cow;

use super::{Check, Example, Rule};
use crate::catalog::Segment;
use crate::diagnostic::Severity;
use crate::validate::finding::{At, Finding, Findings};
use crate::validate::subject::Subject;

pub const RULE: Rule = Rule {
    code: "duplicate-key",
    severity: Severity::Error,
    summary: "a key that an object has twice",
    explanation: "\
JSON does not say which of two values of one key counts; readers differ. A compiler never writes
that: the catalog was edited by hand or by a program that joins text.",
    bad: "",
    good: "",
    example: Example::Other,
    check: Check::Catalog(check),
};

/// More than a few say nothing new.
const LIMIT: usize = 100;

fn check(subject: &Subject<'_>, findings: &mut Findings) {
    for path in duplicate_keys(&subject.catalog.source.text) {
        let key = path.last().map(|key| key.to_string()).unwrap_or_default();
        findings.push(
            Finding::new(
                &RULE,
                At::Path(path),
                format!("the key `{}` stands twice in one object", key.trim_start_matches('.')),
            )
            .beside("this one counts"),
        );
    }
}

/// The paths of keys that come twice. The text is that of a catalog, so it is JSON, and nothing but
/// its strings and brackets has to be looked at; to parse it once more would be a large part of what
/// checking a catalog takes.
fn duplicate_keys(text: &str) -> Vec<Vec<Segment>> {
    let mut found = Vec::new();
    let mut open: Vec<Open> = Vec::new();
    // Those of all open objects, of the outermost first.
    let mut keys: Vec<Cow<'_, str>> = Vec::new();
    let mut at = 0;
    while let Some(byte) = text.as_bytes().get(at) {
        at += 1;
        match byte {
            b'"' => {
                let string = text.get(at..).map_or("", inside_of_string);
                if let Some(Open::Object { key_is_next, .. }) = open.last_mut()
                    && std::mem::take(key_is_next)
                {
                    keys.push(unescaped(string));
                }
                at += string.len() + 1;
            }
            b'{' => open.push(Open::Object {
                first_key: keys.len(),
                key_is_next: true,
            }),
            b'[' => open.push(Open::Array { index: 0 }),
            b',' => match open.last_mut() {
                Some(Open::Object { key_is_next, .. }) => *key_is_next = true,
                Some(Open::Array { index }) => *index += 1,
                None => {}
            },
            b'}' | b']' => {
                if let Some(Open::Object { first_key, .. }) = open.pop() {
                    let (outer, own) = keys.split_at_mut(first_key);
                    // Sorted, because a hostile object may have many.
                    own.sort_unstable();
                    let twice = own.windows(2).filter(|pair| pair[0] == pair[1]);
                    let twice = twice.take(LIMIT.saturating_sub(found.len()));
                    found.extend(twice.map(|pair| path(&open, outer, &pair[0])));
                    keys.truncate(first_key);
                }
            }
            _ => {}
        }
    }
    found
}

/// What is open around the place that is looked at.
enum Open {
    Object { first_key: usize, key_is_next: bool },
    Array { index: usize },
}

/// The path of a key in an object inside of these. Of each open object the last key is the one whose
/// value is looked at.
fn path(open: &[Open], mut keys: &[Cow<'_, str>], key: &str) -> Vec<Segment> {
    let mut path = vec![Segment::from(key)];
    for container in open.iter().rev() {
        match container {
            Open::Array { index } => path.push(Segment::Index(*index)),
            Open::Object { first_key, .. } => {
                path.extend(keys.last().map(|key| Segment::from(&**key)));
                keys = &keys[..*first_key];
            }
        }
    }
    path.reverse();
    path
}

/// What stands up to the quotation mark that ends a string.
fn inside_of_string(text: &str) -> &str {
    let bytes = text.as_bytes();
    let mut at = 0;
    loop {
        let rest = bytes.get(at..).unwrap_or_default();
        match rest.iter().position(|byte| matches!(byte, b'"' | b'\\')) {
            Some(length) if rest[length] == b'"' => return &text[..at + length],
            // What is escaped ends nothing.
            Some(length) => at += length + 2,
            None => return text,
        }
    }
}

fn unescaped(string: &str) -> Cow<'_, str> {
    match string.as_bytes().contains(&b'\\') {
        true => Cow::Owned(serde_json::from_str(&format!("\"{string}\"")).unwrap_or_default()),
        false => Cow::Borrowed(string),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_that_counts_is_marked() {
        use crate::catalog::{Loading, load};
        use crate::diagnostic::Source;
        use crate::validate::{Policy, Side, example::registry};

        let text = r#"{"name": "n", "catalog_format": 2, "resources": [{"type": "Notify",
            "title": "t", "kind": "compilable_type", "parameters": {"message": "a", "message": "b"}}]}"#;
        let catalog = load(&Source::new("c", text), &Loading::default()).unwrap();
        let found =
            crate::validate::catalog(&catalog, &registry(), &Side::Host, &Policy::default());
        let marked: Vec<(&str, &str)> = found
            .iter()
            .map(|found| (found.code, &text[found.labels[0].span.clone()]))
            .collect();
        assert_eq!(marked, [("duplicate-key", "\"b\"")]);
    }

    #[test]
    fn keys_are_compared_within_one_object_only() {
        let shown = |text: &str| -> Vec<String> {
            let paths = duplicate_keys(text);
            let shown = paths
                .iter()
                .map(|path| path.iter().map(ToString::to_string).collect());
            shown.collect()
        };
        assert_eq!(shown(r#"{"a": {"b": 1}, "b": [{"a": 1}, {"a": 2}]}"#), [""; 0]);
        assert_eq!(
            shown(r#"{"a": [0, {"x": 1, "y": 2, "x": 3}], "\u0061": null}"#),
            [".a[1].x", ".a"]
        );
        // What looks like a key or a bracket and stands in a string.
        assert_eq!(
            shown(r#"{"a\"": "{\"b\": 1, \"b\\\": [", "b": ["b", "b", {}], "c": {"a\u0022": "a", "b": {}}}"#),
            [""; 0]
        );
        assert_eq!(
            shown(r#"[{}, {"b": {"z": 1, "y": {"k": 0, "l": 0, "k": 0}}, "a": 1, "b": 2, "b": 3}]"#),
            ["[1].b.y.k", "[1].b", "[1].b"]
        );
    }
}
