//! The key `access`.

use super::AttributeNames;
use super::model_keys::AccessKeys;
use crate::document::At;
use crate::model::access::AccessKey;

/// `access = { user = "name" }`, or one of the other forms.
pub(super) fn access(keys: At<AccessKeys>, names: &AttributeNames<'_>) -> Option<AccessKey> {
    let At { value: keys, span } = keys;
    let attribute = |name: Option<At<String>>| name.map(|name| names.checked(name));
    let error = |message: &str| {
        names.findings.error("access", span.clone(), message);
    };
    let login = attribute(keys.login);
    let list = attribute(keys.list);
    let mask = attribute(keys.mask);
    let native = attribute(keys.native);
    let trunk = attribute(keys.trunk);
    let mut changes = names.all(keys.changes);
    let pattern = keys.pattern;
    if pattern.is_some() != (login.is_some() || trunk.is_some()) {
        error("`pattern` belongs to `login` and `trunk`, which require it");
    }
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
    forms.extend(attribute(keys.user).map(|attribute| AccessKey::User { attribute }));
    forms.extend(attribute(keys.filter).map(|attribute| AccessKey::Filter { attribute }));
    forms.extend(attribute(keys.route).map(|network| AccessKey::Route { network, mask }));
    if !changes.is_empty() {
        forms.push(AccessKey::Changes {
            attributes: changes,
        });
    }
    let form = forms.pop();
    if form.is_none() || !forms.is_empty() {
        error("set one of `login`, `user`, `filter`, `route`, `changes` and `trunk`");
        return None;
    }
    form
}
