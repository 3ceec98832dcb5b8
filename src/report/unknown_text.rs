//! Text of a device that a type recognizes and does not understand.

use serde::{Deserialize, Serialize};
use switchtender_devices::not_understood::NotUnderstood;

/// Text of a device that was not understood; secrets are masked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = StoredText)]
pub(crate) struct UnknownText {
    /// The type whose definition recognizes the text.
    #[serde(rename = "type")]
    pub(crate) type_name: String,
    /// The attribute whose value it is; `None` for the instance itself.
    pub(crate) attribute: Option<String>,
    pub(crate) text: String,
}

impl From<&NotUnderstood> for UnknownText {
    fn from(found: &NotUnderstood) -> Self {
        Self {
            type_name: found.type_name.to_string(),
            attribute: found.attribute.as_deref().map(str::to_owned),
            text: found.to_string(),
        }
    }
}
