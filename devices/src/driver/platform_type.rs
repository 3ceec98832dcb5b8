//! A type of a platform and when its definition is loaded.

use std::fmt;
use std::sync::{Arc, OnceLock};

use super::platform::Platform;
use super::type_driver::TypeDriver;

/// A type of a platform. The definition of a built-in type is loaded on first use, because most
/// programs need few types.
pub(super) struct PlatformType {
    definition: OnceLock<Arc<TypeDriver>>,
    load: Option<Box<LoadType>>,
}

/// Loads the definition of a type of this platform.
pub(super) type LoadType = dyn Fn(&Platform) -> TypeDriver + Send + Sync;

impl PlatformType {
    /// A type that is loaded on first use.
    pub(super) fn deferred(load: Box<LoadType>) -> Self {
        Self {
            definition: OnceLock::new(),
            load: Some(load),
        }
    }

    /// The definition; `platform` is that of the type.
    pub(super) fn definition(&self, platform: &Platform) -> &Arc<TypeDriver> {
        self.definition.get_or_init(|| {
            let load = self.load.as_ref().expect("what is not loaded is deferred");
            Arc::new(load(platform))
        })
    }
}

impl From<TypeDriver> for PlatformType {
    fn from(definition: TypeDriver) -> Self {
        Self {
            definition: Arc::new(definition).into(),
            load: None,
        }
    }
}

/// The definition, if it is loaded.
impl fmt::Debug for PlatformType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.definition.get(), formatter)
    }
}
