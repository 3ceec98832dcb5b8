//! The header `Idempotency-Key`: a repeated request starts no second run.

use axum::http::HeaderMap;

use crate::clock;
use crate::history::RunId;
use crate::history::idempotency::KeyedRequest;
use crate::serve::web::state::WebState;
use crate::serve::web::web_error::WebError;

const HEADER: &str = "idempotency-key";

/// Maximum length of a key.
const MAX_LENGTH: usize = 255;

/// What a key requires.
pub(super) enum KeyState {
    /// The request has no key.
    None,
    /// The request is new.
    New(KeyedRequest),
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
    let (requester, found_key, now) = (sender.to_owned(), key.clone(), clock::timestamp());
    // The key is of the sender, and of no device.
    let history = state.process().history();
    let earlier = history
        .query(move |reader| reader.earlier_request(&requester, &found_key, now))
        .await
        .map_err(|error| WebError::of_store(&error))?;
    match earlier {
        // Of requests at once, the first one that is stored starts a run.
        None => Ok(KeyState::New(KeyedRequest {
            sender: sender.to_owned(),
            key,
            request: request.to_owned(),
        })),
        Some(earlier) if earlier.request == request => Ok(KeyState::Answered(earlier.run)),
        Some(_) => Err(WebError::of_other_request()),
    }
}
