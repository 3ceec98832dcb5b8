//! Requests that are collected and carried out together.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::api::Request;
use super::refusal::Refusal;
use super::render::Links;

/// Open and finished transactions.
#[derive(Debug, Default)]
pub struct Transactions {
    next: u64,
    all: BTreeMap<u64, Transaction>,
}

/// One of them.
#[derive(Debug)]
pub struct Transaction {
    /// Queued requests by their numbers.
    pub commands: BTreeMap<u64, Queued>,
    state: &'static str,
    failure: String,
    end: Instant,
    timeout: Duration,
}

/// A request that waits.
#[derive(Debug, Clone)]
pub struct Queued {
    /// The request.
    pub request: Request,
    /// Its place in the order.
    pub order: u64,
}

impl Transactions {
    /// Opens one.
    pub fn open(&mut self, timeout: Duration, links: &Links, now: Instant) -> Value {
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
    pub fn find(&mut self, id: &str, now: Instant) -> Result<(u64, &mut Transaction), Refusal> {
        let missing = || {
            Refusal::plain(
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

    /// All of them.
    pub fn numbers(&self) -> Vec<u64> {
        self.all.keys().copied().collect()
    }

    /// Drops one.
    pub fn close(&mut self, id: u64) {
        self.all.remove(&id);
    }

    /// How it is shown.
    pub fn show(&self, id: u64, links: &Links) -> Option<Value> {
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
    /// Puts a request at the end; the time starts again.
    pub fn queue(
        &mut self,
        id: u64,
        request: Request,
        links: &Links,
        now: Instant,
    ) -> Result<Value, Refusal> {
        if self.state != "STARTED" {
            return Err(Refusal::plain(
                400,
                format!("Transaction {id} is {}.", self.state),
            ));
        }
        self.end = now + self.timeout;
        let number = self.commands.keys().next_back().copied().unwrap_or(0) + 1;
        self.commands.insert(
            number,
            Queued {
                request,
                order: number,
            },
        );
        Ok(self.show_command(id, number, links).unwrap_or_default())
    }

    /// How a queued request is shown.
    pub fn show_command(&self, id: u64, number: u64, links: &Links) -> Option<Value> {
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
    pub fn ordered(&self) -> Vec<Request> {
        let mut queued: Vec<(&u64, &Queued)> = self.commands.iter().collect();
        queued.sort_by_key(|(number, queued)| (queued.order, **number));
        queued
            .into_iter()
            .map(|(_, queued)| queued.request.clone())
            .collect()
    }

    /// How it ended.
    pub fn finish(&mut self, failure: Option<&str>) {
        self.state = if failure.is_some() {
            "FAILED"
        } else {
            "COMPLETED"
        };
        self.failure = failure.unwrap_or_default().to_owned();
    }
}
