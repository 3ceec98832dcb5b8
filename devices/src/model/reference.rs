//! References: values that name objects of the device, and their order.
//!
//! The key `refers` of an attribute has them. The object is created before a resource whose value
//! names it, and removed after the value.

use std::ops::Range;
use std::sync::Arc;

use super::{AttributeModel, Role, TypeModel, ValueSpec};
use crate::diagnostic::{Diagnostic, Source};
use crate::names::TypeName;
use crate::pattern::Pattern;
use crate::value::{Attributes, Name, Value};

/// A reference of an attribute to an object of one type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The attribute with the value.
    pub attribute: Name,
    /// Type of the object, or of its entries.
    pub target: TypeName,
    pub(crate) part: ReferencePart,
    /// The name of the object, with `{}` for the text. `None`: the text.
    pub(crate) name: Option<String>,
    /// Whether the name can be that of an object without a type, such as a tunnel instead of a VLAN:
    /// a missing object is no finding.
    pub others: bool,
}

/// The part of a value that names the object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ReferencePart {
    /// Each text.
    Complete,
    /// A field of structs.
    Field(String),
    /// The single numbers of a list such as `10,20-29`. Ranges are no references, because their
    /// instances need not all exist.
    Numbers,
    /// The first group of each match in a text.
    Match(Pattern),
}

impl Reference {
    /// Whether the value is a list of numbers.
    pub fn is_numbers(&self) -> bool {
        matches!(self.part, ReferencePart::Numbers)
    }

    /// Whether both are references from one value, to objects of one type or the other.
    pub fn is_same_value(&self, other: &Self) -> bool {
        let of = |reference: &Self| {
            let Self {
                attribute,
                part,
                name,
                ..
            } = reference.clone();
            (attribute, part, name)
        };
        of(self) == of(other)
    }

    /// The texts of an element that name objects.
    fn collect(&self, element: &Value, names: &mut Vec<String>) {
        match &self.part {
            ReferencePart::Complete => texts(element, &mut |text| names.push(text)),
            ReferencePart::Field(field) => {
                if let Some(inner) = element.get(field) {
                    texts(inner, &mut |text| names.push(text));
                }
            }
            ReferencePart::Match(pattern) => texts(element, &mut |text| {
                let groups = pattern.captures_iter(&text);
                let groups = groups.filter_map(|found| found.get(1));
                names.extend(groups.map(|group| group.as_str().to_owned()));
            }),
            // A relative change: `['remove', '30']`.
            ReferencePart::Numbers if matches!(element, Value::List(_)) => {}
            ReferencePart::Numbers => {
                let text = element.ruby_to_s();
                let pieces = text.split([',', ' ']);
                let single = pieces.filter_map(|piece| piece.parse::<u64>().ok());
                names.extend(single.map(|number| number.to_string()));
            }
        }
    }
}

/// Passes each scalar of a value as text.
fn texts(value: &Value, add: &mut impl FnMut(String)) {
    match value {
        Value::Undef | Value::Absent => {}
        Value::List(items) => items.iter().for_each(|item| texts(item, add)),
        Value::Hash(entries) => entries.iter().for_each(|(_, value)| texts(value, add)),
        value => add(value.ruby_to_s()),
    }
}

impl TypeModel {
    /// The references of the type, in the order of its attributes.
    pub fn references(&self) -> impl Iterator<Item = &Reference> {
        let attributes = self.attributes.values();
        attributes.flat_map(|attribute| &attribute.refers)
    }

    /// The names of objects in a value. Literals of the model (`none`, `unset`, `all`) are not names.
    pub fn referenced_names(&self, reference: &Reference, attributes: &Attributes) -> Vec<String> {
        let name = reference.attribute.as_str();
        let (Some(attribute), Some(value)) = (self.attributes.get(name), attributes.get(name))
        else {
            return Vec::new();
        };
        let value = value.unwrap_sensitive();
        let elements = match (attribute.array, value) {
            (Some(_), Value::List(items)) => items.as_slice(),
            _ => std::slice::from_ref(value),
        };
        let is_word = |value: &Value| {
            let mut specs = attribute.values.iter();
            specs.any(|spec| matches!(spec, ValueSpec::Literal(literal) if literal == value))
        };
        let mut names = Vec::new();
        for element in elements.iter().filter(|element| !is_word(element)) {
            reference.collect(element, &mut names);
        }
        if let Some(template) = &reference.name {
            for name in &mut names {
                *name = template.replace("{}", name);
            }
        }
        names
    }

