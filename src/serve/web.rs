//! Web pages, API and metrics of the proxy process.
//!
//! ```text
//! connection (listener) ─► security headers, host, metrics ─► sender ─► role and CSRF token ─► handler
//! ```
//!
//! [`guard`] has the checks of every request; a handler has none of its own. Handlers read from the store
//! and send requests to the service. A page is a template and its data in one file of [`pages`].

mod action_sender;
mod actions;
mod api;
mod assets;
mod chart;
mod client_certificate;
mod event_streams;
mod fleet_link;
mod guard;
mod layout;
mod limits;
mod line_query;
pub(crate) mod linked_resource;
mod listener;
mod live_events;
mod login;
mod metrics;
mod metrics_text;
mod page_actions;
mod pager;
mod pages;
mod request_metrics;
mod router;
mod select_option;
mod selection_actions;
mod server;
mod shared_views;
mod state;
mod status_label;
#[cfg(test)]
mod tests;
pub(crate) mod tls;
mod web_error;
mod web_settings;
mod worker_pages;

pub(crate) use server::{ServerError, WebServer};
pub(crate) use web_settings::{RunEventKind, WebSettings, WebhookSettings};
pub(crate) use worker_pages::WorkerPages;
