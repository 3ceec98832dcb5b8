//! A tree of JSON to XML: the reverse of `parse`.

use quick_xml::escape::{escape, partial_escape};
use serde_json::Value as Json;

use super::{Namespaces, is_name};
use crate::read::field_path::scalar_text;
use crate::secret::Text;

/// Why a tree cannot be sent as XML.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum XmlWriteError {
    #[error("a text has a character that XML does not permit")]
    Character,
    #[error("`{0}` is not the name of an element")]
    Name(String),
    #[error("`{0}` is not in [namespace] of the platform")]
    Namespace(String),
}

/// The XML of a tree. Texts for which `is_secret` is true are masked in output.
///
/// # Errors
/// A name or a text is not permitted.
pub(crate) fn write(
    tree: &Json,
    namespaces: &Namespaces,
    is_secret: &dyn Fn(&str) -> bool,
) -> Result<Text, XmlWriteError> {
    let mut writer = XmlWriter {
        namespaces,
        is_secret,
        out: Text::new(),
    };
    writer.content(tree, None)?;
    Ok(writer.out)
}

struct XmlWriter<'a> {
    namespaces: &'a Namespaces,
    is_secret: &'a dyn Fn(&str) -> bool,
    out: Text,
}

impl XmlWriter<'_> {
    /// The content of an element in a namespace.
    fn content(&mut self, value: &Json, namespace: Option<&str>) -> Result<(), XmlWriteError> {
        let Json::Object(fields) = value else {
            return self.text(&scalar_text(value).unwrap_or_default());
        };
        for (name, value) in fields {
            match value {
                _ if name.starts_with('@') => {}
                value if name.is_empty() => self.content(value, namespace)?,
                Json::Array(items) => {
                    for item in items {
                        self.element(name, item, namespace)?;
                    }
                }
                value => self.element(name, value, namespace)?,
            }
        }
        Ok(())
    }

    fn element(
        &mut self,
        name: &str,
        value: &Json,
        parent: Option<&str>,
    ) -> Result<(), XmlWriteError> {
        let (prefix, local) = match name.split_once(':') {
            Some((prefix, local)) => (Some(prefix), local),
            None => (None, name),
        };
        if !is_name(local) {
            return Err(XmlWriteError::Name(name.to_owned()));
        }
        self.out.push(format!("<{local}"));
        if let Some(prefix) = prefix.filter(|prefix| parent != Some(prefix)) {
            let uri = self.namespaces.uri(prefix);
            let uri = uri.ok_or_else(|| XmlWriteError::Namespace(prefix.to_owned()))?;
            self.out.push(format!(" xmlns=\"{}\"", escape(uri)));
        }
        // A text may be a name with a prefix (RFC 7950, section 9.10.3).
        if let Some((prefix, name)) = value.as_str().and_then(|text| text.split_once(':'))
            && let Some(uri) = self.namespaces.uri(prefix).filter(|_| is_name(name))
        {
            self.out
                .push(format!(" xmlns:{prefix}=\"{}\"", escape(uri)));
        }
        let fields = value.as_object();
        for (name, value) in fields.into_iter().flatten() {
            if let Some(name) = name.strip_prefix('@') {
                let value = scalar_text(value).unwrap_or_default();
                self.out
                    .push(format!(" {name}=\"{}\"", escape(checked(&value)?)));
            }
        }
        let is_empty = match value {
            Json::Null => true,
            Json::String(text) => text.is_empty(),
            Json::Object(fields) => fields.keys().all(|name| name.starts_with('@')),
            _ => false,
        };
        if is_empty {
            self.out.push("/>");
            return Ok(());
        }
        self.out.push(">");
        self.content(value, prefix.or(parent))?;
        self.out.push(format!("</{local}>"));
        Ok(())
    }

    fn text(&mut self, text: &str) -> Result<(), XmlWriteError> {
        let escaped = partial_escape(checked(text)?).replace('\r', "&#13;");
        if (self.is_secret)(text) {
            self.out.push_secret(escaped)
        } else {
            self.out.push(escaped)
        }
        Ok(())
    }
}

/// The text, if XML 1.0 permits its characters.
fn checked(text: &str) -> Result<&str, XmlWriteError> {
    let is_permitted = |character: char| match character {
        '\t' | '\n' | '\r' => true,
        '\u{fffe}' | '\u{ffff}' => false,
        character => character >= ' ',
    };
    if text.chars().all(is_permitted) {
        Ok(text)
    } else {
        Err(XmlWriteError::Character)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::{namespaces, parse};
    use super::*;

    #[test]
    fn xml_of_a_tree_is_read_back_and_masks_secrets() {
        let names = namespaces(&[("if", "urn:if"), ("ip", "urn:ip")]);
        let tree = json!({"if:interfaces": {"interface": [
            {"name": "a<b>&\"c\"", "ip:ipv4": {"mtu": "1500", "if:x": {"y": "1"}}, "up": ""},
            {"@inactive": "inactive", "type": "ip:tunnel", "key": "s<3cret", "line": " two\r\nlines "},
        ]}});
        let xml = write(&tree, &names, &|text| text == "s<3cret").expect("valid");
        assert_eq!(parse(&xml.reveal(), &names), Ok(tree));
        assert_eq!(
            xml.to_string(),
            "<interfaces xmlns=\"urn:if\"><interface><name>a&lt;b&gt;&amp;\"c\"</name>\
             <ipv4 xmlns=\"urn:ip\"><mtu>1500</mtu><x xmlns=\"urn:if\"><y>1</y></x></ipv4><up/></interface>\
             <interface inactive=\"inactive\"><type xmlns:ip=\"urn:ip\">ip:tunnel</type><key>••••</key><line> two&#13;\nlines </line></interface></interfaces>"
        );
    }

    #[test]
    fn xml_refuses_names_and_characters_that_cannot_be_sent() {
        let names = namespaces(&[("if", "urn:if")]);
        let cases = [
            (
                json!({"if:a": "x\u{1}"}),
                "a text has a character that XML does not permit",
            ),
            (
                json!({"if:a b": ""}),
                "`if:a b` is not the name of an element",
            ),
            (
                json!({"if:a><b": ""}),
                "`if:a><b` is not the name of an element",
            ),
            (
                json!({"ip:a": ""}),
                "`ip` is not in [namespace] of the platform",
            ),
        ];
        for (tree, expected) in cases {
            let error = write(&tree, &names, &|_| false).expect_err(expected);
            assert_eq!(error.to_string(), expected);
        }
    }
}
