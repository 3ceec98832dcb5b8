//! XML text to a tree of JSON.

use quick_xml::NsReader;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::name::ResolveResult;
use serde_json::{Map, Value as Json};

use super::{NETCONF_PREFIX, Namespaces, XmlError};

/// Elements in elements. Devices have fewer than 30.
const MAX_DEPTH: usize = 100;

/// An element that is not closed yet.
struct OpenElement {
    /// Its name in the object of its parent.
    name: String,
    namespace: Option<Vec<u8>>,
    fields: Map<String, Json>,
    text: String,
    has_elements: bool,
    /// The prefixes that it declares, each with that of the platform.
    prefixes: Vec<(String, String)>,
}

/// The tree of a text: an object with its outer elements.
///
/// # Errors
/// It is not XML, or has parts that no device may send: a document type, or unknown entities.
pub(crate) fn parse(text: &str, namespaces: &Namespaces) -> Result<Json, XmlError> {
    let mut reader = NsReader::from_str(text);
    reader.config_mut().expand_empty_elements = true;
    let mut document = OpenElement {
        name: String::new(),
        namespace: None,
        fields: Map::new(),
        text: String::new(),
        has_elements: true,
        prefixes: Vec::new(),
    };
    let mut open: Vec<OpenElement> = Vec::new();
    loop {
        let event = reader.read_event();
        let failed = |reason: String, at: u64| {
            let line = text.bytes().take(at as usize).filter(|byte| *byte == b'\n');
            XmlError(format!("not XML at line {}: {reason}", line.count() + 1))
        };
        let at = reader.buffer_position();
        let event = event.map_err(|error| failed(error.to_string(), reader.error_position()))?;
        let top = open.last_mut().unwrap_or(&mut document);
        match event {
            Event::Start(start) => {
                top.has_elements = true;
                let (found, local) = reader.resolver().resolve_element(start.name());
                let namespace = match found {
                    ResolveResult::Bound(namespace) => Some(namespace.0.to_vec()),
                    ResolveResult::Unbound => None,
                    ResolveResult::Unknown(prefix) => {
                        let prefix = String::from_utf8_lossy(&prefix).into_owned();
                        return Err(failed(format!("the prefix `{prefix}` is unknown"), at));
                    }
                };
                let local = String::from_utf8_lossy(local.as_ref()).into_owned();
                let name = if namespace == top.namespace {
                    local
                } else {
                    qualified(namespace.as_deref(), &local, namespaces)
                };
                let fields = attributes(&start).map_err(|reason| failed(reason, at))?;
                open.push(OpenElement {
                    name,
                    namespace,
                    fields,
                    text: String::new(),
                    has_elements: false,
                    prefixes: prefixes(&start, namespaces),
                });
                if open.len() > MAX_DEPTH {
                    let reason = format!("more than {MAX_DEPTH} elements in one another");
                    return Err(failed(reason, at));
                }
            }
            Event::End(_) => {
                let Some(element) = open.pop() else {
                    return Err(failed("an element is not open".to_owned(), at));
                };
                let parent = open.last_mut().unwrap_or(&mut document);
                let name = element.name.clone();
                let value = element.into_value().map_err(|reason| failed(reason, at))?;
                add(&mut parent.fields, name, value);
            }
            Event::Text(part) => {
                let part = part.xml10_content();
                top.text
                    .push_str(&part.map_err(|error| failed(error.to_string(), at))?);
            }
            Event::CData(part) => {
                let part = part.decode();
                top.text
                    .push_str(&part.map_err(|error| failed(error.to_string(), at))?);
            }
            Event::GeneralRef(entity) => {
                let resolved = resolve(&entity).map_err(|reason| failed(reason, at))?;
                top.text.push_str(&resolved);
            }
            Event::DocType(_) => {
                return Err(failed("a document type is not accepted".to_owned(), at));
            }
            Event::Eof if open.is_empty() => break,
            Event::Eof => {
                let name = open.pop().map(|element| element.name).unwrap_or_default();
                return Err(failed(format!("the element `{name}` is not closed"), at));
            }
            Event::Empty(_) | Event::Comment(_) | Event::Decl(_) | Event::PI(_) => {}
        }
    }
    if document.fields.is_empty() {
        return Err(XmlError("it has no XML element".to_owned()));
    }
    if !document.text.trim().is_empty() {
        return Err(XmlError("it has text outside of XML elements".to_owned()));
    }
    Ok(Json::Object(document.fields))
}

