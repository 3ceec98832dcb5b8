//! `[refresh]`: the request that a refresh sends, such as the restart of a service.

use crate::driver::rest::template::TextTemplate;
use crate::operation::Method;
use crate::read::field_path::FieldPath;

/// The request of a refresh.
#[derive(Clone, Debug)]
pub(crate) struct RefreshRequest {
    pub(in crate::driver::rest) path: TextTemplate,
    pub(in crate::driver::rest) body: Vec<(FieldPath, TextTemplate)>,
}

/// For `driver explain`.
impl std::fmt::Display for RefreshRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", Method::Post, self.path)?;
        let fields = self.body.iter();
        let fields: Vec<_> = fields
            .map(|(field, text)| format!("\"{field}\": \"{text}\""))
            .collect();
        if fields.is_empty() {
            Ok(())
        } else {
            write!(f, " {{{}}}", fields.join(", "))
        }
    }
}
