//! Edits and filters of a configuration (RFC 6241, sections 6 and 7.2).

use switchtender_outline::ElementList;

use super::element::{Element, InsertPosition};

/// The tag of an error and its message.
pub(super) type EditError = (&'static str, String);

/// Which elements are lists, and what identifies their entries.
#[derive(Debug, Default)]
pub(super) struct ConfigurationRules(Vec<ElementList>);

/// What two elements of one entry have in common, besides their name.
enum ElementIdentity<'r> {
    /// The parent has one such element.
    Name,
    Keys(&'r [String]),
    Text,
    /// An undeclared list: the first child is the key.
    FirstChild,
}

impl ConfigurationRules {
    pub(super) fn new(lists: Vec<ElementList>) -> Self {
        Self(lists)
    }

    /// The list of the elements at a path.
    fn list(&self, path: &[&str]) -> Option<&ElementList> {
        self.0.iter().find(|list| {
            let own = list.path.iter().rev();
            list.path.len() <= path.len()
                && own.zip(path.iter().rev()).all(|(own, name)| own == name)
        })
    }

    fn identity(
        &self,
        path: &[&str],
        elements: &[Element],
        others: &[Element],
    ) -> ElementIdentity<'_> {
        let name = path.last().copied().unwrap_or_default();
        let is_repeated = |all: &[Element]| all.iter().filter(|one| one.name == name).count() > 1;
        match self.list(path) {
            Some(list) if list.keys.is_empty() => ElementIdentity::Text,
            Some(list) => ElementIdentity::Keys(&list.keys),
            None if is_repeated(elements) || is_repeated(others) => ElementIdentity::FirstChild,
            None => ElementIdentity::Name,
        }
    }

    /// Applies the elements of an edit to the elements at the same place; `outer` are the names around them.
    pub(super) fn edit(
        &self,
        outer: &[&str],
        elements: &mut Vec<Element>,
        changes: &[Element],
    ) -> Result<(), EditError> {
        let mut one_by_one = changes.iter();
        one_by_one.try_for_each(|change| {
            let path = [outer, &[change.name.as_str()]].concat();
            let identity = self.identity(&path, elements, changes);
            if let ElementIdentity::Keys(keys) = &identity
                && let Some(key) = keys.iter().find(|key| change.field(key).is_none())
            {
                let message = format!("{} requires its key {key}", change.name);
                return Err(("missing-element", message));
            }
            self.edit_one(&path, elements, (change, &identity))
        })
    }

    fn edit_one(
        &self,
        path: &[&str],
        elements: &mut Vec<Element>,
        (change, identity): (&Element, &ElementIdentity<'_>),
    ) -> Result<(), EditError> {
        let at = elements
            .iter()
            .position(|one| identity.is_same(one, change));
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
                self.merge(path, &mut elements[at], change)?;
                insert(elements, at, (change, identity))
            }
            ("merge", Some(at)) => {
                self.merge(path, &mut elements[at], change)?;
                // A container without content does not exist (RFC 7950, section 7.5.1).
                if elements[at].children.is_empty() && !change.children.is_empty() {
                    elements.remove(at);
                    return Ok(());
                }
                insert(elements, at, (change, identity))
            }
            ("merge" | "create" | "replace", None) => {
                let mut created = change.empty();
                self.merge(path, &mut created, change)?;
                elements.push(created);
                insert(elements, elements.len() - 1, (change, identity))
            }
            (operation, _) => Err(("bad-attribute", format!("unknown operation {operation}"))),
        }
    }

    fn merge(
        &self,
        path: &[&str],
        element: &mut Element,
        change: &Element,
    ) -> Result<(), EditError> {
        // What an edit does not activate stays inactive.
        let is_inactive = change.is_inactive || element.is_inactive && !change.is_activated;
        if change.children.is_empty() {
            *element = Element {
                children: std::mem::take(&mut element.children),
                ..change.empty()
            };
        }
        element.is_inactive = is_inactive;
        self.edit(path, &mut element.children, &change.children)
    }

    /// What a server refuses at a commit: an entry of a list lacks an element that it requires.
    pub(super) fn invalid(&self, outer: &[&str], elements: &[Element]) -> Option<String> {
        elements.iter().find_map(|element| {
            let path = [outer, &[element.name.as_str()]].concat();
            let list = self.list(&path);
            let list = list.filter(|list| list.keys.iter().all(|key| element.field(key).is_some()));
            let mut required = list.iter().flat_map(|list| &list.required);
            match required.find(|name| element.child(name).is_none()) {
                Some(name) => Some(format!("required value instance not found: {name}")),
                None => self.invalid(&path, &element.children),
            }
        })
    }
}