/// The tree of an answer, without the elements of the protocol around its data.
///
/// # Errors
/// As [`parse`].
pub(crate) fn answer(text: &str, namespaces: &Namespaces) -> Result<Json, XmlError> {
    let mut tree = parse(text, namespaces)?;
    for name in ["rpc-reply", "data"] {
        let Some(fields) = tree.as_object_mut() else {
            break;
        };
        let inner = fields.shift_remove(&format!("{NETCONF_PREFIX}:{name}"));
        if let Some(inner) = inner.or_else(|| fields.shift_remove(name)) {
            tree = inner;
        }
    }
    match tree {
        // An element without content.
        Json::String(text) if text.trim().is_empty() => Ok(Json::Object(Map::new())),
        Json::Object(mut fields) => {
            fields.retain(|name, _| !name.starts_with('@'));
            Ok(Json::Object(fields))
        }
        _ => Err(XmlError("its data has no XML element".to_owned())),
    }
}

impl OpenElement {
    fn into_value(mut self) -> Result<Json, String> {
        if self.has_elements {
            return if self.text.trim().is_empty() {
                Ok(Json::Object(self.fields))
            } else {
                Err(format!("`{}` has text between its elements", self.name))
            };
        }
        if let Some((prefix, name)) = self.text.trim().split_once(':')
            && let Some((_, own)) = self.prefixes.iter().find(|(other, _)| other == prefix)
        {
            self.text = format!("{own}:{name}");
        }
        if self.fields.is_empty() {
            return Ok(Json::String(self.text));
        }
        if !self.text.is_empty() {
            self.fields.insert(String::new(), Json::String(self.text));
        }
        Ok(Json::Object(self.fields))
    }
}

/// The name of an element with its prefix; the namespace itself if the platform does not name it.
fn qualified(namespace: Option<&[u8]>, local: &str, namespaces: &Namespaces) -> String {
    let Some(namespace) = namespace else {
        return local.to_owned();
    };
    let uri = String::from_utf8_lossy(namespace);
    match namespaces.prefix(&uri) {
        Some(prefix) => format!("{prefix}:{local}"),
        None => format!("{{{uri}}}{local}"),
    }
}

/// The prefixes that an element declares, each with that of the platform for the same namespace.
fn prefixes(start: &BytesStart<'_>, namespaces: &Namespaces) -> Vec<(String, String)> {
    let attributes = start.attributes().flatten();
    let declared = attributes.filter_map(|attribute| {
        let name = std::str::from_utf8(attribute.key.as_ref()).ok()?;
        let prefix = name.strip_prefix("xmlns:")?;
        let own = namespaces.prefix(std::str::from_utf8(&attribute.value).ok()?)?;
        Some((prefix.to_owned(), own.to_owned()))
    });
    declared.collect()
}

/// The attributes without a prefix.
fn attributes(start: &BytesStart<'_>) -> Result<Map<String, Json>, String> {
    let mut fields = Map::new();
    for attribute in start.attributes() {
        let attribute = attribute.map_err(|error| error.to_string())?;
        let name = String::from_utf8_lossy(attribute.key.as_ref()).into_owned();
        if name == "xmlns" || name.contains(':') {
            continue;
        }
        let value = std::str::from_utf8(&attribute.value).map_err(|error| error.to_string())?;
        let value = quick_xml::escape::unescape(value).map_err(|error| error.to_string())?;
        fields.insert(format!("@{name}"), Json::from(value.as_ref()));
    }
    Ok(fields)
}

