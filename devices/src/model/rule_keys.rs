//! Keys of a model for offline rules: device addresses, shutdown, unique names.

use std::net::IpAddr;

use super::{TypeModel, ValueSpec};
use crate::value::{Attributes, Value};

/// The attribute and value that shut an instance down.
#[derive(Clone, Debug, PartialEq)]
pub struct Shutdown {
    /// Name of the attribute, such as `enable`.
    pub attribute: String,
    pub(crate) when: Value,
}

impl Shutdown {
    /// Whether these attributes shut the instance down. `None`: the attribute has no value.
    pub fn is_shut_down(&self, attributes: &Attributes) -> Option<bool> {
        let value = attributes.get(&self.attribute)?;
        Some(*value.unwrap_sensitive() == self.when)
    }
}

impl TypeModel {
    /// The addresses that a resource assigns to its device, each with its attribute, without prefix
    /// length and route domain. Literals of the model (`any`) are not addresses.
    pub fn own_addresses<'a>(
        &'a self,
        attributes: &'a Attributes,
    ) -> impl Iterator<Item = (&'a str, IpAddr)> {
        self.values_of(&self.owns_address, attributes)
            .filter_map(|(attribute, text)| {
                let address = text.split(['/', '%']).next()?;
                Some((attribute, address.parse().ok()?))
            })
    }

    /// The attributes with an address at which a session can reach the device.
    pub fn session_addresses(&self) -> impl Iterator<Item = &str> {
        let owned = self.owns_address.iter();
        owned.chain(&self.shares_address).map(String::as_str)
    }

    /// The texts of a resource that must be unique per site, each with its attribute. Literals of
    /// the model (`unset`) are not names.
    pub fn site_unique_names<'a>(
        &'a self,
        attributes: &'a Attributes,
    ) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.values_of(&self.site_unique, attributes)
    }

    /// The texts of these attributes and list elements, without literals of the model.
    fn values_of<'a>(
        &'a self,
        names: &'a [String],
        attributes: &'a Attributes,
    ) -> impl Iterator<Item = (&'a str, &'a str)> {
        names.iter().flat_map(move |name| {
            let specs = self
                .attributes
                .get(name.as_str())
                .map_or(&[][..], |attribute| &attribute.values);
            let is_word = |value: &Value| {
                specs
                    .iter()
                    .any(|spec| matches!(spec, ValueSpec::Literal(literal) if literal == value))
            };
            let elements = match attributes.get(name).map(Value::unwrap_sensitive) {
                Some(Value::List(items)) => items.as_slice(),
                Some(value) => std::slice::from_ref(value),
                None => &[],
            };
            elements
                .iter()
                .filter(move |value| !is_word(value))
                .filter_map(move |value| Some((name.as_str(), value.as_str()?)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Source;

    fn model() -> TypeModel {
        let text = r#"
            schema = 1
            type = "port"
            doc = "A port."
            owns_address = ["address", "secondary"]
            shutdown = { attribute = "enable", when = false }
            site_unique = "label"
            [attr.name]
            role = "namevar"
            [attr.enable]
            values = [true, false]
            [attr.address]
            values = ["any", { name = "address", pattern = '.+' }]
            [attr.secondary]
            array = "set"
            [attr.label]
            values = ["unset", { name = "text", pattern = '.+' }]
        "#;
        crate::model::load::load(&Source::new("t.toml", text)).unwrap()
    }

    #[test]
    fn own_addresses_have_no_prefix_length_and_are_no_words() {
        let model = model();
        let attributes = |address: &str| {
            Attributes::from_iter([
                ("address".to_owned(), address.into()),
                (
                    "secondary".to_owned(),
                    Value::List(vec!["2001:DB8::1/64".into()]),
                ),
            ])
        };
        let addresses = |text: &str| -> Vec<String> {
            let attributes = attributes(text);
            model
                .own_addresses(&attributes)
                .map(|(name, address)| format!("{name} {address}"))
                .collect()
        };
        let secondary = "secondary 2001:db8::1";
        for (text, expected) in [
            ("192.0.2.1", vec!["address 192.0.2.1", secondary]),
            ("192.0.2.1%2/24", vec!["address 192.0.2.1", secondary]),
            ("any", vec![secondary]),
        ] {
            assert_eq!(addresses(text), expected, "{text}");
        }
    }

    #[test]
    fn shutdown_compares_the_attribute_with_its_value() {
        let model = model();
        let shutdown = model.shutdown.as_ref().unwrap();
        let enable = |value: bool| Attributes::from_iter([("enable".to_owned(), value.into())]);
        assert_eq!(shutdown.is_shut_down(&enable(false)), Some(true));
        assert_eq!(shutdown.is_shut_down(&enable(true)), Some(false));
        assert_eq!(shutdown.is_shut_down(&Attributes::default()), None);
    }

    #[test]
    fn site_unique_names_are_no_words() {
        let model = model();
        for (label, expected) in [("users", vec![("label", "users")]), ("unset", vec![])] {
            let attributes = Attributes::from_iter([("label".to_owned(), label.into())]);
            let names: Vec<_> = model.site_unique_names(&attributes).collect();
            assert_eq!(names, expected, "{label}");
        }
    }
}
