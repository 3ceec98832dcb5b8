//! A template that a definition file contains and that cannot be parsed.

/// The reason, with the invalid part of the template.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct TemplateError(pub(crate) String);

impl From<&str> for TemplateError {
    fn from(reason: &str) -> Self {
        Self(reason.to_owned())
    }
}