/// The text of `&amp;` or `&#10;`.
fn resolve(entity: &BytesRef<'_>) -> Result<String, String> {
    let character = entity.resolve_char_ref();
    if let Some(character) = character.map_err(|error| error.to_string())? {
        return Ok(character.to_string());
    }
    let name = entity.decode().map_err(|error| error.to_string())?;
    let text = resolve_predefined_entity(&name);
    text.map(str::to_owned)
        .ok_or_else(|| format!("the entity `{name}` is unknown"))
}

/// Adds an element; the second with one name makes an array.
fn add(fields: &mut Map<String, Json>, name: String, value: Json) {
    match fields.get_mut(&name) {
        None => {
            fields.insert(name, value);
        }
        Some(Json::Array(items)) => items.push(value),
        Some(first) => {
            let both = vec![first.take(), value];
            *first = Json::Array(both);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::namespaces;
    use super::*;

    fn tree(text: &str) -> Result<Json, String> {
        let names = namespaces(&[("if", "urn:if"), ("ip", "urn:ip")]);
        answer(text, &names).map_err(|error| error.to_string())
    }

    #[test]
    fn xml_becomes_the_tree_of_its_json_encoding() {
        let text = r#"<?xml version="1.0"?>
<rpc-reply xmlns="urn:ietf:params:xml:ns:netconf:base:1.0" message-id="1"><data>
  <interfaces xmlns="urn:if" xmlns:i="urn:ip">
    <!-- ports --><interface><name>eth0</name><i:ipv4><i:mtu>1500</i:mtu></i:ipv4></interface>
    <interface inactive="inactive"><name>a &lt;b&gt; &#38; <![CDATA[<c>]]></name><enabled/></interface>
    <other xmlns="urn:other">x</other><type
        xmlns:p="urn:ip">p:tunnel</type><type>i:text</type>
  </interfaces></data></rpc-reply>"#;
        let expected = json!({"if:interfaces": {
            "interface": [
                {"name": "eth0", "ip:ipv4": {"mtu": "1500"}},
                {"@inactive": "inactive", "name": "a <b> & <c>", "enabled": ""},
            ],
            "{urn:other}other": "x",
            "type": ["ip:tunnel", "i:text"],
        }});
        assert_eq!(tree(text), Ok(expected));
    }

    #[test]
    fn xml_answers_may_lack_the_elements_of_the_protocol() {
        let expected = Ok(json!({"if:a": {"b": "1"}}));
        let outer = "urn:ietf:params:xml:ns:netconf:base:1.0";
        let inner = "<a xmlns='urn:if'><b>1</b></a>";
        for text in [
            inner.to_owned(),
            format!("<data xmlns='{outer}'>{inner}</data>"),
            format!("<nc:rpc-reply xmlns:nc='{outer}' message-id='1'>{inner}</nc:rpc-reply>"),
        ] {
            assert_eq!(tree(&text), expected, "{text}");
        }
        for text in ["<data/>", "<rpc-reply><data>\n</data></rpc-reply>"] {
            let text = text.replacen("<", "<x:", 1);
            let text = text.replace("/>", &format!(" xmlns:x='{outer}'/>"));
            if text.ends_with("/>") {
                assert_eq!(tree(&text), Ok(json!({})), "{text}");
            }
        }
    }

    #[test]
    fn xml_that_is_hostile_or_incomplete_is_refused() {
        let deep = "<a>".repeat(101);
        let cases = [
            ("", "it has no XML element"),
            ("text", "it has no XML element"),
            ("<a/>text", "it has text outside of XML elements"),
            ("<a>\n<b></a>", "not XML at line 2: "),
            ("<a>", "not XML at line 1: the element `a` is not closed"),
            (
                "<a>x<b/></a>",
                "not XML at line 1: `a` has text between its elements",
            ),
            ("<x:a/>", "not XML at line 1: the prefix `x` is unknown"),
            (
                "<!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'>]><a>&b;</a>",
                "not XML at line 1: a document type is not accepted",
            ),
            ("<a>&b;</a>", "not XML at line 1: the entity `b` is unknown"),
            (
                &deep,
                "not XML at line 1: more than 100 elements in one another",
            ),
        ];
        for (text, expected) in cases {
            let error = tree(text).expect_err(text);
            assert!(error.starts_with(expected), "{text}: {error}");
        }
    }
}
