//! A key that an object contains twice.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt;

use serde::Deserializer;
use serde::de::{DeserializeSeed, MapAccess, SeqAccess, Visitor};

use super::{Effects, Example, Rule, RuleCheck};
use crate::catalog::Segment;
use crate::diagnostic::Severity;
use crate::validate::finding::{Location, RuleFinding, RuleFindings};
use crate::validate::rule_context::RuleContext;

pub(crate) const RULE: Rule = Rule {
    code: "duplicate-key",
    severity: Severity::Error,
    effects: Effects::REFUSE_DEVICE,
    summary: "a key that an object contains twice",
    explanation: "\
JSON does not define which of the two values is used, and parsers differ. Compilers do not write
duplicate keys: the catalog was edited by hand or merged as text.",
    bad: r#"
{
  "name": "sw1.example.net",
  "catalog_format": 2,
  "resources": [
    {"type": "Network_vlan", "title": "40", "kind": "compilable_type", "parameters": {
      "vlan_name": "users", "vlan_name": «"printers"»
    }}
  ]
}
"#,
    good: r#"
{
  "name": "sw1.example.net",
  "catalog_format": 2,
  "resources": [
    {"type": "Network_vlan", "title": "40", "kind": "compilable_type", "parameters": {
      "vlan_name": "printers"
    }}
  ]
}
"#,
    example: Example::Json,
    check: RuleCheck::Catalog(check),
};

/// Maximum number of findings.
const LIMIT: usize = 100;

fn check(context: &RuleContext<'_>, findings: &mut RuleFindings) {
    for path in duplicate_keys(&context.catalog.source.text) {
        let key = path.last().map(|key| key.to_string()).unwrap_or_default();
        findings.push(
            RuleFinding::new(
                &RULE,
                Location::Path(path),
                format!("the object contains the key `{}` twice", key.trim_start_matches('.')),
            )
            .label("this value is used"),
        );
    }
}

fn duplicate_keys(text: &str) -> Vec<Vec<Segment>> {
    let found = RefCell::default();
    let path = RefCell::default();
    let keys = KeyVisitor {
        found: &found,
        path: &path,
    };
    // The catalog was loaded from this text, so it parses.
    let _ = keys.deserialize(&mut serde_json::Deserializer::from_str(text));
    found.into_inner()
}

/// Collects the paths of duplicate keys of a value.
#[derive(Clone, Copy)]
struct KeyVisitor<'a, 'de> {
    found: &'a RefCell<Vec<Vec<Segment>>>,
    path: &'a RefCell<Vec<Step<'de>>>,
}

/// A step of the current path.
enum Step<'de> {
    Key(Cow<'de, str>),
    Index(usize),
}

impl<'de> DeserializeSeed<'de> for KeyVisitor<'_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for KeyVisitor<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        self.path.borrow_mut().push(Step::Index(0));
        while items.next_element_seed(self)?.is_some() {
            if let Some(Step::Index(index)) = self.path.borrow_mut().last_mut() {
                *index += 1;
            }
        }
        self.path.borrow_mut().pop();
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        // A tree, so that a large hostile object does not cost quadratic time.
        let mut seen: BTreeSet<Cow<'de, str>> = BTreeSet::new();
        while let Some(key) = entries.next_key_seed(KeySeed)? {
            self.path.borrow_mut().push(Step::Key(key.clone()));
            if !seen.insert(key) && self.found.borrow().len() < LIMIT {
                let path = self.path.borrow();
                let path = path.iter().map(|step| match step {
                    Step::Key(key) => Segment::Key(key.to_string()),
                    Step::Index(index) => Segment::Index(*index),
                });
                self.found.borrow_mut().push(path.collect());
            }
            entries.next_value_seed(self)?;
            self.path.borrow_mut().pop();
        }
        Ok(())
    }
}

/// Reads a key, borrowed from the text if it has no escapes.
struct KeySeed;

impl<'de> DeserializeSeed<'de> for KeySeed {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for KeySeed {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_borrowed_str<E>(self, key: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(key))
    }

    fn visit_str<E>(self, key: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(key.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duplicate_key_labels_the_used_key() {
        use crate::catalog::{Loading, load};
        use crate::diagnostic::Source;
        use crate::validate::{Policy, CatalogTarget, example::registry};

        let text = r#"{"name": "n", "catalog_format": 2, "resources": [{"type": "Notify",
            "title": "t", "kind": "compilable_type", "parameters": {"message": "a", "message": "b"}}]}"#;
        let catalog = load(&Source::new("c", text), &Loading::default()).unwrap();
        let found =
            crate::validate::catalog(&catalog, &registry(), &CatalogTarget::Host, &Policy::default());
        let marked: Vec<(&str, &str)> = found
            .iter()
            .map(|found| (found.code, &text[found.labels[0].span.clone()]))
            .collect();
        assert_eq!(marked, [("duplicate-key", "\"b\"")]);
    }

    #[test]
    fn duplicate_key_compares_keys_of_one_object() {
        let key_paths = |text: &str| -> Vec<String> {
            let paths = duplicate_keys(text);
            let rendered = paths
                .iter()
                .map(|path| path.iter().map(ToString::to_string).collect());
            rendered.collect()
        };
        assert_eq!(key_paths(r#"{"a": {"b": 1}, "b": [{"a": 1}, {"a": 2}]}"#), [""; 0]);
        assert_eq!(
            key_paths(r#"{"a": [0, {"x": 1, "y": 2, "x": 3}], "\u0061": null}"#),
            [".a[1].x", ".a"]
        );
    }
}
