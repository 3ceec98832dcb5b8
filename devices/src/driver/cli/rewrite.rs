//! Rewrites equivalent attributes of a catalog to the form that the device uses.
//!
//! A device prints `host 10.1.1.1` for the address 10.1.1.1 with the mask 0.0.0.0, and a word for
//! an ICMP type with its code. A rewrite converts such a resource before the comparison.

use crate::map::IndexMap;

use crate::diagnostic::suggest;
use crate::document::{Item, Table};
use crate::model::TypeModel;
use crate::model::canon::without_host_bits;
use crate::model::load::value_of;
use crate::value::{Attributes, Name, Value};

/// A form that the device does not print, and the equivalent one that it prints.
#[derive(Clone, Debug)]
pub(crate) struct Rewrite {
    /// Applies if all of these attributes have these values …
    when: Attributes,
    /// … and none of these attributes has a value.
    without: Vec<String>,
    /// Attributes whose value moves to another attribute.
    rename: IndexMap<String, String>,
    set: Attributes,
    drop: Vec<String>,
    /// Addresses without the bits of the wildcard mask in another attribute.
    without_host_bits: IndexMap<String, String>,
}

impl Rewrite {
    /// Reads `{ when = {…}, without = […], rename = {…}, set = {…}, drop = […], without_host_bits = {…} }`.
    pub(crate) fn load(item: &Item<'_>, model: &TypeModel) -> Option<Self> {
        let table = item.table()?;
        let check_attribute = |item: &Item<'_>, name: &str| {
            if model.attributes.contains_key(name) {
                return;
            }
            let names = model.attributes.keys().map(Name::as_str);
            let help = suggest(name, names, "declare it in the model first");
            let message = format!("{} has no attribute `{name}`", model.name);
            item.findings
                .error_with_help("unknown-attribute", item.span.clone(), message, help);
        };
        let values = |key: &str| -> Attributes {
            let entries = table.table(key).iter().flat_map(Table::entries).collect();
            let entries: Vec<(String, _, Item<'_>)> = entries;
            let pairs = entries.into_iter().filter_map(|(name, _, item)| {
                check_attribute(&item, &name);
                let value = value_of(&item)?;
                match model.attributes.get(name.as_str())?.canonicalize(&value) {
                    Ok(value) => Some((name, value)),
                    Err(error) => {
                        item.error(
                            "rewrite",
                            format!("the model does not accept this: {error}"),
                        );
                        None
                    }
                }
            });
            pairs.collect()
        };
        let names = |key: &str| -> Vec<String> {
            let Some(item) = table.get(key) else {
                return Vec::new();
            };
            let names = item.strings().unwrap_or_default();
            names.iter().for_each(|name| check_attribute(&item, name));
            names
        };
        let pairs = |key: &str| -> IndexMap<String, String> {
            let entries = table.table(key).iter().flat_map(Table::entries).collect();
            let entries: Vec<(String, _, Item<'_>)> = entries;
            let pairs = entries.into_iter().filter_map(|(name, _, item)| {
                let other = item.string()?;
                check_attribute(&item, &name);
                check_attribute(&item, &other);
                Some((name, other))
            });
            pairs.collect()
        };
        let rewrite = Self {
            when: values("when"),
            without: names("without"),
            rename: pairs("rename"),
            set: values("set"),
            drop: names("drop"),
            without_host_bits: pairs("without_host_bits"),
        };
        table.finish();
        Some(rewrite)
    }

    /// The attributes in the form that the device prints.
    pub(crate) fn apply(&self, attributes: &mut Attributes) {
        let holds = self
            .when
            .iter()
            .all(|(name, value)| attributes.get(name).is_some_and(|found| same(found, value)))
            && !self
                .without
                .iter()
                .any(|name| attributes.contains_key(name))
            && self.rename.keys().all(|name| attributes.contains_key(name));
        if !holds {
            return;
        }
        for name in &self.drop {
            attributes.remove(name);
        }
        for (name, other) in &self.rename {
            if let Some(value) = attributes.remove(name) {
                attributes.insert(other.clone(), value);
            }
        }
        attributes.extend(self.set.clone());
        for (address, wildcard) in &self.without_host_bits {
            if let (Some(value), Some(mask)) = (attributes.get(address), attributes.get(wildcard))
                && let Some(network) = without_host_bits(value, mask)
            {
                attributes.insert(address.clone(), network);
            }
        }
    }
}

fn same(a: &Value, b: &Value) -> bool {
    a == b || a.scalar_text().is_some() && a.scalar_text() == b.scalar_text()
}
