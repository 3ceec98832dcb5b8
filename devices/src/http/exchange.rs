//! Requests and their answers.

use http_body_util::BodyExt as _;
use reqwest::header::HeaderMap;
use reqwest::{Client, Method, RequestBuilder};

use super::error::HttpError;
use super::verifier::PresentedCertificate;

/// A connection pool with one trust and one identity.
#[derive(Clone, Debug)]
pub struct HttpClient {
    pub(super) inner: Client,
    pub(super) presented: PresentedCertificate,
}

impl HttpClient {
    /// A request to be sent with [`HttpClient::send`].
    pub fn request(&self, method: Method, url: &str) -> RequestBuilder {
        self.inner.request(method, url)
    }

    /// Sends a request, and returns as soon as the headers of its answer are there.
    ///
    /// # Errors
    /// There are no headers.
    ///
    /// # Cancellation
    /// May be dropped at any time; the request may have reached the server.
    pub async fn send(&self, request: RequestBuilder) -> Result<HttpResponse, HttpError> {
        let response = request.send().await.map_err(HttpError::Send)?;
        Ok(HttpResponse {
            status: response.status().as_u16(),
            headers: response.headers().clone(),
            body: response.into(),
        })
    }

    /// The certificate of the server.
    pub fn presented(&self) -> &PresentedCertificate {
        &self.presented
    }
}

/// An answer whose body is not received yet.
#[derive(Debug)]
pub struct HttpResponse {
    /// The status code.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    body: reqwest::Body,
}

impl HttpResponse {
    /// Whether the status is one of success.
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// Receives the body. Trailers are added to the headers, unless there is such a header.
    ///
    /// # Errors
    /// The body is not complete, or has more than `limit` bytes.
    ///
    /// # Cancellation
    /// May be dropped at any time.
    pub async fn receive(&mut self, limit: usize) -> Result<Vec<u8>, HttpError> {
        let mut received = Vec::new();
        while let Some(frame) = self.body.frame().await {
            match frame.map_err(HttpError::Receive)?.into_data() {
                Ok(piece) if received.len() + piece.len() > limit => {
                    return Err(HttpError::TooLarge { limit });
                }
                Ok(piece) => received.extend_from_slice(&piece),
                Err(frame) => self.add_trailers(frame.into_trailers().unwrap_or_default()),
            }
        }
        Ok(received)
    }

    /// Receives the body piece by piece, and keeps nothing.
    ///
    /// # Errors
    /// The body is not complete.
    ///
    /// # Cancellation
    /// May be dropped at any time.
    pub async fn wait_for_end(&mut self) -> Result<(), HttpError> {
        while let Some(frame) = self.body.frame().await {
            frame.map_err(HttpError::Receive)?;
        }
        Ok(())
    }

    fn add_trailers(&mut self, trailers: HeaderMap) {
        for (name, value) in trailers {
            if let Some(name) = name {
                self.headers.entry(name).or_insert(value);
            }
        }
    }
}
