//! Loads the key `access`.

use super::check_attribute_exists;
use crate::document::{Item, Table};
use crate::map::IndexMap;
use crate::model::AttributeModel;
use crate::model::access::AccessKey;
use crate::value::Name;

/// `access = { user = "name" }`, or one of the other forms.
pub(crate) fn read_access(
    item: &Item<'_>,
    attributes: &IndexMap<Name, AttributeModel>,
) -> Option<AccessKey> {
    let table = item.table()?;
    let attribute = |table: &Table<'_>, key: &str| {
        let item = table.get(key)?;
        let name = item.string()?;
        check_attribute_exists(&item, &name, attributes);
        Some(name)
    };
    let login = attribute(&table, "login");
    let user = attribute(&table, "user");
    let filter = attribute(&table, "filter");
    let network = attribute(&table, "route");
    let mask = attribute(&table, "mask");
    let pattern = login
        .as_ref()
        .and_then(|_| table.required_pattern("pattern"));
    table.finish();
    match (login, user, filter, network) {
        (Some(attribute), None, None, None) => Some(AccessKey::Login {
            attribute,
            pattern: pattern?,
        }),
        (None, Some(attribute), None, None) => Some(AccessKey::User { attribute }),
        (None, None, Some(attribute), None) => Some(AccessKey::Filter { attribute }),
        (None, None, None, Some(network)) => Some(AccessKey::Route { network, mask }),
        _ => {
            item.error("access", "set one of `login`, `user`, `filter` and `route`");
            None
        }
    }
}
