//! The HTTP clients of all connections: to devices, Puppet Server, PuppetDB, receivers of webhooks and
//! the own process.
//!
//! Only this module uses the HTTP library. A client follows no redirect, which would send credentials
//! to another host, and reads no body without a limit. It does not know what it transfers.

mod clear_text;
mod client_settings;
mod error;
mod exchange;
mod tls;
mod verifier;

pub use clear_text::sends_in_clear;
pub use client_settings::{ClientRoute, ClientSettings, ClientSettingsError};
pub use error::{HttpError, NO_TLS, is_ca_certificate};
pub use exchange::{HttpClient, HttpResponse};
pub use reqwest::{Method, RequestBuilder, Url, header};
pub use tls::{Authorities, Identity, Revocation, Trust, certificates_of_pem};
pub use verifier::PresentedCertificate;
