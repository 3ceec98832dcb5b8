//! Events of a run that another node runs, for a page or a program that follows it here.
//!
//! The viewer's process announces the run again and again. The node with the run answers with its events until nobody
//! announces it any more. Nothing is sent while nobody watches.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use switchtender_devices::task;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio::time::Instant;
use tokio_util::task::AbortOnDropHandle;

use super::live::{LiveEvent, LiveEventKind};
use super::requested_runs::REQUEST_TOPIC;
use super::service::Service;
use crate::clock;
use crate::error_chain::chain;
use crate::history::notifications::{LONGEST_BODY, StoreNotification};
use crate::history::{HistoryError, HistoryWriter, RunEffect, RunId};

/// The topics of notifications.
const WATCH: &str = "watch";
const LIVE: &str = "live";

/// Interval between announcements, and how long events are sent after one.
const ANNOUNCEMENT: Duration = Duration::from_secs(5);
const PUBLICATION: Duration = Duration::from_secs(20);

/// Events within this time are sent together.
const GATHERING: Duration = Duration::from_millis(50);

/// The bytes of events that are sent together: a notification has a frame, too.
const PART: usize = LONGEST_BODY - 300;

/// A process follows a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WatchRequest {
    pub(crate) run: RunId,
    /// A new name for each time that a process begins to follow a run.
    pub(crate) viewer: String,
}

/// Events for a viewer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct LivePart {
    pub(crate) run: RunId,
    pub(crate) viewer: String,
    pub(crate) events: Vec<LiveEvent>,
}

/// What is announced to the viewer.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum LiveNotice {
    Part(LivePart),
    /// The part is in the store: it is too long for a notification.
    Row(i64),
}

/// A run that this process follows. It ends when the last viewer drops it.
pub(crate) struct Watch {
    request: WatchRequest,
}

/// A run in progress: its events until now, and those that follow.
pub(crate) struct FollowedRun {
    pub(crate) earlier: Vec<LiveEvent>,
    pub(crate) events: broadcast::Receiver<LiveEvent>,
    /// Another node has the run.
    pub(crate) watch: Option<Arc<Watch>>,
}

/// The runs that this process follows, and those that others follow.
#[derive(Default)]
pub(super) struct LiveWatches {
    watched: Mutex<HashMap<RunId, Weak<Watch>>>,
    /// The viewers, with the time until which they get events.
    viewers: Mutex<HashMap<String, Instant>>,
    /// Tasks that announce runs or send events. They end by themselves, at the latest with the process.
    tasks: Mutex<Vec<AbortOnDropHandle<()>>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl LiveWatches {
    fn watch(&self, run: RunId) -> Option<Arc<Watch>> {
        locked(&self.watched).get(&run)?.upgrade()
    }

    /// A new watch; `Err`: there is one already.
    fn begin(&self, run: RunId) -> Result<Arc<Watch>, Arc<Watch>> {
        let mut watched = locked(&self.watched);
        if let Some(watch) = watched.get(&run).and_then(Weak::upgrade) {
            return Err(watch);
        }
        let viewer = format!("{:032x}", rand::random::<u128>());
        let watch = Arc::new(Watch {
            request: WatchRequest { run, viewer },
        });
        watched.insert(run, Arc::downgrade(&watch));
        Ok(watch)
    }

    fn end(&self, request: &WatchRequest) {
        let mut watched = locked(&self.watched);
        let is_other = |watch: &Weak<Watch>| {
            let watch = watch.upgrade();
            watch.is_some_and(|watch| watch.request != *request)
        };
        if !watched.get(&request.run).is_some_and(is_other) {
            watched.remove(&request.run);
        }
    }

    /// Whether a viewer is new. Its events continue in any case.
    fn add_viewer(&self, viewer: &str, now: Instant) -> bool {
        let mut viewers = locked(&self.viewers);
        viewers
            .insert(viewer.to_owned(), now + PUBLICATION)
            .is_none()
    }

    /// Holds a task until it has ended: without its handle, it would be aborted.
    fn hold(&self, task: AbortOnDropHandle<()>) {
        let mut tasks = locked(&self.tasks);
        tasks.retain(|task| !task.is_finished());
        tasks.push(task);
    }

    fn end_of_viewer(&self, viewer: &str) -> Option<Instant> {
        locked(&self.viewers).get(viewer).copied()
    }
}

impl Service {
    /// Follows a run. `None`: it is not in progress, and the history has its result.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(crate) async fn follow(&self, run: RunId) -> Result<Option<FollowedRun>, HistoryError> {
        let watches = &self.inner.watches;
        self.forget_if_left(run);
        if let Some((earlier, events)) = self.live().of_run(run) {
            return Ok(Some(FollowedRun {
                earlier,
                events,
                watch: watches.watch(run),
            }));
        }
        if !self.history().is_shared() || self.end_of(run).await?.is_some() {
            return Ok(None);
        }
        let watch = match watches.begin(run) {
            Ok(watch) => {
                self.live().begin(run);
                let (service, weak) = (self.clone(), Arc::downgrade(&watch));
                let request = watch.request.clone();
                watches.hold(task::spawn(
                    async move { service.watch(&request, &weak).await },
                ));
                watch
            }
            Err(watch) => watch,
        };
        let found = self.live().of_run(run);
        Ok(found.map(|(earlier, events)| FollowedRun {
            earlier,
            events,
            watch: Some(watch),
        }))
    }

