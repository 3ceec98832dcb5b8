//! XML elements of a configuration: parsed, compared and written.

use std::fmt::Write as _;

use quick_xml::NsReader;
use quick_xml::escape::{escape, resolve_predefined_entity, unescape};
use quick_xml::events::{BytesStart, Event};
use quick_xml::name::{PrefixDeclaration, ResolveResult};

/// The namespace of the protocol.
pub(super) const BASE: &str = "urn:ietf:params:xml:ns:netconf:base:1.0";

/// An element with its content.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Element {
    pub(super) name: String,
    pub(super) namespace: String,
    /// `operation` of the protocol (RFC 6241, section 7.2).
    pub(super) operation: Option<String>,
    /// The place of an entry in its list, as an edit names it.
    pub(super) position: Option<InsertPosition>,
    /// The device does not use it: Junos marks it by `inactive`.
    pub(super) is_inactive: bool,
    /// An edit activates it: Junos has `active` for this.
    pub(super) is_activated: bool,
    /// Prefixes that the text can contain, each with its namespace.
    pub(super) prefixes: Vec<(String, String)>,
    pub(super) text: String,
    pub(super) children: Vec<Element>,
}

/// The place of an entry in its list (RFC 7950, section 7.8.6), with the keys of another entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum InsertPosition {
    First,
    Last,
    Before(Vec<(String, String)>),
    After(Vec<(String, String)>),
}

impl InsertPosition {
    /// The place in the attribute `insert`; `key` are predicates, `[name='x']`, or the text of a leaf.
    fn new(insert: &str, key: &str) -> Option<Self> {
        let predicates = key.split(['[', ']']).filter_map(|predicate| {
            let (name, value) = predicate.split_once('=')?;
            let name = name.rsplit(':').next()?;
            let value = value.trim_matches(['\'', '"']);
            Some((name.to_owned(), value.to_owned()))
        });
        let mut keys: Vec<_> = predicates.collect();
        if keys.is_empty() {
            keys.push((String::new(), key.to_owned()));
        }
        match insert {
            "first" => Some(Self::First),
            "last" => Some(Self::Last),
            "before" => Some(Self::Before(keys)),
            "after" => Some(Self::After(keys)),
            _ => None,
        }
    }
}

impl Element {
    /// The outer element of a text.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut reader = NsReader::from_str(text);
        reader.config_mut().expand_empty_elements = true;
        let mut open = vec![Element::default()];
        loop {
            let event = reader.read_event().map_err(|error| error.to_string())?;
            let depth = open.len();
            let top = open.last_mut().ok_or("an element is not open")?;
            match event {
                Event::Start(start) => {
                    let element = opened(&reader, &start)?;
                    open.push(element);
                }
                Event::End(_) if depth > 1 => {
                    let mut element = open.pop().unwrap_or_default();
                    if !element.children.is_empty() {
                        element.text.clear();
                    }
                    element.text = element.text.trim().to_owned();
                    if let Some(parent) = open.last_mut() {
                        parent.children.push(element);
                    }
                }
                Event::Text(text) => {
                    let text = text.xml10_content().map_err(|error| error.to_string())?;
                    top.text.push_str(&text);
                }
                Event::GeneralRef(entity) => {
                    let name = String::from_utf8_lossy(&entity).into_owned();
                    let character = entity.resolve_char_ref().ok().flatten();
                    match (character, resolve_predefined_entity(&name)) {
                        (Some(character), _) => top.text.push(character),
                        (None, Some(text)) => top.text.push_str(text),
                        (None, None) => return Err(format!("unknown entity `{name}`")),
                    }
                }
                Event::Eof => break,
                _ => {}
            }
        }
        let document = open.swap_remove(0);
        if open.is_empty() {
            document.children.into_iter().next()
        } else {
            None
        }
        .ok_or_else(|| "an element is not closed".to_owned())
    }

    pub(super) fn child(&self, name: &str) -> Option<&Element> {
        self.children.iter().find(|child| child.name == name)
    }

    /// The text of a child.
    pub(super) fn field(&self, name: &str) -> Option<&str> {
        self.child(name).map(|child| child.text.as_str())
    }

    /// The element without content.
    pub(super) fn empty(&self) -> Self {
        Self {
            operation: None,
            position: None,
            is_activated: false,
            children: Vec::new(),
            ..self.clone()
        }
    }

    /// Writes the elements; `namespace` is that of the element around them.
    pub(super) fn write_all(elements: &[Element], namespace: &str) -> String {
        let mut text = String::new();
        for element in elements {
            element.write(&mut text, namespace);
        }
        text
    }

    fn write(&self, text: &mut String, namespace: &str) {
        let _ = write!(text, "<{}", self.name);
        if self.namespace != namespace {
            let _ = write!(text, " xmlns=\"{}\"", escape(self.namespace.as_str()));
        }
        if self.is_inactive {
            text.push_str(" inactive=\"inactive\"");
        }
        for (prefix, uri) in &self.prefixes {
            let _ = write!(text, " xmlns:{prefix}=\"{}\"", escape(uri.as_str()));
        }
        let inner = Self::write_all(&self.children, &self.namespace);
        let _ = write!(
            text,
            ">{}{inner}</{}>",
            escape(self.text.as_str()),
            self.name
        );
    }
}

/// An element at its first tag.
fn opened(reader: &NsReader<&[u8]>, start: &BytesStart<'_>) -> Result<Element, String> {
    let (namespace, local) = reader.resolver().resolve_element(start.name());
    let namespace = match namespace {
        ResolveResult::Bound(namespace) => String::from_utf8_lossy(namespace.0).into_owned(),
        ResolveResult::Unbound => String::new(),
        ResolveResult::Unknown(_) => return Err("unknown prefix".to_owned()),
    };
    let mut element = Element {
        name: String::from_utf8_lossy(local.as_ref()).into_owned(),
        namespace,
        ..Element::default()
    };
    let (mut insert, mut key) = (String::new(), String::new());
    for attribute in start.attributes() {
        let attribute = attribute.map_err(|error| error.to_string())?;
        let value = String::from_utf8_lossy(&attribute.value).into_owned();
        let value = unescape(&value)
            .map_err(|error| error.to_string())?
            .into_owned();
        match attribute.key.as_namespace_binding() {
            Some(PrefixDeclaration::Named(prefix)) if value != BASE => {
                let prefix = String::from_utf8_lossy(prefix).into_owned();
                element.prefixes.push((prefix, value));
            }
            Some(_) => {}
            None => match attribute.key.local_name().as_ref() {
                b"operation" => element.operation = Some(value),
                b"insert" => insert = value,
                b"inactive" => element.is_inactive = true,
                b"active" => element.is_activated = true,
                b"key" | b"value" => key = value,
                other => {
                    let name = String::from_utf8_lossy(other);
                    key.push_str(&format!("[{name}='{value}']"));
                }
            },
        }
    }
    element.position = InsertPosition::new(&insert, &key);
    Ok(element)
}
