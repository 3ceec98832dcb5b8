//! A device with a REST interface behind its HTTPS server.

use std::sync::{Arc, Mutex};

use super::RestDevice;
use crate::control::ExchangeLog;
use crate::fault::{FaultDecision, FaultPlan};
use crate::http_server::{HttpAnswer, HttpDevice, HttpRequest};

/// A device as its connections see it.
#[derive(Debug)]
pub(in crate::structural) struct RestService {
    pub(in crate::structural) device: Arc<RestDevice>,
    pub(in crate::structural) faults: Arc<Mutex<FaultPlan>>,
    pub(in crate::structural) log: ExchangeLog,
}

impl HttpDevice for RestService {
    /// With its body, because all requests of some devices have one path.
    fn command(&self, request: &HttpRequest) -> String {
        self.logged(request)
    }

    fn logged(&self, request: &HttpRequest) -> String {
        let mut line = request.line();
        if !request.query.is_empty() {
            line.push_str(&format!("?{}", request.query));
        }
        if !request.body.is_empty() && !self.device.is_login(request) {
            line.push_str(&format!(" {}", String::from_utf8_lossy(&request.body)));
        }
        line
    }

    fn execute(&self, request: &HttpRequest, decision: &FaultDecision) -> HttpAnswer {
        let (status, (body, headers)) = self.device.answer(request, decision, &self.faults);
        let body = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        let logs_in = self.device.is_login(request);
        self.log.record(
            request.connection,
            "rest",
            self.logged(request),
            if logs_in { "" } else { &body },
            Some(status),
        );
        HttpAnswer {
            status,
            headers,
            body,
        }
    }
}
