//! The values that a catalog declares, for people. Secrets are hidden.

use std::collections::BTreeMap;

use crate::catalog::Resources;
use crate::catalog::resource::Resource;

/// What stands for a secret.
const HIDDEN: &str = "(secret)";

/// The declared attributes of resources by reference, each with its value as a text.
pub(crate) type DeclaredValues = BTreeMap<String, Vec<(String, String)>>;

/// The declared attributes of all resources.
pub(crate) fn declared_values(resources: &Resources) -> DeclaredValues {
    let ids = resources.order().iter();
    let found = ids.filter_map(|id| {
        let resource = resources.resource(*id)?;
        Some((resource.reference.as_str().to_owned(), values(resource)))
    });
    found.filter(|(_, values)| !values.is_empty()).collect()
}

fn values(resource: &Resource) -> Vec<(String, String)> {
    let properties = resource.properties();
    let values = properties.filter_map(|(name, property)| {
        let desired = resource.of_alternatives(name, property.desired?)?;
        let text = if property.sensitive || desired.contains_secret() {
            HIDDEN.to_owned()
        } else {
            desired.display()
        };
        Some((name.to_string(), text))
    });
    values.collect()
}
