//! What the handlers of requests share.

use std::sync::Arc;

use axum::extract::FromRef;
use tokio_util::sync::CancellationToken;

use super::api::PendingKeys;
use super::guard::Guard;
use super::web_error::WebError;
use crate::history::{HistoryError, HistoryReader};
use crate::serve::service::Service;

/// The state of the web server.
#[derive(Clone)]
pub(crate) struct WebState {
    pub(crate) guard: Arc<Guard>,
    pub(crate) service: Service,
    pub(crate) pending_keys: PendingKeys,
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

    /// The error about a device that the store does not have.
    pub(super) fn no_device(name: &str) -> WebError {
        let name = switchtender_devices::printable::escape(name);
        WebError::not_found(format!("unknown device `{name}`"))
    }
}
