//! Changes from before the run that are not saved: they are of somebody else, and the run does not save them.

use super::DriverProvider;
use crate::provider::ProviderError;

/// What is known of the saved configuration before the first change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SavedBefore {
    /// It was not read: nothing was changed, or nobody asked.
    #[default]
    NotRead,
    /// The device does not show it.
    Unknown,
    /// The running configuration was saved.
    Saved,
    /// Something was not saved.
    Unsaved,
}

impl DriverProvider {
    /// Finds out before the first change whether everything is saved.
    #[must_use]
    pub fn compare_saved(mut self, enabled: bool) -> Self {
        self.compares_saved = enabled;
        self
    }

    /// What is known of the saved configuration before the first change.
    pub fn saved_before(&self) -> SavedBefore {
        self.saved_before
    }

    /// What every change needs before it is sent.
    ///
    /// # Errors
    /// Nothing may be sent.
    pub(super) async fn before_change(&mut self) -> Result<(), ProviderError> {
        if self.compares_saved && self.saved_before == SavedBefore::NotRead {
            self.saved_before = self.read_saved().await?;
        }
        self.ensure_protected().await
    }

    async fn read_saved(&mut self) -> Result<SavedBefore, ProviderError> {
        let Some(requests) = self.state.driver.saved_reads() else {
            return Ok(SavedBefore::Unknown);
        };
        let texts = match self.session.read(&requests).await {
            Ok(texts) => texts,
            Err(error) if error.is_refusal() => return Ok(SavedBefore::Unknown),
            Err(error) => return Err(self.mark_lost(&error)),
        };
        let Ok([running, saved]) = <[String; 2]>::try_from(texts) else {
            return Ok(SavedBefore::Unknown);
        };
        Ok(if self.state.driver.is_startup_equal(running, saved) {
            SavedBefore::Saved
        } else {
            SavedBefore::Unsaved
        })
    }
}
