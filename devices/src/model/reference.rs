//! References from values to instances of the device.
//!
//! Every automatic `require` or `subscribe` is a reference. The key `refers` of a model adds
//! references without an order, such as the VLAN of a port.

use super::relation::collect;
use super::{AutoKind, RelationSource, TypeModel, ValueSpec};
use crate::names::TypeName;
use crate::value::{Attributes, Value};

/// A reference to an instance of another type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// Type of the other instance.
    pub target: TypeName,
    /// The attribute, or a field of its structs: `members.name`.
    pub(crate) from: String,
    /// The value is a list of numbers, `10,20-29`. Single numbers are references. Ranges are not,
    /// because their instances need not all exist.
    pub numbers: bool,
}

impl Reference {
    pub fn attribute(&self) -> &str {
        self.from.split('.').next().unwrap_or(&self.from)
    }

    /// Whether both are references from one value, to instances of one type or the other.
    pub fn is_same_value(&self, other: &Self) -> bool {
        self.from == other.from
    }
}

impl TypeModel {
    /// The references of the type, those that order resources first.
    pub fn references(&self) -> impl Iterator<Item = Reference> {
        let ordering = self.relations.iter().filter_map(|relation| {
            let is_required = matches!(relation.kind, AutoKind::Require | AutoKind::Subscribe);
            let RelationSource::Attribute(from) = &relation.from else {
                return None;
            };
            is_required.then(|| Reference {
                target: relation.target.clone(),
                from: from.clone(),
                numbers: false,
            })
        });
        ordering.chain(self.refers.iter().cloned())
    }

    /// The names that a resource refers to. Literals of the model (`none`, `unset`, `all`) are not
    /// names.
    pub fn referenced_names(&self, reference: &Reference, attributes: &Attributes) -> Vec<String> {
        let name = reference.attribute();
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
        let field = reference.from.split_once('.').map(|(_, field)| field);
        let mut names = Vec::new();
        for element in elements.iter().filter(|element| !is_word(element)) {
            match (reference.numbers, element) {
                (false, element) => collect(element, field, &mut names),
                // A relative change: `['remove', '30']`.
                (true, Value::List(_)) => {}
                (true, element) => {
                    let text = element.ruby_to_s();
                    let alone = text
                        .split([',', ' '])
                        .filter_map(|piece| piece.parse::<u64>().ok());
                    names.extend(alone.map(|number| number.to_string()));
                }
            }
        }
        names
    }

    /// Whether devices have an instance of this name that no catalog declares.
    pub fn exists_undeclared(&self, name: &str) -> bool {
        [&self.built_in, &self.implicit]
            .into_iter()
            .flatten()
            .any(|pattern| pattern.is_match(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Source;

    #[test]
    fn reference_values_exclude_words_and_ranges() {
        let text = r#"
            schema = 1
            type = "port"
            doc = "A port."
            built_in = 'lo\d+'
            autorequire = [{ type = "vrf", from = "vrf" }]
            autobefore = [{ type = "after", from = "vrf" }]
            refers = [
              { type = "vlan", from = "access" },
              { type = "vlan", from = "allowed", numbers = true },
              { type = "node", from = "members.name" },
            ]
            [attr.name]
            role = "namevar"
            [attr.vrf]
            values = ["unset", { name = "vrf", pattern = '\S+' }]
            [attr.access]
            values = [false, { name = "id", integer = [1, 4094] }]
            [attr.allowed]
            values = ["all", { name = "list", pattern = '[\d,\- ]+' }, { name = "change", tuple = [["remove"], "text"] }]
            [attr.members]
            array = "set"
            values = ["none", { name = "member", struct = { name = "text" } }]
        "#;
        let model = crate::model::load::load(&Source::new("t.toml", text)).unwrap();
        let member = |name: &str| Value::Hash(vec![("name".into(), name.into())]);
        let list = |items: &[Value]| Value::List(items.to_vec());
        let cases: [(&str, Value, &[&str]); 10] = [
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
        ];
        for (name, value, expected) in cases {
            let attributes = Attributes::from_iter([(name.to_owned(), value.clone())]);
            let found: Vec<String> = model
                .references()
                .flat_map(|reference| {
                    let names = model.referenced_names(&reference, &attributes);
                    names
                        .into_iter()
                        .map(move |name| format!("{} {name}", reference.target))
                })
                .collect();
            assert_eq!(found, expected, "{name} = {value:?}");
        }
        assert!(model.exists_undeclared("lo0") && !model.exists_undeclared("lo0x"));
    }
}
