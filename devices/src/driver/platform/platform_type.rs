//! A type of a platform and when its definition is loaded.

use std::fmt;
use std::sync::{Arc, OnceLock};

use super::Platform;
use crate::driver::type_driver::TypeDriver;

/// A type of a platform. The definition of a built-in type is loaded on first use, because most
/// programs need few types.
pub(in crate::driver) struct PlatformType {
    definition: OnceLock<Arc<TypeDriver>>,
    load: Option<Box<LoadType>>,
    can_have_secrets: bool,
}

/// Loads the definition of a type of this platform.
pub(in crate::driver) type LoadType = dyn Fn(&Platform) -> TypeDriver + Send + Sync;

impl PlatformType {
    /// A type that is loaded on first use. Without `can_have_secrets`, no attribute is sensitive.
    pub(in crate::driver) fn deferred(load: Box<LoadType>, can_have_secrets: bool) -> Self {
        Self {
            definition: OnceLock::new(),
            load: Some(load),
            can_have_secrets,
        }
    }

    /// Whether an attribute can be sensitive, without loading the definition.
    pub(in crate::driver) fn can_have_secrets(&self) -> bool {
        self.can_have_secrets
    }

    /// The definition; `platform` is that of the type.
    pub(in crate::driver) fn definition(&self, platform: &Platform) -> &Arc<TypeDriver> {
        self.definition.get_or_init(|| {
            let load = self.load.as_ref().expect("what is not loaded is deferred");
            Arc::new(load(platform))
        })
    }
}

impl From<TypeDriver> for PlatformType {
    fn from(definition: TypeDriver) -> Self {
        let mut attributes = definition.model.attributes.values();
        let can_have_secrets = attributes.any(|attribute| attribute.sensitive);
        Self {
            definition: Arc::new(definition).into(),
            load: None,
            can_have_secrets,
        }
    }
}

/// The definition, if it is loaded.
impl fmt::Debug for PlatformType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.definition.get(), formatter)
    }
}