    /// Whether the device must have what the value names before the instance exists. A part makes its
    /// own object, and the name can be that of an object without a type.
    pub fn needs_object(&self, reference: &Reference) -> bool {
        !reference.others && self.object.as_ref() != Some(&reference.attribute)
    }

    /// The name under which values refer to an instance: its own, or that of the object of which it
    /// is a part.
    pub fn object_name(&self, attributes: &Attributes) -> Option<String> {
        let name = match &self.object {
            Some(name) => name.as_str(),
            None => {
                let mut names = self.namevars();
                names.next().filter(|_| names.next().is_none())?
            }
        };
        attributes.get(name)?.unwrap_sensitive().scalar_text()
    }

    /// Whether devices have an object of this name that no catalog declares.
    pub fn exists_undeclared(&self, name: &str) -> bool {
        [&self.built_in, &self.implicit]
            .into_iter()
            .flatten()
            .any(|pattern| pattern.is_match(name))
    }
}

/// An attribute without `refers`.
#[derive(Clone, Debug)]
pub struct UnstatedReference {
    pub(crate) attribute: Name,
    /// The file of the model.
    pub(crate) source: Arc<Source>,
    /// The place of the attribute in the file.
    pub(crate) span: Range<usize>,
}

impl TypeModel {
    /// The attributes that can name objects and do not say which.
    pub(crate) fn unstated_references(&self) -> impl Iterator<Item = Diagnostic> {
        let is_only_name = self.namevars().count() == 1;
        let can_name = move |attribute: &&AttributeModel| {
            let is_own_name = attribute.role == Role::Namevar && is_only_name;
            let is_read_only = attribute.role == Role::ReadOnly;
            !is_own_name
                && !is_read_only
                && !attribute.sensitive
                && accepts_names(&attribute.values)
        };
        self.unstated.iter().filter_map(move |position| {
            let attribute = self.attributes.get(position.attribute.as_str())?;
            Some(attribute).filter(can_name)?;
            let message = format!("`{}` does not say what it refers to", position.attribute);
            let finding = Diagnostic::warning("unstated-reference", message)
                .at(&position.source, position.span.clone(), "")
                .help("write `refers = [\"TYPE\"]`, or `refers = []` if it names nothing");
            Some(finding)
        })
    }
}

/// Texts that names of objects look like.
const NAMES: [&str; 3] = ["NAME-1", "name", "/Common/name"];