    /// Whether a run waited here, and another node has its device now.
    fn is_left(&self, run: RunId) -> bool {
        self.leases().is_some()
            && self.inner.watches.watch(run).is_none()
            && self.live().is_waiting(run)
            && !self.inner.dispatcher().has_request(run)
    }

    /// Forgets the events of a run that another node has now.
    pub(super) fn forget_if_left(&self, run: RunId) {
        if self.is_left(run) {
            self.live().forget(run);
        }
    }

    /// The last event of a run that has ended.
    async fn end_of(&self, run: RunId) -> Result<Option<LiveEvent>, HistoryError> {
        let found = self.history().query(move |reader| reader.run(run)).await?;
        let ended = found.filter(|found| found.ended.is_some());
        Ok(ended.map(|found| LiveEvent {
            run,
            device: found.device,
            event: LiveEventKind::Ended {
                status: found.status,
                effect: RunEffect::default(),
            },
        }))
    }

    /// Announces a run while somebody follows it, and ends it if its node does not.
    async fn watch(&self, request: &WatchRequest, watch: &Weak<Watch>) {
        let body = serde_json::to_string(request).expect("a request is JSON");
        while watch.strong_count() > 0 && !self.inner.stop.is_cancelled() {
            let body = body.clone();
            let announce = move |writer: &HistoryWriter<'_>| writer.notify(WATCH, &body);
            if let Err(error) = self.history().write(announce).await {
                tracing::debug!("cannot announce a run to follow: {}", chain(&error));
            }
            tokio::select! {
                () = self.inner.stop.cancelled() => break,
                () = tokio::time::sleep(ANNOUNCEMENT) => {}
            }
            if let Ok(Some(end)) = self.end_of(request.run).await {
                self.live().emit(end);
                break;
            }
        }
        self.inner.watches.end(request);
        self.live().forget(request.run);
    }

    /// Answers and receives announcements until the process stops.
    pub(crate) async fn follow_other_nodes(&self) {
        let stop = &self.inner.stop;
        if !self.history().is_shared() {
            return stop.cancelled().await;
        }
        let mut notifications = self.history().notifications();
        loop {
            let received = tokio::select! {
                () = stop.cancelled() => return,
                received = notifications.recv() => received,
            };
            match received {
                Ok(StoreNotification::Message { topic, body }) => match topic.as_str() {
                    WATCH => {
                        if let Ok(request) = serde_json::from_str::<WatchRequest>(&body) {
                            self.inner.feed.add_watch(request.clone());
                            self.publish_to(request);
                        }
                    }
                    LIVE => self.receive_live(&body).await,
                    REQUEST_TOPIC => self.inner.feed.add_request(&body),
                    _ => {}
                },
                Ok(StoreNotification::Restored) | Err(RecvError::Lagged(_)) => {
                    self.inner.feed.add_all();
                }
                Err(RecvError::Closed) => return stop.cancelled().await,
            }
        }
    }

    /// Emits events of a run that this process follows.
    async fn receive_live(&self, body: &str) {
        let part = match serde_json::from_str(body) {
            Ok(LiveNotice::Part(part)) => Some(part),
            Ok(LiveNotice::Row(id)) => {
                let read = self
                    .history()
                    .query(move |reader| reader.live_events(id))
                    .await;
                let body = read.ok().flatten();
                body.and_then(|body| serde_json::from_str::<LivePart>(&body).ok())
            }
            Err(_) => None,
        };
        let Some(part) = part else {
            return;
        };
        let watch = self.inner.watches.watch(part.run);
        if watch.is_some_and(|watch| watch.request.viewer == part.viewer) {
            let events = part.events.into_iter();
            for event in events.filter(|event| event.run == part.run) {
                self.live().emit(event);
            }
        }
    }

    /// Sends the events of a run of this node to a viewer.
    pub(crate) fn publish_to(&self, request: WatchRequest) {
        // This process itself only follows the run.
        if self.inner.watches.watch(request.run).is_some() || self.is_left(request.run) {
            return;
        }
        let Some((earlier, events)) = self.live().of_run(request.run) else {
            return;
        };
        if self
            .inner
            .watches
            .add_viewer(&request.viewer, clock::instant())
        {
            let service = self.clone();
            self.inner.watches.hold(task::spawn(async move {
                service.publish_all(&request, earlier, events).await;
                locked(&service.inner.watches.viewers).remove(&request.viewer);
            }));
        }
    }

