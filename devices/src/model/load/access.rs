//! Loads the key `access`.

use super::{check_attribute_exists, read_attribute_names};
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
    let list = attribute(&table, "list");
    let user = attribute(&table, "user");
    let filter = attribute(&table, "filter");
    let network = attribute(&table, "route");
    let mask = attribute(&table, "mask");
    let mut changes = read_attribute_names(&table, "changes", attributes);
    let trunk = attribute(&table, "trunk");
    let native = attribute(&table, "native");
    let with_pattern = login.as_ref().or(trunk.as_ref());
    let pattern = with_pattern.and_then(|_| table.required_pattern("pattern"));
    table.finish();
    let mut forms = Vec::new();
    if let (Some(attribute), Some(pattern)) = (login, pattern.clone()) {
        forms.push(AccessKey::Login {
            attribute,
            pattern,
            changes: std::mem::take(&mut changes),
            list,
        });
    }
    if let (Some(attribute), Some(pattern)) = (trunk, pattern) {
        forms.push(AccessKey::Trunk {
            attribute,
            pattern,
            native,
        });
    }
    forms.extend(user.map(|attribute| AccessKey::User { attribute }));
    forms.extend(filter.map(|attribute| AccessKey::Filter { attribute }));
    forms.extend(network.map(|network| AccessKey::Route { network, mask }));
    if !changes.is_empty() {
        forms.push(AccessKey::Changes {
            attributes: changes,
        });
    }
    let form = forms.pop();
    if form.is_none() || !forms.is_empty() {
        let forms = "set one of `login`, `user`, `filter`, `route`, `changes` and `trunk`";
        item.error("access", forms);
        return None;
    }
    form
}
