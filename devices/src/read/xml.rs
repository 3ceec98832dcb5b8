//! XML as a tree of JSON, in the notation of RFC 7951.
//!
//! An element is a member of its parent's object, by its name. The name of an element whose
//! namespace differs from that of its parent has a prefix: `ietf-interfaces:interfaces`. Several
//! elements with one name are an array; one element alone is not, because XML does not declare
//! lists. An element without content is an empty text. An attribute without a prefix is the member
//! `@name`; the text of such an element is the member with an empty name. Other attributes are
//! metadata of the protocol and ignored. A text with a prefix that its element declares, the name of an
//! identity, has the prefix of the platform.

mod parse;
mod write;

use crate::document::Table;
use crate::map::IndexMap;

pub(crate) use self::parse::{answer, parse};
pub(crate) use self::write::write;

/// The namespace of NETCONF (RFC 6241), which always has the prefix `nc`.
pub(crate) const NETCONF: &str = "urn:ietf:params:xml:ns:netconf:base:1.0";
/// Its prefix.
const NETCONF_PREFIX: &str = "nc";

/// The namespaces of a platform by prefix.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Namespaces(IndexMap<String, String>);

impl Namespaces {
    /// Reads `[namespace]`: prefixes and their namespaces.
    pub(crate) fn load(table: &Table<'_>) -> Self {
        let mut all = IndexMap::default();
        for (prefix, span, item) in table.entries() {
            let Some(uri) = item.string() else {
                continue;
            };
            if prefix == NETCONF_PREFIX || !is_name(&prefix) {
                let message = format!("`{prefix}` cannot be the name of a namespace");
                table.findings.error("namespace", span, message);
            } else if all.values().any(|other| *other == uri) {
                let message = format!("the namespace `{uri}` has two names");
                table.findings.error("namespace", span, message);
            } else {
                all.insert(prefix, uri);
            }
        }
        Self(all)
    }

    /// The namespace with a prefix.
    pub(crate) fn uri(&self, prefix: &str) -> Option<&str> {
        match prefix {
            NETCONF_PREFIX => Some(NETCONF),
            prefix => self.0.get(prefix).map(String::as_str),
        }
    }

    /// The prefix of a namespace.
    fn prefix(&self, uri: &str) -> Option<&str> {
        if uri == NETCONF {
            return Some(NETCONF_PREFIX);
        }
        let found = self.0.iter().find(|(_, other)| *other == uri);
        found.map(|(prefix, _)| prefix.as_str())
    }

    /// The prefixes in the order of the platform.
    pub(crate) fn prefixes(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

/// Whether a text is the name of an element, without a prefix.
pub(crate) fn is_name(text: &str) -> bool {
    let mut characters = text.chars();
    let first = characters.next();
    first.is_some_and(|first| first.is_alphabetic() || first == '_')
        && characters.all(|next| next.is_alphanumeric() || "_-.".contains(next))
}

/// Why a text is not an answer in XML.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct XmlError(String);

impl XmlError {
    /// An answer in XML that is not the expected one.
    pub(crate) fn new(reason: &str) -> Self {
        Self(reason.to_owned())
    }
}

#[cfg(test)]
pub(crate) fn namespaces(pairs: &[(&str, &str)]) -> Namespaces {
    let pairs = pairs.iter();
    Namespaces(
        pairs
            .map(|(prefix, uri)| ((*prefix).to_owned(), (*uri).to_owned()))
            .collect(),
    )
}