    /// Sends events until the run has ended, or nobody follows it.
    async fn publish_all(
        &self,
        request: &WatchRequest,
        mut waiting: Vec<LiveEvent>,
        mut events: broadcast::Receiver<LiveEvent>,
    ) {
        loop {
            let is_ended =
                (waiting.iter()).any(|event| matches!(event.event, LiveEventKind::Ended { .. }));
            for events in parts(std::mem::take(&mut waiting)) {
                let part = LivePart {
                    run: request.run,
                    viewer: request.viewer.clone(),
                    events,
                };
                if let Err(reason) = self.send_live(part).await {
                    tracing::debug!("cannot send events to another node: {reason}");
                }
            }
            let Some(end) = self.inner.watches.end_of_viewer(&request.viewer) else {
                return;
            };
            if is_ended || end <= clock::instant() {
                return;
            }
            let received = tokio::select! {
                () = self.inner.stop.cancelled() => return,
                () = tokio::time::sleep_until(end) => continue,
                received = events.recv() => received,
            };
            // The viewer reads the result when the run has ended.
            let Ok(first) = received else {
                return;
            };
            waiting.push(first);
            tokio::time::sleep(GATHERING).await;
            loop {
                match events.try_recv() {
                    Ok(event) => waiting.push(event),
                    Err(TryRecvError::Empty) => break,
                    Err(_) => return,
                }
            }
            waiting.retain(|event| event.run == request.run);
        }
    }

    /// Sends events through the database, or over the link of a worker.
    async fn send_live(&self, part: LivePart) -> Result<(), String> {
        match &self.inner.link {
            Some(link) => link.publish(part).await.map_err(|error| error.to_string()),
            None => self.publish_live(part).await.map_err(|error| chain(&error)),
        }
    }

    /// Sends events to the process of their viewer.
    ///
    /// # Errors
    /// The store cannot be written.
    pub(crate) async fn publish_live(&self, part: LivePart) -> Result<(), HistoryError> {
        let now = clock::timestamp();
        let long = serde_json::to_string(&part).expect("events are JSON");
        let notice = serde_json::to_string(&LiveNotice::Part(part)).expect("events are JSON");
        let write = move |writer: &HistoryWriter<'_>| {
            if notice.len() <= LONGEST_BODY {
                return writer.notify(LIVE, &notice);
            }
            let row = LiveNotice::Row(writer.add_live_events(&long, now)?);
            writer.notify(
                LIVE,
                &serde_json::to_string(&row).expect("a number is JSON"),
            )
        };
        self.history().write(write).await
    }
}

/// Events in parts that fit into a notification; a long event is a part of its own.
fn parts(events: Vec<LiveEvent>) -> Vec<Vec<LiveEvent>> {
    let mut parts: Vec<Vec<LiveEvent>> = Vec::new();
    let mut free = 0;
    for event in events {
        let size = serde_json::to_string(&event).map_or(0, |text| text.len() + 1);
        match parts.last_mut() {
            Some(part) if size <= free => {
                part.push(event);
                free -= size;
            }
            _ => {
                parts.push(vec![event]);
                free = PART.saturating_sub(size);
            }
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run_kind::RunKind;

    #[test]
    fn events_are_sent_in_parts_that_a_notification_can_have() {
        let event = |number: usize, length: usize| LiveEvent {
            run: RunId(1),
            device: format!("sw{number}-{}", "x".repeat(length)),
            event: LiveEventKind::Started {
                kind: RunKind::Plan,
            },
        };
        let mut events: Vec<LiveEvent> = (0..300).map(|number| event(number, 100)).collect();
        events.insert(150, event(999, 10_000));
        let parts = parts(events.clone());
        assert!(parts.len() > 5 && parts.len() < 12, "{}", parts.len());
        let sizes = parts.iter().map(|events| {
            let notice = LiveNotice::Part(LivePart {
                run: RunId(1),
                viewer: "0".repeat(32),
                events: events.clone(),
            });
            (events.len(), serde_json::to_string(&notice).unwrap().len())
        });
        for (count, size) in sizes {
            assert!(size <= LONGEST_BODY || count == 1, "{count} events: {size}");
        }
        assert_eq!(parts.concat(), events);
    }

    #[test]
    fn live_events_can_be_read_again() {
        let event = LiveEvent {
            run: RunId(7),
            device: "sw1".to_owned(),
            event: LiveEventKind::Queued,
        };
        let text = serde_json::to_string(&event).unwrap();
        assert_eq!(serde_json::from_str::<LiveEvent>(&text).unwrap(), event);
    }
}
