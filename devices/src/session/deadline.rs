//! The end of a run: a moment after which its sessions wait for nothing.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use super::error::SessionErrorKind;
use crate::{clock, duration};

/// The moment at which a run ends, shared by the run and its sessions. Without a moment the run
/// has no end of its own. A wait of a session ends at this moment with
/// [`Stopped`](super::SessionErrorKind::Stopped).
#[derive(Clone, Debug)]
pub struct Deadline {
    end: Arc<watch::Sender<Option<End>>>,
}

#[derive(Clone, Copy, Debug)]
struct End {
    at: Instant,
    cause: StopCause,
}

/// Why a run ends before its work is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopCause {
    /// The user or the system stopped it.
    Requested,
    /// A limit of its duration.
    Limit {
        /// The setting.
        setting: &'static str,
        /// Its value.
        limit: Duration,
    },
}

impl fmt::Display for StopCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StopCause::Requested => f.write_str("the run was stopped"),
            StopCause::Limit { setting, limit } => {
                let limit = duration::render(*limit);
                write!(f, "the run did not end within {limit} ({setting})")
            }
        }
    }
}

/// Why a wait ended without its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WaitEnd {
    /// Its own limit.
    Limit,
    /// The end of the run.
    Stopped(StopCause),
}

impl Default for Deadline {
    fn default() -> Self {
        Self {
            end: Arc::new(watch::Sender::new(None)),
        }
    }
}

impl Deadline {
    /// Ends the run at this moment, unless it ends earlier.
    pub fn end_at(&self, at: Instant, cause: StopCause) {
        self.end.send_if_modified(|end| {
            let is_earlier = end.is_none_or(|end| at < end.at);
            if is_earlier {
                *end = Some(End { at, cause });
            }
            is_earlier
        });
    }

    /// Whether the moment has passed, and why the run ended.
    pub fn passed_by(&self) -> Option<StopCause> {
        let end = *self.end.borrow();
        end.filter(|end| end.at <= clock::instant())
            .map(|end| end.cause)
    }

    /// Waits for a person, whose time no limit counts. A request to stop ends the run all the same.
    ///
    /// # Cancellation
    /// Must not be dropped midway: the run would have no limit.
    pub async fn without_limit<T>(&self, wait: impl Future<Output = T>) -> T {
        let began = clock::instant();
        let mut limited = None;
        self.end.send_if_modified(|end| {
            limited = end.take_if(|end| matches!(end.cause, StopCause::Limit { .. }));
            limited.is_some()
        });
        let done = wait.await;
        if let Some(end) = limited {
            self.end_at(end.at + began.elapsed(), end.cause);
        }
        done
    }

    /// Waits for the moment.
    ///
    /// # Cancellation
    /// May be dropped at any time.
    pub async fn passed(&self) -> StopCause {
        let mut changes = self.end.subscribe();
        loop {
            let end = *changes.borrow_and_update();
            let wait = async {
                match end {
                    Some(end) => {
                        sleep_until(end.at).await;
                        end.cause
                    }
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                cause = wait => return cause,
                // The sender is a part of `self`, so it exists.
                _ = changes.changed() => {}
            }
        }
    }

    /// Waits for `work`, at most until `limit` or the end of the run.
    pub(super) async fn within<T>(
        &self,
        limit: Instant,
        work: impl Future<Output = T>,
    ) -> Result<T, WaitEnd> {
        tokio::select! {
            biased;
            cause = self.passed() => Err(WaitEnd::Stopped(cause)),
            done = work => Ok(done),
            () = sleep_until(limit) => Err(WaitEnd::Limit),
        }
    }
}

/// The end of a login that began now.
#[derive(Clone, Copy, Debug)]
pub(super) struct LoginEnd {
    pub(crate) at: Instant,
    limit: Duration,
}

impl LoginEnd {
    /// A login that may take this time.
    pub(crate) fn after(limit: Duration) -> Self {
        Self {
            at: clock::instant() + limit,
            limit,
        }
    }

    /// The end of the same login, if it may take no more than another time.
    pub(crate) fn at_most(self, limit: Duration) -> Self {
        if limit < self.limit {
            Self {
                at: self.at - (self.limit - limit),
                limit,
            }
        } else {
            self
        }
    }

    /// The error of a login that ended early.
    pub(crate) fn error(self, end: WaitEnd, last_output: String) -> SessionErrorKind {
        match end {
            WaitEnd::Limit => SessionErrorKind::LoginLimit {
                limit: self.limit,
                last_output,
            },
            WaitEnd::Stopped(cause) => SessionErrorKind::Stopped {
                command: String::new(),
                cause,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: StopCause = StopCause::Limit {
        setting: "run_limit",
        limit: Duration::from_secs(9),
    };

    #[tokio::test(start_paused = true)]
    async fn earliest_moment_ends_all_waits() {
        let deadline = Deadline::default();
        let began = clock::instant();
        let waiting = crate::task::spawn({
            let deadline = deadline.clone();
            async move { (deadline.passed().await, clock::instant()) }
        });
        tokio::task::yield_now().await;
        deadline.end_at(began + Duration::from_secs(20), StopCause::Requested);
        deadline.end_at(began + Duration::from_secs(9), LIMIT);
        deadline.end_at(began + Duration::from_secs(30), StopCause::Requested);
        assert_eq!(deadline.passed_by(), None);
        let (cause, at) = waiting.await.expect("ended");
        assert_eq!((cause, at - began), (LIMIT, Duration::from_secs(9)));
        assert_eq!(deadline.passed_by(), Some(LIMIT));
        let never = std::future::pending::<()>();
        let ended = deadline.within(began + Duration::from_secs(99), never);
        assert_eq!(ended.await, Err(WaitEnd::Stopped(LIMIT)));
    }

    #[tokio::test(start_paused = true)]
    async fn wait_for_a_person_moves_the_limit() {
        let deadline = Deadline::default();
        let began = clock::instant();
        deadline.end_at(began + Duration::from_secs(9), LIMIT);
        let answer = deadline.without_limit(tokio::time::sleep(Duration::from_secs(60)));
        answer.await;
        assert_eq!(deadline.passed_by(), None);
        assert_eq!(deadline.passed().await, LIMIT);
        assert_eq!(began.elapsed(), Duration::from_secs(69));
    }

    #[tokio::test(start_paused = true)]
    async fn own_limit_ends_a_wait_of_a_run_without_end() {
        let deadline = Deadline::default();
        let limit = clock::instant() + Duration::from_secs(5);
        let ended = deadline.within(limit, std::future::pending::<()>()).await;
        assert_eq!(ended, Err(WaitEnd::Limit));
        assert_eq!(clock::instant(), limit);
        assert_eq!(deadline.within(limit, async { 1 }).await, Ok(1));
    }
}