impl ElementIdentity<'_> {
    fn is_same(&self, one: &Element, other: &Element) -> bool {
        let is_named = one.name == other.name && one.namespace == other.namespace;
        is_named
            && match self {
                Self::Name => true,
                Self::Keys(keys) => keys.iter().all(|key| one.field(key) == other.field(key)),
                Self::Text => one.text == other.text,
                Self::FirstChild => {
                    one.text == other.text && one.children.first() == other.children.first()
                }
            }
    }
}

/// Moves an entry of a list to the place that an edit names (RFC 7950, section 7.8.6).
fn insert(
    elements: &mut Vec<Element>,
    at: usize,
    (change, identity): (&Element, &ElementIdentity<'_>),
) -> Result<(), EditError> {
    let Some(position) = &change.position else {
        return Ok(());
    };
    let moved = elements.remove(at);
    let is_entry = |one: &Element| one.name == moved.name && one.namespace == moved.namespace;
    let target = match position {
        InsertPosition::First => elements.iter().position(is_entry),
        InsertPosition::Last => elements.iter().rposition(is_entry).map(|last| last + 1),
        InsertPosition::Before(key) | InsertPosition::After(key) => {
            let target = elements.iter().position(|one| {
                let has_key = |(name, value): &(String, String)| match name.as_str() {
                    "" => one.text == *value,
                    name => one.field(name) == Some(value),
                };
                is_entry(one) && !identity.is_same(one, change) && key.iter().all(has_key)
            });
            let Some(target) = target else {
                let message = format!("the place of {} does not exist", change.name);
                return Err(("bad-attribute", message));
            };
            Some(target + usize::from(matches!(position, InsertPosition::After(_))))
        }
    };
    elements.insert(target.unwrap_or(elements.len()), moved);
    Ok(())
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

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: &str = "<data xmlns=\"urn:x\"><interfaces><interface><name>eth0</name><type>t</type></interface>\
        <interface><name>eth1</name><enabled>false</enabled></interface></interfaces></data>";

    fn after(change: &str) -> Result<String, EditError> {
        let mut elements = Element::parse(CONFIG).expect("XML").children;
        let rules = ConfigurationRules::new(super::super::ietf_lists());
        let change = format!(
            "<config xmlns=\"urn:x\" xmlns:nc=\"urn:ietf:params:xml:ns:netconf:base:1.0\">{change}</config>"
        );
        let changes = Element::parse(&change).expect("XML").children;
        rules.edit(&[], &mut elements, &changes)?;
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
    fn edits_preserve_what_is_inactive_unless_they_activate_it() {
        let config = "<data xmlns=\"urn:x\"><term inactive=\"inactive\"><name>a</name><count inactive=\"inactive\">1</count></term></data>";
        let rules = ConfigurationRules::default();
        for (change, expected) in [
            (
                "<term><name>a</name><log/></term>",
                "<term inactive=\"inactive\"><name>a</name><count inactive=\"inactive\">1</count><log></log></term>",
            ),
            (
                "<term active=\"active\"><name>a</name></term>",
                "<term><name>a</name><count inactive=\"inactive\">1</count></term>",
            ),
            (
                "<term><name>a</name><count active=\"active\">2</count></term>",
                "<term inactive=\"inactive\"><name>a</name><count>2</count></term>",
            ),
        ] {
            let mut elements = Element::parse(config).expect("XML").children;
            let text = format!("<config xmlns=\"urn:x\">{change}</config>");
            let changes = Element::parse(&text).expect("XML").children;
            rules.edit(&[], &mut elements, &changes).expect("valid");
            assert_eq!(Element::write_all(&elements, "urn:x"), expected, "{change}");
        }
    }

    #[test]
    fn entries_are_inserted_before_and_behind_others() {
        let entry = |name: &str| format!("<interface><name>{name}</name></interface>");
        let (eth0, eth1) = (
            "<interface><name>eth0</name><type>t</type></interface>",
            "<interface><name>eth1</name><enabled>false</enabled></interface>",
        );
        let eth2 = entry("eth2");
        for (attributes, expected) in [
            ("insert=\"first\"", format!("{eth2}{eth0}{eth1}")),
            ("insert=\"last\"", format!("{eth0}{eth1}{eth2}")),
            (
                "insert=\"after\" key=\"[x:name=&apos;eth0&apos;]\"",
                format!("{eth0}{eth2}{eth1}"),
            ),
            (
                "insert=\"before\" name=\"eth1\"",
                format!("{eth0}{eth2}{eth1}"),
            ),
        ] {
            let change = format!(
                "<interfaces><interface {attributes}><name>eth2</name></interface></interfaces>"
            );
            let expected = format!("<interfaces>{expected}</interfaces>");
            assert_eq!(after(&change).ok(), Some(expected), "{attributes}");
        }
        let lost = "<interfaces><interface insert=\"after\" name=\"eth9\"><name>eth2</name></interface></interfaces>";
        assert!(after(lost).is_err(), "its place does not exist");
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
