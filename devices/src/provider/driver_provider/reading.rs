//! Reads the device: each read is sent once, and a failed one fails only the types that need it.

use std::sync::{Arc, PoisonError};

use super::DriverProvider;
use crate::change::Instance;
use crate::driver::HiddenFromDiff;
use crate::model::TypeModel;
use crate::provider::ProviderError;
use crate::read::{CONFIG, ReadRequest, Reads, State};

impl DriverProvider {
    /// Sends the reads and parses the answers. A failed read fails only the types that need it:
    /// call [`check_failed_reads`](Self::check_failed_reads) for each.
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
                    self.sent_reads.insert(request.name.clone(), None);
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
                    self.sent_reads.insert(request.name, refused);
                }
            }
            Err(error) => return Err(self.mark_lost(&error)),
        }
        let (state, errors) = self.driver.platform().parse_answers(&reads, &self.state);
        for error in errors {
            let failed = ProviderError::failed(error.to_string());
            self.sent_reads.insert(error.read, Some(failed));
        }
        Ok(state)
    }

    /// Reads, and adds the answers to the state.
    pub(super) async fn read_into_state(
        &mut self,
        requests: Vec<ReadRequest>,
    ) -> Result<(), ProviderError> {
        let read = self.read_state(requests).await?;
        self.state.extend(read.clone());
        self.staged.extend_state(&read);
        // Previewed changes began without these answers. Those that they have contain their effect.
        let previewed = self.previewed.get_mut();
        if let Some(previewed) = previewed.unwrap_or_else(PoisonError::into_inner) {
            previewed.state.add_missing(&read);
        }
        self.read.extend(read);
        Ok(())
    }

    /// Reads the configuration, if the difference of a change needs it and it was not read.
    pub(super) async fn read_for_difference(
        &mut self,
        model: &TypeModel,
    ) -> Result<(), ProviderError> {
        let hidden = self.driver.supports_diff(model, &self.read);
        if !self.shows_difference || hidden != Err(HiddenFromDiff::ConfigurationNotRead) {
            return Ok(());
        }
        let request = self.driver.platform().reads.get(CONFIG);
        let request = request.map(|rule| rule.request.clone());
        let missing = request.filter(|request| !self.sent_reads.contains_key(&request.name));
        self.read_into_state(missing.into_iter().collect()).await
    }

    /// All instances of a type. Reads what was not read before.
    pub(super) async fn read_instances(
        &mut self,
        model: &Arc<TypeModel>,
    ) -> Result<Vec<Instance>, ProviderError> {
        let all = self.driver.reads(&[model]);
        let missing = all
            .into_iter()
            .filter(|request| !self.sent_reads.contains_key(&request.name));
        self.read_into_state(missing.collect()).await?;
        self.check_failed_reads(model)?;
        self.driver
            .instances(model, &self.state)
            .map_err(|error| ProviderError::failed(error.to_string()))
    }

    /// Fails if a read failed that the type needs.
    pub(super) fn check_failed_reads(&self, model: &Arc<TypeModel>) -> Result<(), ProviderError> {
        let refused = |name: &str| self.sent_reads.get(name).cloned().flatten();
        let mut requests = self.driver.reads(&[model]).into_iter();
        requests
            .find_map(|request| refused(&request.name))
            .map_or(Ok(()), Err)
    }
}
