//! The events of a run as server-sent events: HTML for its page, JSON for the API.

use std::convert::Infallible;
use std::sync::Arc;

use askama::Template;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::Stream;
use futures_util::stream;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;

use super::event_streams::StreamPermit;
use super::layout::Sender;
use super::linked_resource::LinkedResource;
use super::state::WebState;
use super::web_error::WebError;
use crate::history::RunId;
use crate::serve::live::{LiveEvent, LiveEventKind};
use crate::serve::live_watch::Watch;
use crate::transaction::LogEntry;

/// The name of the last event.
const FINISHED: &str = "finished";

/// The form of the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EventForm {
    Html,
    Json,
}

#[derive(Template)]
#[template(path = "live_resource.html")]
struct LiveResource {
    resource: LinkedResource,
}

#[derive(Template)]
#[template(path = "live_log.html")]
struct LiveLog<'a> {
    log: &'a LogEntry,
}

/// A stream of events that ends with the run, or with the process.
struct LiveStream {
    run: RunId,
    form: EventForm,
    earlier: std::vec::IntoIter<LiveEvent>,
    events: Option<Receiver<LiveEvent>>,
    stop: CancellationToken,
    /// Another node sends the events until this is dropped.
    _watch: Option<Arc<Watch>>,
    _permit: StreamPermit,
}

/// The events of a run from its start. A run that has ended has the last event only.
pub(super) async fn stream_of(
    state: &WebState,
    sender: &Sender,
    run: &str,
    form: EventForm,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>> + use<>>, WebError> {
    let found = state.require_run(&sender.0, run, |reader, run| reader.run(run));
    let run = found.await?.id;
    let permit = state.streams.acquire(&sender.0)?;
    let live = state.service(&sender.0).live_run(run).await;
    let live = live.map_err(|error| WebError::of_store(&error))?;
    let (earlier, events, watch) = match live {
        Some(found) => (found.earlier, Some(found.events), found.watch),
        None => (Vec::new(), None, None),
    };
    let live = LiveStream {
        run,
        form,
        earlier: earlier.into_iter(),
        events,
        stop: state.stop.clone(),
        _watch: watch,
        _permit: permit,
    };
    let events = stream::unfold(Some(live), |live| async move {
        let mut live = live?;
        match live.next().await {
            Some(event) => Some((Ok(event), Some(live))),
            None => Some((Ok(Event::default().event(FINISHED).data("end")), None)),
        }
    });
    Ok(Sse::new(events).keep_alive(KeepAlive::default()))
}

impl LiveStream {
    /// `None`: the run has ended, or events were lost, and the store has the rest.
    async fn next(&mut self) -> Option<Event> {
        loop {
            let event = match self.earlier.next() {
                Some(event) => event,
                None => {
                    let events = self.events.as_mut()?;
                    let received = tokio::select! {
                        () = self.stop.cancelled() => return None,
                        received = events.recv() => received,
                    };
                    match received {
                        Ok(event) => event,
                        Err(RecvError::Lagged(_) | RecvError::Closed) => return None,
                    }
                }
            };
            if event.run != self.run {
                continue;
            }
            if matches!(event.event, LiveEventKind::Ended { .. }) {
                return None;
            }
            if let Some(text) = data(&event, self.form) {
                return Some(Event::default().data(text));
            }
        }
    }
}

fn data(event: &LiveEvent, form: EventForm) -> Option<String> {
    match (form, &event.event) {
        (EventForm::Json, _) => serde_json::to_string(event).ok(),
        (EventForm::Html, LiveEventKind::Log(log)) => LiveLog { log }.render().ok(),
        (EventForm::Html, LiveEventKind::Resource(resource)) => {
            let resource = LinkedResource::new(&event.device, resource);
            LiveResource { resource }.render().ok()
        }
        (EventForm::Html, _) => None,
    }
}
