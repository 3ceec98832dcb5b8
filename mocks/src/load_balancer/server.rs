//! The load balancer behind its HTTPS server: authentication, and the faults of a request.

use std::sync::{Arc, Mutex};

use hyper::header::AUTHORIZATION;
use serde_json::Value;

use super::api::Api;
use super::message::{ApiRequest, ApiResponse};
use super::refusal::Refusal;

use crate::clock;
use crate::control::{ExchangeLog, lock};
use crate::fault::{FaultDecision, FaultKind, FaultPlan};
use crate::http_server::{HttpAnswer, HttpDevice, HttpRequest};

/// A load balancer as its connections see it.
#[derive(Debug)]
pub(super) struct LoadBalancerService {
    /// The load balancer.
    pub api: Arc<Mutex<Api>>,
    /// Its faults.
    pub faults: Arc<Mutex<FaultPlan>>,
    /// Its log.
    pub log: ExchangeLog,
    /// Whether the device issues tokens.
    pub tokens: bool,
}

const LOGIN: &str = "/mgmt/shared/authn/login";
const UPLOADS: &str = "/mgmt/shared/file-transfer/uploads/";

impl HttpDevice for LoadBalancerService {
    fn command(&self, request: &HttpRequest) -> String {
        request.line()
    }

    fn logged(&self, request: &HttpRequest) -> String {
        let line = request.line();
        match (request.body.is_empty(), request.query.as_str()) {
            _ if request.path == LOGIN => line,
            (true, "") => line,
            (true, query) => format!("{line}?{query}"),
            _ => format!("{line} {}", String::from_utf8_lossy(&request.body)),
        }
    }

    fn execute(&self, request: &HttpRequest, decision: &FaultDecision) -> HttpAnswer {
        let body = if request.body.is_empty() {
            Ok(Value::Null)
        } else if request.path.starts_with(UPLOADS) {
            Ok(String::from_utf8_lossy(&request.body).into())
        } else {
            serde_json::from_slice(&request.body)
        };
        let is_login = request.path == LOGIN;
        let answer: ApiResponse = match body {
            _ if decision.has(FaultKind::Unavailable) => Err(Refusal::unavailable()).into(),
            _ if decision.has(FaultKind::Refuse) => {
                let message = decision.message(FaultKind::Refuse).flatten();
                let text = message.unwrap_or("refused by the mock");
                let coded = text.starts_with(|first: char| first.is_ascii_digit());
                Err(if coded {
                    Refusal::coded(text.to_owned())
                } else {
                    Refusal::configuration(text)
                })
                .into()
            }
            Err(error) => Err(Refusal::body(&error.to_string())).into(),
            Ok(body) if is_login => login(self, &request.method, &body),
            Ok(body) => {
                let transaction = request.header("x-f5-rest-coordination-id");
                let api_request = ApiRequest {
                    method: request.method.clone(),
                    path: request.path.clone(),
                    query: request.query.clone(),
                    body,
                    transaction: transaction.map(str::to_owned),
                };
                let basic = request.header(AUTHORIZATION.as_str());
                let token = request.header("x-f5-auth-token");
                answer(self, &api_request, basic, token, decision)
            }
        };
        let text = if answer.body.is_null() {
            String::new()
        } else {
            answer.body.to_string()
        };
        let rendered = if is_login { "" } else { &text };
        self.log.record(
            request.connection,
            "rest",
            self.logged(request),
            rendered,
            Some(answer.status),
        );
        HttpAnswer {
            status: answer.status,
            body: text,
            ..HttpAnswer::default()
        }
    }
}

fn login(shared: &LoadBalancerService, method: &str, body: &Value) -> ApiResponse {
    if !shared.tokens {
        return Err(Refusal::no_such_uri(LOGIN)).into();
    }
    if method != "POST" {
        return Err(Refusal::method(method, LOGIN)).into();
    }
    if lock(&shared.faults).refuses_login() {
        return Err(Refusal::unauthorized("Authentication failed.")).into();
    }
    lock(&shared.api)
        .sessions
        .login(body, clock::instant())
        .into()
}

fn answer(
    shared: &LoadBalancerService,
    request: &ApiRequest,
    basic: Option<&str>,
    token: Option<&str>,
    decision: &FaultDecision,
) -> ApiResponse {
    let now = clock::instant();
    if token.is_none() && basic.is_some() && lock(&shared.faults).refuses_login() {
        return Err(Refusal::unauthorized("Authentication required!")).into();
    }
    let mut api = lock(&shared.api);
    if let Err(refusal) = api.sessions.authorize(basic, token, now) {
        return Err(refusal).into();
    }
    let before = decision.has(FaultKind::LostWrite).then(|| api.tree.clone());
    let response = api.handle(request, now);
    if let Some(before) = before {
        api.tree = before;
    }
    response
}
