//! Problems of a resource on a platform that are found without the device.

use crate::diagnostic::Severity;
use crate::model::AttributeModel;
use crate::value::Value;

/// A problem of a resource on a platform, found without the device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The attribute, or the namevar for the complete resource.
    pub attribute: String,
    /// The cause, which selects the validation rule that reports it.
    pub kind: ProblemKind,
    /// A resource with an error is not applied. Warnings and notes do not prevent it.
    pub severity: Severity,
    /// Lower case, without the attribute's name and without secrets.
    pub message: String,
    /// The action for the user, if there is one.
    pub help: Option<String>,
}

impl Problem {
    /// Whether a change to the value is refused.
    #[cfg(test)]
    pub(crate) fn is_refusal(&self) -> bool {
        self.severity == Severity::Error || self.kind == ProblemKind::Unchangeable
    }
}

/// The kind of problem, for sorting and explanations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    /// The instance is reserved on the device.
    Reserved,
    /// The platform does not support the attribute or this value.
    Unsupported,
    /// The platform has no command for the value.
    Unwritable,
    /// The platform has no command for the value, but a device can have it: it needs none then.
    Unchangeable,
    /// The value has another effect than its name suggests.
    Misleading,
}

/// Why a value is not valid on a platform that has fewer values than the model.
pub(crate) fn narrowed_refusal(narrowed: Option<&AttributeModel>, value: &Value) -> Option<String> {
    let narrowed = narrowed.filter(|narrowed| narrowed.canonicalize(value).is_err())?;
    Some(format!(
        "{} is not valid on this platform; expected {}",
        value.inspect(),
        narrowed.describe_values()
    ))
}