/// Whether a value can be the name of an object, or have one in it.
fn accepts_names(values: &[ValueSpec]) -> bool {
    values.is_empty()
        || values.iter().any(|spec| match spec {
            ValueSpec::Literal(_) | ValueSpec::Integer { .. } | ValueSpec::Numbers { .. } => false,
            ValueSpec::Pattern { pattern, .. } => NAMES.iter().any(|name| pattern.is_match(name)),
            ValueSpec::Struct { fields, .. } => {
                fields.values().any(|field| accepts_names(&field.values))
            }
            ValueSpec::Tuple { items, .. } => items.iter().any(|item| accepts_names(item)),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reference_values_exclude_words_and_ranges() {
        let text = r#"
            schema = 1
            type = "port"
            doc = "A port."
            built_in = 'lo\d+'
            [attr.name]
            role = "namevar"
            refers = [{ type = "feature", name = "default" }]
            [attr.vrf]
            refers = ["vrf"]
            values = ["unset", { name = "vrf", pattern = '\S+' }]
            [attr.access]
            refers = ["vlan"]
            values = [false, { name = "id", integer = [1, 4094] }]
            [attr.allowed]
            refers = [{ type = "vlan", numbers = true }]
            values = ["all", { name = "list", pattern = '[\d,\- ]+' }, { name = "change", tuple = [["remove"], "text"] }]
            [attr.members]
            refers = [{ type = "node", field = "name" }]
            array = "set"
            values = ["none", { name = "member", struct = { name = "text" } }]
            [attr.sources]
            refers = [{ type = "map", pattern = 'route-map (\S+)' }]
            array = "set"
            values = ["unset", { name = "source", pattern = '\S.*' }]
            [attr.areas]
            refers = [{ type = "list", pattern = 'prefix (\S+)' }]
            array = "set"
            values = ["unset", { name = "area", tuple = ["text", "text"] }]
            [attr.group]
            refers = [{ type = "group", pattern = '^(?:/Common/)?([^/]+)$', name = "/Common/{}" }]
            [attr.note]
            refers = []
        "#;
        let model = crate::model::load::load(&Source::new("t.toml", text)).unwrap();
        let member = |name: &str| Value::Hash(vec![("name".into(), name.into())]);
        let list = |items: &[Value]| Value::List(items.to_vec());
        let cases: [(&str, Value, &[&str]); 15] = [
            ("name", "x".into(), &["feature default"]),
            ("vrf", "red".into(), &["vrf red"]),
            ("vrf", "unset".into(), &[]),
            ("access", Value::Integer(40), &["vlan 40"]),
            ("access", false.into(), &[]),
            ("allowed", "all".into(), &[]),
            ("allowed", "10,20-29, 040".into(), &["vlan 10", "vlan 40"]),
            ("allowed", "1-4094".into(), &[]),
            ("allowed", list(&["remove".into(), "30".into()]), &[]),
            (
                "members",
                list(&[member("a"), member("b")]),
                &["node a", "node b"],
            ),
            ("members", list(&["none".into()]), &[]),
            (
                "sources",
                list(&["connected".into(), "static route-map RM metric 1".into()]),
                &["map RM"],
            ),
            (
                "areas",
                list(&[list(&["1".into(), "filter-list prefix PL in".into()])]),
                &["list PL"],
            ),
            ("group", "pair".into(), &["group /Common/pair"]),
            ("note", "red".into(), &[]),
        ];
        for (name, value, expected) in cases {
            let attributes = Attributes::from_iter([(name.to_owned(), value.clone())]);
            let found: Vec<String> = model
                .references()
                .flat_map(|reference| {
                    let names = model.referenced_names(reference, &attributes);
                    let target = &reference.target;
                    names
                        .into_iter()
                        .map(move |name| format!("{target} {name}"))
                })
                .collect();
            assert_eq!(found, expected, "{name} = {value:?}");
        }
        assert!(model.exists_undeclared("lo0") && !model.exists_undeclared("lo0x"));
    }

    #[test]
    fn object_name_is_that_of_the_list_of_an_entry() {
        let text = r#"
            schema = 1
            type = "entry"
            doc = "An entry."
            title = "{list} {number}"
            object = "list"
            [attr.list]
            role = "namevar"
            [attr.number]
            role = "namevar"
        "#;
        let model = crate::model::load::load(&Source::new("t.toml", text)).unwrap();
        let attributes = Attributes::from_iter([
            ("list".to_owned(), "L".into()),
            ("number".to_owned(), "10".into()),
        ]);
        assert_eq!(model.object_name(&attributes).as_deref(), Some("L"));
    }

    #[test]
    fn accepts_names_finds_texts_in_every_kind_of_value() {
        let cases = [
            ("", true),
            (r"values = [true, false]", false),
            (r"values = [{ name = 'n', integer = [1, 9] }]", false),
            (
                r"values = [{ name = 'a', pattern = '\d+(\.\d+){3}' }]",
                false,
            ),
            (r"values = ['unset', { name = 'w', pattern = '\S+' }]", true),
            (
                r"values = [{ name = 'p', pattern = '(/[\w.-]+){2,}' }]",
                true,
            ),
            (r"values = [{ name = 's', struct = { a = 'word' } }]", true),
            (
                r"values = [{ name = 's', struct = { a = 'integer' } }]",
                false,
            ),
            (
                r"values = [{ name = 't', tuple = ['integer', 'text'] }]",
                true,
            ),
        ];
        for (line, expected) in cases {
            let text = format!(
                "schema = 1\ntype = \"x\"\ndoc = \"x\"\n[attr.name]\nrole = \"namevar\"\n[attr.x]\n{line}\n"
            );
            let model = crate::model::load::load(&Source::new("t.toml", text)).unwrap();
            assert_eq!(
                accepts_names(&model.attributes["x"].values),
                expected,
                "{line}"
            );
        }
    }
}
