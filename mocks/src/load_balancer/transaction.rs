//! Transactions: requests that are queued and executed together.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::message::ApiRequest;
use super::refusal::Refusal;
use super::render::Links;

/// Open and finished transactions.
#[derive(Debug, Default)]
pub(super) struct Transactions {
    next: u64,
    all: BTreeMap<u64, Transaction>,
}

/// A transaction.
#[derive(Debug)]
pub(super) struct Transaction {
    /// Queued requests by their numbers.
    pub commands: BTreeMap<u64, QueuedRequest>,
    state: &'static str,
    failure: String,
    end: Instant,
    timeout: Duration,
}

/// A queued request.
#[derive(Debug, Clone)]
pub(super) struct QueuedRequest {
    /// The request.
    pub request: ApiRequest,
    /// Its position in the order.
    pub order: u64,
}

impl Transactions {
    /// Opens a transaction.
    pub(super) fn open(&mut self, timeout: Duration, links: &Links, now: Instant) -> Value {
        self.next += 1;
        let id = 1_700_000_000_000_000 + self.next;
        self.all.insert(
            id,
            Transaction {
                commands: BTreeMap::new(),
                state: "STARTED",
                failure: String::new(),
                end: now + timeout,
                timeout,
            },
        );
        self.show(id, links).unwrap_or_default()
    }

    /// The open transaction with this number.
    pub(super) fn find(
        &mut self,
        id: &str,
        now: Instant,
    ) -> Result<(u64, &mut Transaction), Refusal> {
        let missing = || {
            Refusal::without_code(
                404,
                format!("Transaction {id} does not exist or has expired."),
            )
        };
        let number: u64 = id.parse().map_err(|_| missing())?;
        self.all
            .retain(|_, transaction| transaction.end > now || transaction.state != "STARTED");
        self.all
            .get_mut(&number)
            .map(|transaction| (number, transaction))
            .ok_or_else(missing)
    }

    /// All items.
    pub(super) fn numbers(&self) -> Vec<u64> {
        self.all.keys().copied().collect()
    }

    /// Deletes a transaction.
    pub(super) fn close(&mut self, id: u64) {
        self.all.remove(&id);
    }

    /// The rendered transaction.
    pub(super) fn show(&self, id: u64, links: &Links) -> Option<Value> {
        let transaction = self.all.get(&id)?;
        Some(json!({
            "transId": id,
            "state": transaction.state,
            "timeoutSeconds": transaction.timeout.as_secs(),
            "asyncExecution": false,
            "validateOnly": false,
            "executionTimeoutSeconds": 300,
            "executionTime": 0,
            "failureReason": transaction.failure,
            "kind": "tm:transactionstate",
            "selfLink": links.to(&format!("transaction/{id}")),
        }))
    }
}

impl Transaction {
    /// Appends a request and restarts the timeout.
    pub(super) fn queue(
        &mut self,
        id: u64,
        request: ApiRequest,
        links: &Links,
        now: Instant,
    ) -> Result<Value, Refusal> {
        if self.state != "STARTED" {
            return Err(Refusal::without_code(
                400,
                format!("Transaction {id} is {}.", self.state),
            ));
        }
        self.end = now + self.timeout;
        let number = self.commands.keys().next_back().copied().unwrap_or(0) + 1;
        self.commands.insert(
            number,
            QueuedRequest {
                request,
                order: number,
            },
        );
        Ok(self.show_command(id, number, links).unwrap_or_default())
    }

    /// The rendered request.
    pub(super) fn show_command(&self, id: u64, number: u64, links: &Links) -> Option<Value> {
        let queued = self.commands.get(&number)?;
        Some(json!({
            "commandId": number,
            "evalOrder": queued.order,
            "method": queued.request.method,
            "uri": format!("https://localhost{}", queued.request.path),
            "body": queued.request.body,
            "kind": "tm:transaction:commandsstate",
            "selfLink": links.to(&format!("transaction/{id}/commands/{number}")),
        }))
    }

    /// The requests in their order.
    pub(super) fn ordered(&self) -> Vec<ApiRequest> {
        let mut queued: Vec<(&u64, &QueuedRequest)> = self.commands.iter().collect();
        queued.sort_by_key(|(number, queued)| (queued.order, **number));
        queued
            .into_iter()
            .map(|(_, queued)| queued.request.clone())
            .collect()
    }

    /// Records the result.
    pub(super) fn finish(&mut self, failure: Option<&str>) {
        self.state = if failure.is_some() {
            "FAILED"
        } else {
            "COMPLETED"
        };
        self.failure = failure.unwrap_or_default().to_owned();
    }
}
