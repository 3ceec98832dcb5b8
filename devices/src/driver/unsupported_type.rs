//! Why resources of a type cannot be applied on a device.

use std::fmt;

use crate::names::{PlatformName, TypeName};

/// A type that the device does not support.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnsupportedType {
    /// The platform supports it on other devices only.
    OnDevice {
        /// The type.
        name: TypeName,
        /// The reason, from the definition.
        reason: String,
    },
    /// The platform has no definition of it.
    OnPlatform {
        /// The type.
        name: TypeName,
        /// The device's platform.
        platform: PlatformName,
        /// The platforms that support it.
        others: Vec<PlatformName>,
    },
}

impl fmt::Display for UnsupportedType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UnsupportedType::OnDevice { name, reason } => {
                write!(f, "{name} is not supported on this device: {reason}")
            }
            UnsupportedType::OnPlatform {
                name,
                platform,
                others,
            } => {
                write!(f, "{name} is not supported on {platform}")?;
                if !others.is_empty() {
                    write!(f, "; platforms that support it: {}", others.join(", "))?;
                }
                Ok(())
            }
        }
    }
}

impl std::error::Error for UnsupportedType {}
