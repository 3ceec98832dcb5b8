//! Verification after a run: the resources that were set are read once more. Resources that needed no change and
//! are in the same answers are compared again: a change can have an effect on others. A plan predicts this.

use super::DriverProvider;
use crate::provider::state::names_of;
use crate::provider::{Difference, ProviderError};

impl DriverProvider {
    pub(super) async fn read_differences(&mut self) -> Result<Vec<Difference>, ProviderError> {
        if self.state.committed.applied.is_empty() {
            return self.state.predicted_differences();
        }
        let requests = self.state.verifying_reads();
        let repeated = names_of(&requests);
        let read = self.read_state(requests).await?;
        self.state.differences_after(read, &repeated)
    }
}
