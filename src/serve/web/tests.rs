//! The web server over HTTP and in a browser, with a store that has runs.

mod access;
mod api;
mod approvals;
mod browser;
mod contrast;
mod document;
mod harness;
mod limits;
mod oidc;
mod outage;
mod pages;
mod shared_store;
mod visible;
mod webhooks;
mod worker_certificates;
mod worker_results;
mod workers;

use reqwest::{Certificate, Client, RequestBuilder, Response, redirect};
