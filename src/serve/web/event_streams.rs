//! Limits for event streams, which are connections that stay open.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use axum::http::StatusCode;

use super::web_error::WebError;
use crate::serve::access::Principal;

/// Streams of one user or token at once.
const PER_USER: usize = 32;

/// Streams at once. The other connections are for requests.
const ALL: usize = 256;

/// The open streams by user.
#[derive(Clone, Default)]
pub(crate) struct EventStreams {
    open: Arc<Mutex<HashMap<String, usize>>>,
}

/// A permit for one stream, until it is dropped.
pub(super) struct StreamPermit {
    streams: EventStreams,
    user: String,
}

impl EventStreams {
    /// Takes a permit.
    ///
    /// # Errors
    /// Too many streams are open.
    pub(super) fn acquire(&self, principal: &Principal) -> Result<StreamPermit, WebError> {
        let user = format!("{:?} {}", principal.method, principal.name);
        let mut open = self.open.lock().expect("no panic with the lock");
        let of_user = open.get(&user).copied().unwrap_or_default();
        if of_user >= PER_USER || open.values().sum::<usize>() >= ALL {
            let text = "too many event streams are open";
            let error = WebError::new(StatusCode::TOO_MANY_REQUESTS, text);
            return Err(error.hint("close pages of runs, or end programs that follow runs"));
        }
        open.insert(user.clone(), of_user + 1);
        Ok(StreamPermit {
            streams: self.clone(),
            user,
        })
    }
}

impl Drop for StreamPermit {
    fn drop(&mut self) {
        let mut open = self.streams.open.lock().expect("no panic with the lock");
        if let Some(count) = open.get_mut(&self.user) {
            *count -= 1;
            if *count == 0 {
                open.remove(&self.user);
            }
        }
    }
}
