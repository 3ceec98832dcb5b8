//! Finds the type of a declared resource (`docs/reference/transaction.md`, section 2, step 5).

use super::Typing;
use super::resource_error::ResourceError;
use crate::catalog::compiled::{CatalogResource, ResourceKind};
use crate::catalog::types::{self, ResourceType};
use crate::compat::Deviation;

/// Types by type name. Each is looked up once.
#[derive(Default)]
pub(super) struct TypeLookup {
    types: foldhash::HashMap<String, Option<ResourceType>>,
}

impl TypeLookup {
    /// The type of a resource; `None` for a container.
    pub(crate) fn find(
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
        let found = match self.types.get(type_name) {
            Some(ty) => ty.clone(),
            None => {
                let found = typing.types.find(&type_name.to_lowercase());
                self.types.insert(type_name.to_owned(), found.clone());
                found
            }
        };
        if format >= 2 && declared.kind == ResourceKind::Missing {
            let typed = found.is_some() && typing.deviations.has(Deviation::KindlessIsTyped);
            return Ok(if typed { found } else { None });
        }
        match found {
            Some(found) => Ok(Some(found)),
            // In any format, a resource with the kind of a type needs a type that exists.
            None if (!by_name || declared.kind == ResourceKind::Compilable)
                && typing.deviations.has(Deviation::UnknownTypeFailsResource) =>
            {
                Ok(Some(types::unknown(&type_name.to_lowercase())))
            }
            None if by_name => Ok(None),
            None => Err(ResourceError::new(
                "unknown-type",
                format!("Resource type '{type_name}' was not found"),
            )),
        }
    }
}
