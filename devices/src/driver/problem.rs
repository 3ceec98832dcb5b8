//! Problems of a resource on a platform that are found without the device.

use crate::diagnostic::Severity;
use crate::map::IndexMap;
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

/// Why a value is not valid on a platform that lacks values of the model, each with a reason, which can be
/// empty. Each element of a list counts.
pub(crate) fn unsupported_refusal(
    lacking: &IndexMap<String, String>,
    model: &AttributeModel,
    value: &Value,
) -> Option<String> {
    if lacking.is_empty() {
        return None;
    }
    let value = value.unwrap_sensitive();
    let elements = match (model.array, value) {
        (Some(_), Value::List(items)) => items.as_slice(),
        (_, one) => std::slice::from_ref(one),
    };
    elements.iter().find_map(|element| {
        let reason = lacking.get(model.kind_of(element)?.name().as_ref())?;
        Some(if reason.is_empty() {
            format!("{} is not available on this platform", element.inspect())
        } else {
            reason.clone()
        })
    })
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
