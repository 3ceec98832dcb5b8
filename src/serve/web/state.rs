//! What the handlers of requests share.

use std::sync::Arc;

use axum::extract::FromRef;
use tokio_util::sync::CancellationToken;

use super::api::PendingKeys;
use super::event_streams::EventStreams;
use super::guard::Guard;
use super::web_error::WebError;
use crate::history::{HistoryError, HistoryReader, RunId};
use crate::serve::service::Service;

/// The state of the web server.
#[derive(Clone)]
pub(crate) struct WebState {
    pub(crate) guard: Arc<Guard>,
    pub(crate) service: Service,
    pub(crate) pending_keys: PendingKeys,
    pub(crate) streams: EventStreams,
    /// Ends open streams when the process stops.
    pub(crate) stop: CancellationToken,
}

impl FromRef<WebState> for Arc<Guard> {
    fn from_ref(state: &WebState) -> Self {
        Arc::clone(&state.guard)
    }
}

impl WebState {
    /// Reads from the store.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        query: impl FnOnce(&HistoryReader<'_>) -> Result<T, HistoryError> + Send + 'static,
    ) -> Result<T, WebError> {
        let result = self.service.history().query(query).await;
        result.map_err(|error| WebError::internal(&error))
    }

    /// Fails for a device that neither the store nor the settings have.
    pub(super) async fn require_device(&self, name: &str) -> Result<(), WebError> {
        if self.service.has_device(name) {
            return Ok(());
        }
        let device = name.to_owned();
        let found = self
            .read(move |reader| reader.fleet_device(&device))
            .await?;
        found.map(|_| ()).ok_or_else(|| Self::no_device(name))
    }

    /// Fails for a run that the store does not have.
    pub(super) async fn require_run(&self, id: RunId) -> Result<(), WebError> {
        let found = self.read(move |reader| reader.run(id)).await?;
        found.map(|_| ()).ok_or_else(|| Self::no_run(id))
    }

    pub(super) fn no_run(id: impl std::fmt::Display) -> WebError {
        let id = id.to_string();
        let id = switchtender_devices::printable::escape(&id);
        WebError::not_found(format!("unknown run `{id}`"))
    }

    /// The error about a device that the store does not have.
    pub(super) fn no_device(name: &str) -> WebError {
        let name = switchtender_devices::printable::escape(name);
        WebError::not_found(format!("unknown device `{name}`"))
    }
}
