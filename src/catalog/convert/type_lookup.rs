//! Which type a declared resource has (`docs/reference/transaction.md`, section 2, step 5).

use super::Typing;
use super::resource_error::ResourceError;
use crate::catalog::compiled::{CatalogResource, ResourceKind};
use crate::catalog::types::{self, ResourceType};
use crate::compat::Deviation;

/// Types by the name that resources have, each looked up once.
#[derive(Default)]
pub(super) struct TypeLookup {
    known: foldhash::HashMap<String, Option<ResourceType>>,
}

impl TypeLookup {
    /// The type of a resource; `None` for a container.
    pub fn find(
        &mut self,
        declared: &CatalogResource,
        format: u64,
        typing: &Typing,
    ) -> Result<Option<ResourceType>, ResourceError> {
        let type_name = declared.reference.type_name();
        if matches!(type_name, "Stage" | "Class") {
            return Ok(None);
        }
        let by_name = format < 2 || declared.kind == ResourceKind::Missing;
        if !by_name && declared.kind != ResourceKind::Compilable {
            return Ok(None);
        }
        let found = match self.known.get(type_name) {
            Some(known) => known.clone(),
            None => {
                let found = typing.types.find(&type_name.to_lowercase());
                self.known.insert(type_name.to_owned(), found.clone());
                found
            }
        };
        if format >= 2 && declared.kind == ResourceKind::Missing {
            let typed = found.is_some() && typing.deviations.has(Deviation::KindlessIsTyped);
            return Ok(if typed { found } else { None });
        }
        match found {
            Some(found) => Ok(Some(found)),
            // Whatever the format, one that is said to be a type is none if nobody knows it.
            None if (!by_name || declared.kind == ResourceKind::Compilable)
                && typing.deviations.has(Deviation::UnknownTypeFailsResource) =>
            {
                Ok(Some(types::unknown(&type_name.to_lowercase())))
            }
            None if by_name => Ok(None),
            None => Err(ResourceError::whole(
                "unknown-type",
                format!("Resource type '{type_name}' was not found"),
            )),
        }
    }
}
