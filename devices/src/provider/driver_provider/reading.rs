//! Reads the device: each read is sent once, and a failed one fails only the types that need it.

use std::sync::Arc;

use super::DriverProvider;
use crate::change::Instance;
use crate::driver::HiddenFromDiff;
use crate::model::TypeModel;
use crate::provider::ProviderError;
use crate::read::{CONFIG, ReadRequest, Reads, State};

impl DriverProvider {
    /// Sends the reads and parses the answers. A failed read fails only the types that need it:
    /// call [`check_failed_reads`](super::super::state::DeviceState::check_failed_reads) for each.
    pub(super) async fn read_state(
        &mut self,
        requests: Vec<ReadRequest>,
    ) -> Result<State, ProviderError> {
        if let Some(disconnect) = self
            .disconnect
            .as_ref()
            .filter(|disconnect| !disconnect.is_readable)
        {
            return Err(disconnect.error());
        }
        // A session without requests would leave its mode.
        if requests.is_empty() {
            return Ok(State::default());
        }
        let names = || requests.iter().map(|request| request.name.as_str());
        tracing::debug!(
            reads = names().collect::<Vec<_>>().join(" "),
            "reading from the device"
        );
        let mut reads = Reads::default();
        match self.session.read(&requests).await {
            Ok(texts) => {
                for (request, text) in requests.into_iter().zip(texts) {
                    self.state.reads.sent.insert(request.name.clone(), None);
                    reads.insert(request.name, text);
                }
            }
            Err(error) if error.is_refusal() => {
                for request in requests {
                    let answer = self.session.read(std::slice::from_ref(&request)).await;
                    let refused = match answer {
                        Ok(mut texts) => {
                            reads.insert(request.name.clone(), texts.pop().unwrap_or_default());
                            None
                        }
                        Err(error) if error.is_refusal() => {
                            Some(ProviderError::failed(error.kind.to_string()))
                        }
                        Err(error) => return Err(self.mark_lost(&error)),
                    };
                    self.state.reads.sent.insert(request.name, refused);
                }
            }
            Err(error) => return Err(self.mark_lost(&error)),
        }
        Ok(self.state.parse(&reads))
    }

    /// Reads, and adds the answers to the state.
    pub(super) async fn read_into_state(
        &mut self,
        requests: Vec<ReadRequest>,
    ) -> Result<(), ProviderError> {
        let read = self.read_state(requests).await?;
        self.state.add_answers(read);
        Ok(())
    }

    /// Reads what was not read before, and adds the answers to the state.
    pub(super) async fn read_missing(
        &mut self,
        requests: impl IntoIterator<Item = ReadRequest>,
    ) -> Result<(), ProviderError> {
        let missing = self.state.unsent(requests);
        self.read_into_state(missing).await
    }

    /// Reads the configuration, if the difference of a change needs it and it was not read.
    pub(super) async fn read_for_difference(
        &mut self,
        model: &TypeModel,
    ) -> Result<(), ProviderError> {
        let hidden = self.state.driver.supports_diff(model, &self.state.before);
        if !self.shows_difference || hidden != Err(HiddenFromDiff::ConfigurationNotRead) {
            return Ok(());
        }
        let request = self.state.driver.platform().reads.get(CONFIG);
        let request = request.map(|rule| rule.request.clone());
        self.read_missing(request).await
    }

    /// All instances of a type. Reads what was not read before.
    pub(super) async fn read_instances(
        &mut self,
        model: &Arc<TypeModel>,
    ) -> Result<Vec<Instance>, ProviderError> {
        let all = self.state.driver.reads(&[model]);
        self.read_missing(all).await?;
        self.state.instances(model)
    }
}
