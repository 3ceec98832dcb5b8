//! What the handlers of requests share.

use std::sync::Arc;

use axum::extract::FromRef;
use tokio_util::sync::CancellationToken;

use super::event_streams::EventStreams;
use super::guard::Guard;
use super::web_error::WebError;
use crate::clock;
use crate::history::releases::ReleaseEntry;
use crate::history::run_key::RunKey;
use crate::history::{HistoryError, HistoryReader, RunId};
use crate::serve::access::Principal;
use crate::serve::lease::fleet_status::FleetStatus;
use crate::serve::service::Service;
use crate::serve::visible_service::VisibleService;

/// The state of the web server.
#[derive(Clone)]
pub(crate) struct WebState {
    pub(crate) guard: Arc<Guard>,
    /// Handlers use what the sender sees of it.
    service: Service,
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
    pub(super) fn new(guard: Arc<Guard>, service: Service, stop: CancellationToken) -> Self {
        Self {
            guard,
            service,
            streams: EventStreams::default(),
            stop,
        }
    }

    /// The process as a sender sees it.
    pub(super) fn service<'a>(&'a self, sender: &'a Principal) -> VisibleService<'a> {
        VisibleService::new(&self.service, &sender.roles)
    }

    /// The process itself, for actions that have checked the sender and for checks of health.
    pub(super) fn process(&self) -> &Service {
        &self.service
    }

    /// Reads from the store what the sender sees.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        sender: &Principal,
        query: impl FnOnce(&HistoryReader<'_>) -> Result<T, HistoryError> + Send + 'static,
    ) -> Result<T, WebError> {
        let result = self.service(sender).read(query).await;
        result.map_err(|error| WebError::of_store(&error))
    }

    /// The nodes of the fleet. A sender with some devices sees none of them.
    pub(super) async fn fleet_status(&self, sender: &Principal) -> Result<FleetStatus, WebError> {
        self.require_node(sender)?;
        let now = clock::timestamp();
        let read = self.read(sender, move |reader| FleetStatus::read(reader, now));
        read.await
    }

    /// The releases of the fleet, for the same senders.
    pub(super) async fn releases(&self, sender: &Principal) -> Result<Vec<ReleaseEntry>, WebError> {
        self.require_node(sender)?;
        self.read(sender, |reader| reader.releases()).await
    }

    fn require_node(&self, sender: &Principal) -> Result<(), WebError> {
        if self.service.leases().is_some() && sender.roles.sees_all() {
            Ok(())
        } else {
            Err(WebError::not_found("this process is no node of a fleet"))
        }
    }

    /// Fails for a device that neither the store nor the settings have, and for one that the sender does not see.
    pub(super) async fn require_device(
        &self,
        sender: &Principal,
        name: &str,
    ) -> Result<(), WebError> {
        let role = self.service(sender).role_on(name).await;
        let role = role.map_err(|error| WebError::of_store(&error))?;
        role.map(|_| ()).ok_or_else(|| Self::no_device(name))
    }

    /// A run of a device that the sender sees, by its number or UUID. One that is folded is an error with its day.
    pub(super) async fn require_run<T: Send + 'static>(
        &self,
        sender: &Principal,
        run: &str,
        query: impl FnOnce(&HistoryReader<'_>, RunId) -> Result<Option<T>, HistoryError>
        + Send
        + 'static,
    ) -> Result<T, WebError> {
        let unknown = || {
            let run = switchtender_devices::printable::escape(run);
            WebError::not_found(format!("unknown run `{run}`"))
        };
        let key: RunKey = run.parse().map_err(|()| unknown())?;
        let found = self.read(sender, move |reader| {
            let number = reader.run_number(key)?;
            let found = number.map(|run| query(reader, run)).transpose()?.flatten();
            match found {
                Some(found) => Ok(Ok(found)),
                None => Ok(Err(reader.folded_run(key)?)),
            }
        });
        found.await?.map_err(|folded| match folded {
            Some(day) => WebError::folded(key, day),
            None => unknown(),
        })
    }

    pub(super) fn no_approval(id: impl std::fmt::Display) -> WebError {
        let id = id.to_string();
        let id = switchtender_devices::printable::escape(&id);
        WebError::not_found(format!("unknown approval `{id}`"))
    }

    /// The error about a device that the store does not have.
    pub(super) fn no_device(name: &str) -> WebError {
        let name = switchtender_devices::printable::escape(name);
        WebError::not_found(format!("unknown device `{name}`"))
    }
}
