//! What a worker waits for, at the hub and at the worker.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

use super::client::HubLink;
use super::protocol::Work;
use crate::clock;
use crate::serve::live_watch::WatchRequest;
use crate::serve::service::Service;

/// How long a hub waits for something new: less than proxies on the way wait for an answer.
const WAIT: Duration = Duration::from_secs(25);

/// What a hub has for workers that come back. A worker that was away longer reads everything.
const CAPACITY: usize = 1024;

/// The pause of a worker after a hub did not answer.
const PAUSE: Duration = Duration::from_secs(2);

/// What happened at a hub, for its workers.
pub(crate) struct WorkFeed {
    /// The name of this list: another process has another one.
    name: String,
    state: Mutex<FeedState>,
    changed: Notify,
}

#[derive(Default)]
struct FeedState {
    /// The number of the first entry.
    first: u64,
    entries: VecDeque<FeedEntry>,
}

enum FeedEntry {
    /// A request for a device of a site.
    Request {
        site: String,
    },
    Watch(WatchRequest),
    /// Anything can have happened.
    All,
}

impl Default for WorkFeed {
    fn default() -> Self {
        Self {
            name: format!("{:016x}", rand::random::<u64>()),
            state: Mutex::default(),
            changed: Notify::new(),
        }
    }
}

impl WorkFeed {
    /// A request for a device of a shard.
    pub(crate) fn add_request(&self, shard: &str) {
        let site = shard.rsplit_once('/').map_or(shard, |(site, _)| site);
        let site = site.to_owned();
        self.add(FeedEntry::Request { site });
    }

    pub(crate) fn add_watch(&self, request: WatchRequest) {
        self.add(FeedEntry::Watch(request));
    }

    pub(crate) fn add_all(&self) {
        self.add(FeedEntry::All);
    }

    fn add(&self, entry: FeedEntry) {
        let mut state = self.state();
        state.entries.push_back(entry);
        if state.entries.len() > CAPACITY {
            state.entries.pop_front();
            state.first += 1;
        }
        drop(state);
        self.changed.notify_waiters();
    }

    fn state(&self) -> MutexGuard<'_, FeedState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until there is something after a place for a worker with these sites.
    ///
    /// # Cancellation
    /// May be dropped at any time.
    pub(crate) async fn wait(&self, position: &str, sites: &BTreeSet<String>) -> Work {
        let end = clock::instant() + WAIT;
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            // What is added from here on wakes it.
            changed.as_mut().enable();
            let (work, has_something) = self.after(position, sites);
            if has_something {
                return work;
            }
            if tokio::time::timeout_at(end, changed).await.is_err() {
                return work;
            }
        }
    }

    /// What came after a place.
    fn after(&self, position: &str, sites: &BTreeSet<String>) -> (Work, bool) {
        let state = self.state();
        let next = state.first + state.entries.len() as u64;
        let mut work = Work {
            position: format!("{}-{next}", self.name),
            ..Work::default()
        };
        let number = position.split_once('-').and_then(|(name, number)| {
            let number: u64 = number.parse().ok()?;
            (name == self.name && (state.first..=next).contains(&number)).then_some(number)
        });
        let Some(number) = number else {
            work.is_new = true;
            return (work, true);
        };
        let skipped = usize::try_from(number - state.first).unwrap_or(usize::MAX);
        for entry in state.entries.iter().skip(skipped) {
            match entry {
                FeedEntry::All => work.is_new = true,
                FeedEntry::Request { site } => work.is_new |= sites.contains(site),
                FeedEntry::Watch(request) => work.watches.push(request.clone()),
            }
        }
        let has_something = work.is_new || !work.watches.is_empty();
        (work, has_something)
    }
}

impl Service {
    /// Waits at a hub for work, until the process stops.
    pub(crate) async fn wait_at_hub(&self, link: &HubLink) {
        let stop = &self.inner.stop;
        let mut position = String::new();
        while !stop.is_cancelled() {
            let waited = tokio::select! {
                () = stop.cancelled() => return,
                waited = link.wait_for_work(&position) => waited,
            };
            match waited {
                Ok(work) => {
                    position = work.position;
                    if work.is_new {
                        self.inner.requested.notify_one();
                    }
                    for request in work.watches {
                        self.publish_to(request);
                    }
                }
                Err(error) => {
                    tracing::debug!("no work: {error}");
                    position.clear();
                    tokio::select! {
                        () = stop.cancelled() => return,
                        () = tokio::time::sleep(PAUSE) => {}
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::RunId;

    #[tokio::test(start_paused = true)]
    async fn a_worker_gets_what_came_after_its_position_and_is_of_its_sites() {
        let feed = WorkFeed::default();
        let sites = BTreeSet::from(["berlin".to_owned()]);
        let first = feed.wait("", &sites).await;
        assert!(first.is_new);
        feed.add_request("paris/0");
        let none = feed.wait(&first.position, &sites).await;
        assert!(!none.is_new);
        assert_ne!(none.position, first.position);
        feed.add_request("berlin/3");
        let watch = WatchRequest {
            run: RunId(4),
            viewer: "v".to_owned(),
        };
        feed.add_watch(watch.clone());
        let both = feed.wait(&none.position, &sites).await;
        assert!(both.is_new);
        assert_eq!(both.watches, [watch]);
        // A hub that was restarted does not know the place.
        let restarted = WorkFeed::default();
        assert!(restarted.wait(&both.position, &sites).await.is_new);
        for _ in 0..=CAPACITY {
            feed.add_request("paris/0");
        }
        assert!(feed.wait(&both.position, &sites).await.is_new);
    }

    #[tokio::test]
    async fn a_waiting_worker_is_woken() {
        let feed = WorkFeed::default();
        let sites = BTreeSet::from(["berlin".to_owned()]);
        let position = feed.wait("", &sites).await.position;
        let (work, ()) = tokio::join!(feed.wait(&position, &sites), async {
            feed.add_request("berlin/0");
        });
        assert!(work.is_new);
    }
}
