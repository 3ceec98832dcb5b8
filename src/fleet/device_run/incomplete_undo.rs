//! An undo that would leave a difference to the configuration before the run, or remove what the run did not add, is
//! refused before anything is sent.

use switchtender_devices::diagnostic::Diagnostic;
use switchtender_devices::provider::driver_provider::DriverProvider;

use super::error::INCOMPLETE_UNDO_HINT;
use super::{DeviceRunError, Running};
use crate::fleet::undo::UndoRecord;

impl Running<'_> {
    /// Refuses an undo that was previewed.
    ///
    /// # Errors
    /// What it would not restore, unless this is allowed.
    pub(super) fn check_undo(
        &mut self,
        record: &UndoRecord,
        provider: &DriverProvider,
    ) -> Result<(), DeviceRunError> {
        let texts = differences(record, provider);
        if self.request.allow_incomplete_undo {
            self.warn(texts);
            return Ok(());
        }
        if texts.is_empty() {
            return Ok(());
        }
        let findings = texts.into_iter();
        let findings = findings.map(|text| Diagnostic::error("incomplete-undo", text));
        Err(DeviceRunError::IncompleteUndo {
            findings: findings.collect(),
        })
    }

    /// Says in the plan of an undo why the undo is refused.
    pub(super) fn predict_incomplete_undo(
        &mut self,
        record: &UndoRecord,
        provider: &DriverProvider,
    ) {
        let texts = differences(record, provider);
        if self.request.allow_incomplete_undo {
            return self.warn(texts);
        }
        let Some((last, others)) = texts.split_last() else {
            return;
        };
        for text in others {
            self.events.fail(text.clone());
        }
        self.events
            .fail_with_hint(last.clone(), INCOMPLETE_UNDO_HINT);
    }

    fn warn(&mut self, texts: Vec<String>) {
        for text in texts {
            self.events.run_log().warning(text);
        }
    }
}

fn differences(record: &UndoRecord, provider: &DriverProvider) -> Vec<String> {
    let mut texts = record.losses();
    texts.extend(record.removals_beyond_run(&provider.removed_by_undo()));
    texts
}
