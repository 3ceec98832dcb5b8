//! A bare HTTPS client with basic credentials.

use reqwest::{Client, Method, RequestBuilder};
use serde_json::Value;
use switchtender_mocks::{LoadBalancer, LoadBalancerOptions, RunningLoadBalancer};

pub(crate) struct Box {
    pub running: RunningLoadBalancer,
    pub http: Client,
}

pub(crate) fn client(running: &RunningLoadBalancer) -> Client {
    client_with(&running.ca_pem())
}

/// A client that trusts this authority only.
pub(crate) fn client_with(authority: &str) -> Client {
    // The second test in a process finds it installed, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let authority = reqwest::Certificate::from_pem(authority.as_bytes()).unwrap();
    Client::builder()
        .tls_certs_only([authority])
        .no_proxy()
        .build()
        .unwrap()
}

pub(crate) async fn start(options: LoadBalancerOptions) -> Box {
    let running = LoadBalancer::start(options, 0).await.unwrap();
    let http = client(&running);
    Box { running, http }
}

impl Box {
    pub(crate) async fn new() -> Self {
        start(LoadBalancerOptions::default()).await
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!(
            "https://127.0.0.1:{}/mgmt/{path}",
            self.running.address().port()
        )
    }

    pub(crate) fn request(&self, method: &str, path: &str) -> RequestBuilder {
        self.http.request(
            Method::from_bytes(method.as_bytes()).unwrap(),
            self.url(path),
        )
    }

    /// Status and body of a request below `/mgmt/tm`, with the administrator's credentials.
    pub(crate) async fn ask(&self, method: &str, path: &str, body: Value) -> (u16, Value) {
        let request = self
            .request(method, &format!("tm/{path}"))
            .basic_auth("admin", Some("admin"));
        let request = if body.is_null() {
            request
        } else {
            request.json(&body)
        };
        answer(request).await
    }

    pub(crate) async fn get(&self, path: &str) -> Value {
        let (status, body) = self.ask("GET", path, Value::Null).await;
        assert_eq!(status, 200, "GET {path}: {body}");
        body
    }

    pub(crate) async fn done(&self, method: &str, path: &str, body: Value) -> Value {
        let (status, answer) = self.ask(method, path, body.clone()).await;
        assert_eq!(status, 200, "{method} {path} {body}: {answer}");
        answer
    }

    /// The refusal's status and message.
    pub(crate) async fn refused(&self, method: &str, path: &str, body: Value) -> (u16, String) {
        let (status, answer) = self.ask(method, path, body.clone()).await;
        assert!(
            status >= 400,
            "{method} {path} {body} was accepted: {answer}"
        );
        assert_eq!(answer["code"], status, "{answer}");
        (status, answer["message"].as_str().unwrap().to_owned())
    }
}

pub(crate) async fn answer(request: RequestBuilder) -> (u16, Value) {
    let response = request.send().await.unwrap();
    let status = response.status().as_u16();
    let text = response.text().await.unwrap();
    let body = if text.is_empty() {
        Value::Null
    } else {
        serde_json::from_str(&text).unwrap()
    };
    (status, body)
}
