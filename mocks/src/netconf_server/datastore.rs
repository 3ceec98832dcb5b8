//! Edits and filters of a configuration (RFC 6241, sections 6 and 7.2).

use super::element::Element;

/// The keys of the lists in ietf-interfaces, ietf-ip and ietf-system (RFC 8343, 8344 and 7317).
const KEYS: &[(&str, &str)] = &[
    ("interface", "name"),
    ("address", "ip"),
    ("neighbor", "ip"),
    ("server", "name"),
    ("user", "name"),
];

/// The tag of an error and its message.
pub(super) type EditError = (&'static str, String);

/// The key of an entry of a list.
fn key(element: &Element) -> Option<&str> {
    let (_, key) = KEYS.iter().find(|(name, _)| *name == element.name)?;
    element.field(key)
}

fn is_same(one: &Element, other: &Element) -> bool {
    one.name == other.name && one.namespace == other.namespace && key(one) == key(other)
}

/// Applies an element of an edit to the elements around it.
pub(super) fn edit(elements: &mut Vec<Element>, change: &Element) -> Result<(), EditError> {
    let at = elements.iter().position(|element| is_same(element, change));
    match (change.operation.as_deref().unwrap_or("merge"), at) {
        ("create", Some(_)) => Err(("data-exists", format!("{} exists", change.name))),
        ("delete", None) => Err(("data-missing", format!("{} does not exist", change.name))),
        ("delete" | "remove", Some(at)) => {
            elements.remove(at);
            Ok(())
        }
        ("remove", None) => Ok(()),
        ("replace", Some(at)) => {
            elements[at] = change.empty();
            merge(&mut elements[at], change)
        }
        ("merge", Some(at)) => {
            merge(&mut elements[at], change)?;
            // A container without content does not exist (RFC 7950, section 7.5.1).
            if elements[at].children.is_empty() && !change.children.is_empty() {
                elements.remove(at);
            }
            Ok(())
        }
        ("merge" | "create" | "replace", None) => {
            let mut created = change.empty();
            merge(&mut created, change)?;
            elements.push(created);
            Ok(())
        }
        (operation, _) => Err(("bad-attribute", format!("unknown operation {operation}"))),
    }
}

fn merge(element: &mut Element, change: &Element) -> Result<(), EditError> {
    if change.children.is_empty() {
        let children = std::mem::take(&mut element.children);
        *element = Element {
            children,
            ..change.empty()
        };
    }
    let mut children = change.children.iter();
    children.try_for_each(|child| edit(&mut element.children, child))
}

/// The elements that a subtree filter selects.
pub(super) fn select(elements: &[Element], filters: &[Element]) -> Vec<Element> {
    let mut selected = Vec::new();
    for element in elements {
        let filter = filters.iter().find(|filter| {
            let is_named = filter.name == element.name;
            is_named && (filter.namespace.is_empty() || filter.namespace == element.namespace)
        });
        let Some(filter) = filter else {
            continue;
        };
        let is_match = |child: &Element| child.children.is_empty() && !child.text.is_empty();
        let (matches, inner): (Vec<&Element>, Vec<&Element>) =
            filter.children.iter().partition(|child| is_match(child));
        let mut matching = matches.iter();
        if !matching.all(|child| element.field(&child.name) == Some(child.text.as_str())) {
            continue;
        }
        if inner.is_empty() {
            selected.push(element.clone());
            continue;
        }
        let children = select(&element.children, &filter.children);
        if !children.is_empty() {
            selected.push(Element {
                children,
                ..element.clone()
            });
        }
    }
    selected
}

/// What a server refuses at a commit: an interface has a type (RFC 8343).
pub(super) fn invalid(elements: &[Element]) -> Option<String> {
    elements.iter().find_map(|element| {
        let is_entry = element.name == "interface" && key(element).is_some();
        if is_entry && element.child("type").is_none() {
            Some("required value instance not found: type".to_owned())
        } else {
            invalid(&element.children)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: &str = "<data xmlns=\"urn:x\"><interfaces><interface><name>eth0</name><type>t</type></interface>\
        <interface><name>eth1</name><enabled>false</enabled></interface></interfaces></data>";

    fn after(change: &str) -> Result<String, EditError> {
        let mut elements = Element::parse(CONFIG).expect("XML").children;
        let change = format!(
            "<config xmlns=\"urn:x\" xmlns:nc=\"urn:ietf:params:xml:ns:netconf:base:1.0\">{change}</config>"
        );
        for change in &Element::parse(&change).expect("XML").children {
            edit(&mut elements, change)?;
        }
        Ok(Element::write_all(&elements, "urn:x"))
    }

    #[test]
    fn edits_merge_create_replace_and_delete() {
        let eth0 = "<interface><name>eth0</name><type>t</type></interface>";
        let eth1 = "<interface><name>eth1</name><enabled>false</enabled></interface>";
        let interfaces = |inner: &str| format!("<interfaces>{inner}</interfaces>");
        let cases = [
            (
                "<interface><name>eth1</name><enabled>true</enabled><mtu>9</mtu></interface>",
                Ok(format!(
                    "{eth0}<interface><name>eth1</name><enabled>true</enabled><mtu>9</mtu></interface>"
                )),
            ),
            (
                "<interface nc:operation=\"replace\"><name>eth1</name></interface>",
                Ok(format!("{eth0}<interface><name>eth1</name></interface>")),
            ),
            (
                "<interface><name>eth1</name><enabled nc:operation=\"delete\"/></interface>",
                Ok(format!("{eth0}<interface><name>eth1</name></interface>")),
            ),
            (
                "<interface nc:operation=\"delete\"><name>eth0</name></interface>",
                Ok(eth1.to_owned()),
            ),
            (
                "<interface nc:operation=\"create\"><name>eth0</name></interface>",
                Err("data-exists"),
            ),
            (
                "<interface nc:operation=\"delete\"><name>eth2</name></interface>",
                Err("data-missing"),
            ),
            (
                "<interface nc:operation=\"remove\"><name>eth2</name></interface>",
                Ok(format!("{eth0}{eth1}")),
            ),
        ];
        for (change, expected) in cases {
            let found = after(&interfaces(change)).map_err(|(tag, _)| tag);
            assert_eq!(found, expected.map(|inner| interfaces(&inner)), "{change}");
        }
    }

    #[test]
    fn filters_select_elements_by_name_and_content() {
        let elements = Element::parse(CONFIG).expect("XML").children;
        for (filter, expected) in [
            (
                "<interface><name/></interface>",
                "<interface><name>eth0</name></interface><interface><name>eth1</name></interface>",
            ),
            (
                "<interface><name>eth1</name></interface>",
                "<interface><name>eth1</name><enabled>false</enabled></interface>",
            ),
            (
                "<interface><name>eth0</name><type/></interface>",
                "<interface><name>eth0</name><type>t</type></interface>",
            ),
            ("<interface><name>eth9</name></interface>", ""),
        ] {
            let text =
                format!("<filter xmlns=\"urn:x\"><interfaces>{filter}</interfaces></filter>");
            let found = select(&elements, &Element::parse(&text).expect("XML").children);
            let expected = match expected {
                "" => String::new(),
                inner => format!("<interfaces>{inner}</interfaces>"),
            };
            assert_eq!(Element::write_all(&found, "urn:x"), expected, "{filter}");
        }
    }
}
