//! What all pages have: title, navigation and sender.

use axum::Extension;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use super::guard::ClientAddress;
use super::web_error::WebError;
use crate::serve::access::{AuthMethod, Denied, Principal, Role};

/// Pages in the navigation: name, path and key.
const PAGES: [(&str, &str, &str); 7] = [
    ("Devices", "/", "f"),
    ("Runs", "/runs", "r"),
    ("Approvals", "/approvals", "v"),
    ("Findings", "/findings", "d"),
    ("Search", "/search", "s"),
    ("Compare", "/compare", "c"),
    ("Audit log", "/audit", "a"),
];

/// The frame of a page.
#[derive(Default)]
pub(super) struct PageLayout {
    pub(super) title: String,
    pub(super) user: String,
    pub(super) role: &'static str,
    pub(super) csrf: String,
    pub(super) has_session: bool,
    is_admin: bool,
    path: &'static str,
}

pub(super) struct NavigationLink {
    pub(super) name: &'static str,
    pub(super) path: &'static str,
    pub(super) key: &'static str,
    pub(super) is_current: bool,
}

impl PageLayout {
    /// `path`: the page of the navigation that this one belongs to.
    pub(super) fn new(principal: &Principal, title: &str, path: &'static str) -> Self {
        Self {
            title: title.to_owned(),
            user: principal.name.clone(),
            role: principal.roles.highest().word(),
            csrf: principal.csrf_token.clone(),
            has_session: principal.method == AuthMethod::Session,
            is_admin: principal.roles.of_fleet() >= Some(Role::Admin),
            path,
        }
    }

    /// The frame of an error of somebody who did not log in.
    pub(super) fn without_sender(title: &str) -> Self {
        Self {
            title: title.to_owned(),
            ..Self::default()
        }
    }

    pub(super) fn links(&self) -> Vec<NavigationLink> {
        if self.user.is_empty() {
            return Vec::new();
        }
        let pages = PAGES
            .iter()
            .filter(|(_, path, _)| *path != "/audit" || self.is_admin);
        pages
            .map(|&(name, path, key)| NavigationLink {
                name,
                path,
                key,
                is_current: path == self.path,
            })
            .collect()
    }
}

/// The sender of a request that passed a check of its role.
pub(super) struct Sender(pub(super) Principal);

impl<S: Sync> FromRequestParts<S> for Sender {
    type Rejection = WebError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, WebError> {
        let principal = parts.extensions.get::<Principal>().cloned();
        principal
            .map(Self)
            .ok_or_else(|| Denied::NoCredentials.into())
    }
}

/// The address of the sender of a request.
pub(super) type SenderAddress = Extension<ClientAddress>;
