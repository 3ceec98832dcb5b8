//! The rules of a REST type, as loaded from its file. `docs/definitions.md` describes the keys.

mod attribute;
mod choice;
mod instance;
mod kinds;
mod members;
mod own_request;
mod refresh;

use std::sync::Arc;

pub(crate) use self::attribute::{
    CreateOnly, FieldRule, ObjectMove, OrderRule, RestAttributeRule, RestLocation, StateFields,
    UnsetRule, UploadRule,
};
pub(crate) use self::choice::{ChoiceRule, ChosenField};
pub(crate) use self::instance::{
    CreateRule, DeviceOwned, KeyRule, Lookup, NameRule, ParentRule, RemoveRule, RequestTarget,
    RestInstanceRule, UpdateRule,
};
pub(crate) use self::kinds::{ObjectKind, ObjectKinds};
pub(crate) use self::members::{
    DefaultEntry, EntriesRule, KeySplit, MemberCodec, MemberPaths, MembersRule, SharedArray,
};
pub(crate) use self::own_request::OwnRequest;
pub(in crate::driver::rest) use self::own_request::is_request;
pub(crate) use self::refresh::RefreshRequest;
use crate::driver::inactive::InactiveRule;
use crate::driver::manager_rule::ManagerRule;
use crate::map::IndexMap;
use crate::read::field_path::FieldPath;
use crate::read::rows::RowsRule;
use crate::read::xml::Namespaces;
use crate::value::Name;

/// A type on a platform with a REST interface or NETCONF.
#[derive(Clone, Debug)]
pub(crate) struct RestDefinition {
    /// The namespaces of a platform with NETCONF.
    pub(crate) namespaces: Option<Arc<Namespaces>>,
    /// How inactive elements are marked.
    pub(crate) inactive: Option<InactiveRule>,
    pub(crate) instance: RestInstanceRule,
    /// The list of objects in other answers of the platform.
    pub(crate) rows: Option<RowsRule>,
    /// How an object shows that another one makes it.
    pub(crate) manager: Option<ManagerRule>,
    pub(crate) kinds: Option<ObjectKinds>,
    /// Arrays that several attributes share, by name.
    pub(crate) shared: IndexMap<String, SharedArray>,
    pub(crate) attributes: IndexMap<Name, RestAttributeRule>,
    /// The request of a refresh.
    pub(crate) refresh: Option<RefreshRequest>,
}
impl RestDefinition {
    /// The desired kind of a resource.
    pub(crate) fn kind_of<'a>(
        &'a self,
        attributes: &crate::value::Attributes,
    ) -> Option<(&'a str, &'a ObjectKind)> {
        let kinds = self.kinds.as_ref()?;
        let name = attributes.get(&kinds.attribute)?.unwrap_sensitive();
        let name = name.as_str()?;
        kinds
            .kinds
            .get_key_value(name)
            .map(|(name, kind)| (name.as_str(), kind))
    }

    /// Whether objects of the kind have the attribute.
    pub(crate) fn has(&self, attribute: &str, kind: Option<&str>) -> bool {
        let Some(rule) = self.attributes.get(attribute) else {
            return false;
        };
        let rule = match &rule.location {
            RestLocation::Unsupported(_) => return false,
            _ => rule,
        };
        rule.kinds.is_empty() || kind.is_some_and(|kind| rule.kinds.iter().any(|one| one == kind))
    }

    /// Groups of exclusive fields: the device stores only those that were set last.
    pub(crate) fn alternatives(&self) -> Vec<Vec<FieldPath>> {
        self.attributes
            .values()
            .filter_map(|rule| match &rule.location {
                RestLocation::Group { codec, field, .. } => Some(codec.alternatives(field)),
                location => location.alternatives(),
            })
            .collect()
    }
}
