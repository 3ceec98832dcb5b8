//! Rewrites equivalent attributes of a catalog to the form that the device uses.
//!
//! A device prints `host 10.1.1.1` for the address 10.1.1.1 with the mask 0.0.0.0, and a word for
//! an ICMP type with its code. A rewrite converts such a resource before the comparison.

use crate::map::IndexMap;

use crate::diagnostic::suggest;
use crate::document::{At, Findings, Item, KeyValue, Named, keys};
use crate::model::TypeModel;
use crate::model::canon::without_host_bits;
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

keys! {
    /// A conversion of catalog values to the form that the device prints.
    pub(in crate::driver) struct RewriteKeys {
        /// Attributes with these values.
        when: Named<At<Value>>,
        /// Attributes that are not set.
        without: Vec<At<String>>,
        /// Attributes whose value moves to another one.
        rename: Named<At<String>>,
        /// Attributes that get a value.
        set: Named<At<Value>>,
        /// Attributes that are removed.
        drop: Vec<At<String>>,
        /// Addresses that lose the bits of the wildcard mask in another attribute.
        without_host_bits: Named<At<String>>,
    }
}

/// What a rewrite is made of.
struct RewriteSource<'a> {
    model: &'a TypeModel,
    findings: &'a Findings,
}

impl RewriteSource<'_> {
    /// Reports a name that is not an attribute of the model.
    fn check(&self, name: &At<String>) {
        let model = self.model;
        if model.attributes.contains_key(name.as_str()) {
            return;
        }
        let names = model.attributes.keys().map(Name::as_str);
        let help = suggest(name, names, "declare it in the model first");
        let message = format!("{} has no attribute `{}`", model.name, name.value);
        let span = name.span.clone();
        self.findings
            .error_with_help("unknown-attribute", span, message, help);
    }

    fn values(&self, values: Named<At<Value>>) -> Attributes {
        let values = values.into_iter().filter_map(|(name, value)| {
            self.check(&name);
            let model = self.model.attributes.get(name.as_str())?;
            match model.canonicalize(&value) {
                Ok(value) => Some((name.value, value)),
                Err(error) => {
                    let message = format!("the model does not accept this: {error}");
                    self.findings.error("rewrite", value.span, message);
                    None
                }
            }
        });
        values.collect()
    }

    fn names(&self, names: Vec<At<String>>) -> Vec<String> {
        let names = names.into_iter().inspect(|name| self.check(name));
        names.map(|name| name.value).collect()
    }

    fn pairs(&self, pairs: Named<At<String>>) -> IndexMap<String, String> {
        let pairs = pairs.into_iter().map(|(name, other)| {
            self.check(&name);
            self.check(&other);
            (name.value, other.value)
        });
        pairs.collect()
    }
}

impl Rewrite {
    /// Reads `{ when = {…}, without = […], rename = {…}, set = {…}, drop = […], without_host_bits = {…} }`.
    pub(crate) fn load(item: &Item<'_>, model: &TypeModel) -> Option<Self> {
        let keys = RewriteKeys::read(item)?;
        let source = RewriteSource {
            model,
            findings: item.findings,
        };
        Some(Self {
            when: source.values(keys.when),
            without: source.names(keys.without),
            rename: source.pairs(keys.rename),
            set: source.values(keys.set),
            drop: source.names(keys.drop),
            without_host_bits: source.pairs(keys.without_host_bits),
        })
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
