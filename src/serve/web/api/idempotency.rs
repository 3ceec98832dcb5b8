//! The header `Idempotency-Key`: a repeated request starts no second run.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use axum::http::{HeaderMap, StatusCode};

use crate::clock;
use crate::history::RunId;
use crate::history::idempotency::KeyedRequest;
use crate::serve::web::state::WebState;
use crate::serve::web::web_error::WebError;

const HEADER: &str = "idempotency-key";

/// Maximum length of a key.
const MAX_LENGTH: usize = 255;

/// Requests with keys that have no answer yet.
#[derive(Clone, Default)]
pub(crate) struct PendingKeys {
    keys: Arc<Mutex<HashSet<(String, String)>>>,
}

/// A key that is pending until this is dropped.
pub(super) struct PendingKey {
    keys: PendingKeys,
    pub(super) keyed: KeyedRequest,
}

impl Drop for PendingKey {
    fn drop(&mut self) {
        let id = (self.keyed.sender.clone(), self.keyed.key.clone());
        self.keys
            .keys
            .lock()
            .expect("no panic with the lock")
            .remove(&id);
    }
}

/// What a key requires.
pub(super) enum KeyState {
    /// The request has no key.
    None,
    /// The request is new.
    New(PendingKey),
    /// The request was answered with this run.
    Answered(RunId),
}

/// The state of the key of a request. `request`: what is requested.
pub(super) async fn state_of(
    state: &WebState,
    headers: &HeaderMap,
    sender: &str,
    request: &str,
) -> Result<KeyState, WebError> {
    let Some(value) = headers.get(HEADER) else {
        return Ok(KeyState::None);
    };
    let invalid = || WebError::invalid("the header `Idempotency-Key` is invalid");
    let key = value.to_str().map_err(|_| invalid())?.to_owned();
    if key.is_empty() || key.len() > MAX_LENGTH {
        return Err(invalid().hint(format!("send 1 to {MAX_LENGTH} ASCII characters")));
    }
    let keys = state.pending_keys.clone();
    let id = (sender.to_owned(), key.clone());
    let is_new = (keys.keys.lock().expect("no panic with the lock")).insert(id);
    if !is_new {
        let text = "a request with the same `Idempotency-Key` is in progress";
        return Err(WebError::new(StatusCode::CONFLICT, text).hint("retry in 1 s"));
    }
    let pending = PendingKey {
        keys,
        keyed: KeyedRequest {
            sender: sender.to_owned(),
            key: key.clone(),
            request: request.to_owned(),
        },
    };
    let (sender, now) = (sender.to_owned(), clock::timestamp());
    // The key is of the sender, and of no device.
    let history = state.process().history();
    let earlier = history
        .query(move |reader| reader.earlier_request(&sender, &key, now))
        .await
        .map_err(|error| WebError::internal(&error))?;
    match earlier {
        None => Ok(KeyState::New(pending)),
        Some(earlier) if earlier.request == request => Ok(KeyState::Answered(earlier.run)),
        Some(_) => {
            let text = "the `Idempotency-Key` belongs to a different request";
            Err(WebError::new(StatusCode::UNPROCESSABLE_ENTITY, text).hint("send a new key"))
        }
    }
}
