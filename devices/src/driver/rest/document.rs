//! Objects in a document that is written as a whole, by a [`DocumentRule`].
//!
//! A change reads the document from the state, changes the object in it, and sends all of it. The
//! request requires that the device still has the document that was read.

use super::writer::{RequestWriter, error};
use crate::driver::document_rule::DocumentRule;
use crate::driver::implementation::RenderError;
use crate::operation::Operation;
use crate::read::Parsed;

impl RequestWriter<'_> {
    /// The requests that write the document with the change.
    pub(super) fn write_document(
        &self,
        document: &DocumentRule,
    ) -> Result<Vec<Operation>, RenderError> {
        let Some(Parsed::Json(answer)) = self.state.get(&document.read.name) else {
            return Err(error("ensure", "the document was not read"));
        };
        let path = self.position_in(answer)?;
        let after = self.with_change(answer, &path)?;
        Ok(document.operations(&self.written_attributes(), answer, after))
    }
}
