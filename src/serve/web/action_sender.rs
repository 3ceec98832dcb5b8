//! Who requests an action, and through what.

use axum::Extension;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use super::guard::ClientAddress;
use super::layout::{Sender, SenderAddress};
use super::web_error::WebError;
use crate::history::{Requester, RequesterKind};
use crate::serve::access::Principal;

/// The sender of a request for an action.
pub(super) struct ActionSender {
    pub(super) principal: Principal,
    pub(super) address: ClientAddress,
    kind: RequesterKind,
}

impl ActionSender {
    pub(super) fn requester(&self) -> Requester {
        Requester {
            kind: self.kind,
            name: self.principal.name.clone(),
        }
    }
}

/// The sender uses a page.
pub(super) struct PageSender(pub(super) ActionSender);

impl<S: Send + Sync> FromRequestParts<S> for PageSender {
    type Rejection = WebError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, WebError> {
        let (principal, address) = sender(parts, state).await?;
        Ok(Self(ActionSender {
            principal,
            address,
            kind: RequesterKind::Page,
        }))
    }
}

/// The sender uses the API.
pub(super) struct ApiSender(pub(super) ActionSender);

impl<S: Send + Sync> FromRequestParts<S> for ApiSender {
    type Rejection = WebError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, WebError> {
        let (principal, address) = sender(parts, state).await?;
        // `switchtender run` has the token of the host.
        let kind = if principal.is_local() {
            RequesterKind::CommandLine
        } else {
            RequesterKind::Api
        };
        Ok(Self(ActionSender {
            principal,
            address,
            kind,
        }))
    }
}

async fn sender<S: Send + Sync>(
    parts: &mut Parts,
    state: &S,
) -> Result<(Principal, ClientAddress), WebError> {
    let Sender(principal) = Sender::from_request_parts(parts, state).await?;
    let address = SenderAddress::from_request_parts(parts, state).await;
    let Extension(address) = address.map_err(|error| WebError::internal(&error))?;
    Ok((principal, address))
}
