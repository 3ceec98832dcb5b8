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

/// The shortest time between two requests of a worker: an answer can come at once again and again.
const SHORTEST_WAIT: Duration = Duration::from_millis(250);

/// The hubs whose places a worker remembers. A load balancer can send each request to another hub.
const MOST_HUBS: usize = 16;

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

    /// What came after a place. A position has the places of several hubs: `NAME-NUMBER,NAME-NUMBER`.
    fn after(&self, position: &str, sites: &BTreeSet<String>) -> (Work, bool) {
        let state = self.state();
        let next = state.first + state.entries.len() as u64;
        let positions = position.split(',').filter_map(hub_position);
        let (own, mut others): (Vec<_>, Vec<_>) =
            positions.partition(|(name, _)| *name == self.name);
        others.truncate(MOST_HUBS - 1);
        let new = [(self.name.as_str(), next)];
        let all = new.iter().chain(&others);
        let all: Vec<String> = all
            .map(|(name, number)| format!("{name}-{number}"))
            .collect();
        let mut work = Work {
            position: all.join(","),
            ..Work::default()
        };
        let number = own.first().map(|(_, number)| *number);
        let number = number.filter(|number| (state.first..=next).contains(number));
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

/// The name of a hub's list, and the place in it.
fn hub_position(text: &str) -> Option<(&str, u64)> {
    let (name, number) = text.split_once('-')?;
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_name.then_some((name, number.parse().ok()?))
}

impl Service {
    /// Waits at a hub for work, until the process stops.
    pub(crate) async fn wait_at_hub(&self, link: &HubLink) {
        let stop = &self.inner.stop;
        let mut position = String::new();
        while !stop.is_cancelled() {
            let earliest = clock::instant() + SHORTEST_WAIT;
            let waited = tokio::select! {
                () = stop.cancelled() => return,
                waited = link.wait_for_work(&position) => waited,
            };
            let next = match waited {
                Ok(work) => {
                    position = work.position;
                    if work.is_new {
                        self.inner.requested.notify_one();
                    }
                    for request in work.watches {
                        self.publish_to(request);
                    }
                    earliest
                }
                Err(error) => {
                    tracing::debug!("no work: {error}");
                    position.clear();
                    clock::instant() + PAUSE
                }
            };
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep_until(next) => {}
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

    #[tokio::test(start_paused = true)]
    async fn a_worker_behind_a_load_balancer_waits_at_each_hub() {
        let hubs = [WorkFeed::default(), WorkFeed::default()];
        let sites = BTreeSet::from(["berlin".to_owned()]);
        let mut position = String::new();
        for hub in &hubs {
            let first = hub.wait(&position, &sites).await;
            assert!(first.is_new);
            position = first.position;
        }
        let begin = clock::instant();
        for hub in hubs.iter().cycle().take(4) {
            let none = hub.wait(&position, &sites).await;
            assert!(!none.is_new);
            position = none.position;
        }
        assert_eq!(clock::instant() - begin, 4 * WAIT);
        // Each hub has announced it.
        for hub in &hubs {
            hub.add_request("berlin/0");
        }
        for hub in &hubs {
            let new = hub.wait(&position, &sites).await;
            assert!(new.is_new);
            position = new.position;
        }
        for _ in 0..2 * MOST_HUBS {
            let restarted = WorkFeed::default();
            position = restarted.wait(&position, &sites).await.position;
        }
        assert_eq!(position.split(',').count(), MOST_HUBS);
    }
}
