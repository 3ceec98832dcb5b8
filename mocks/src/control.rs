//! The exchange log of a mock, for tests: in memory and as JSON lines.
//!
//! Passwords of logins and password prompts are not in the log.
//! Configuration lines are complete, secrets included, because assertions compare them.

use std::collections::VecDeque;
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::clock;

/// Maximum length of an answer in the log, in bytes.
pub const ANSWER_LIMIT: usize = 2048;

/// One command or request and its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Exchange {
    /// Name of the mock device.
    pub device: String,
    /// Number of the connection, from 1.
    pub connection: u64,
    /// Milliseconds since the start of the device.
    pub offset_ms: u64,
    /// Mode of a switch (`exec`, `privileged`, `config`, `config-if` …); `rest` for a load balancer.
    pub mode: String,
    /// The line, or `METHOD /path` followed by the body.
    pub received: String,
    /// The answer without echo and prompt, or status and body, up to [`ANSWER_LIMIT`].
    pub answered: String,
    /// HTTP status; absent for a switch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
}

/// A destination for JSON lines.
pub type LogWriter = Box<dyn Write + Send>;

/// A writer that several devices share.
#[derive(Clone)]
pub struct SharedWriter(Arc<Mutex<LogWriter>>);

impl std::fmt::Debug for SharedWriter {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("SharedWriter")
    }
}

impl SharedWriter {
    /// Shares a writer; each exchange is one line and is flushed.
    pub fn new(writer: impl Write + Send + 'static) -> Self {
        SharedWriter(Arc::new(Mutex::new(Box::new(writer))))
    }

    fn write(&self, exchange: &Exchange) {
        let Ok(mut line) = serde_json::to_vec(exchange) else {
            return;
        };
        line.push(b'\n');
        let mut writer = lock(&self.0);
        // A write error of the log does not affect the mock.
        if writer
            .write_all(&line)
            .and_then(|()| writer.flush())
            .is_err()
        {
            tracing::warn!("cannot write the exchange log");
        }
    }
}

/// The exchanges and counters of one device. Clones share them.
#[derive(Debug, Clone)]
pub struct ExchangeLog(Arc<LogState>);

#[derive(Debug)]
struct LogState {
    device: String,
    started: Instant,
    exchanges: Mutex<VecDeque<Exchange>>,
    max_exchanges: usize,
    writer: Option<SharedWriter>,
    connections: AtomicU64,
    round_trips: AtomicU64,
}

impl ExchangeLog {
    /// Stores at most `max_exchanges` exchanges; the oldest are removed.
    pub(crate) fn new(device: &str, writer: Option<SharedWriter>, max_exchanges: usize) -> Self {
        ExchangeLog(Arc::new(LogState {
            device: device.to_owned(),
            started: clock::instant(),
            exchanges: Mutex::default(),
            max_exchanges,
            writer,
            connections: AtomicU64::new(0),
            round_trips: AtomicU64::new(0),
        }))
    }

    /// The stored exchanges, in order.
    pub fn exchanges(&self) -> Vec<Exchange> {
        lock(&self.0.exchanges).iter().cloned().collect()
    }

    /// The received lines, or `METHOD /path body`, in order.
    pub fn received(&self) -> Vec<String> {
        lock(&self.0.exchanges)
            .iter()
            .map(|exchange| exchange.received.clone())
            .collect()
    }

    /// The lines that a switch received in a configuration mode, without the lines that leave it
    /// (`exit`, `end`), and without `do`.
    pub fn configuration_lines(&self) -> Vec<String> {
        lock(&self.0.exchanges)
            .iter()
            .filter(|exchange| exchange.mode.starts_with("config"))
            .map(|exchange| exchange.received.trim().to_owned())
            .filter(|line| {
                !matches!(line.as_str(), "exit" | "end" | "") && !line.starts_with("do ")
            })
            .collect()
    }

    /// The requests of a load balancer that can change it (neither `GET` nor login or logout).
    pub fn writes(&self) -> Vec<String> {
        self.received()
            .into_iter()
            .filter(|line| !line.starts_with("GET ") && !line.contains(" /mgmt/shared/auth"))
            .collect()
    }

    /// Clears exchanges and counters, so that a test can inspect a second run alone.
    pub fn clear(&self) {
        lock(&self.0.exchanges).clear();
        self.0.connections.store(0, Ordering::Relaxed);
        self.0.round_trips.store(0, Ordering::Relaxed);
    }

    /// Connections accepted since the start or the last [`clear`](Self::clear).
    pub fn connections(&self) -> u64 {
        self.0.connections.load(Ordering::Relaxed)
    }

    /// Round trips: the number of inputs from a client that had received all previous output.
    ///
    /// Lines that arrive before an earlier answer is delivered (see the fault `latency`) belong to the
    /// same round trip. Without latency every packet counts, so compare numbers only with latency.
    pub fn round_trips(&self) -> u64 {
        self.0.round_trips.load(Ordering::Relaxed)
    }

    /// The time since the start of the device: [`Exchange::offset_ms`] of an exchange now.
    pub fn age(&self) -> Duration {
        self.0.started.elapsed()
    }

    /// Name of the device.
    pub fn device(&self) -> &str {
        &self.0.device
    }

    pub(crate) fn connected(&self) -> u64 {
        self.0.connections.fetch_add(1, Ordering::Relaxed) + 1
    }

    pub(crate) fn round_trip(&self) {
        self.0.round_trips.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn record(
        &self,
        connection: u64,
        mode: &str,
        received: String,
        answered: &str,
        status: Option<u16>,
    ) {
        let exchange = Exchange {
            device: self.0.device.clone(),
            connection,
            offset_ms: u64::try_from(self.0.started.elapsed().as_millis()).unwrap_or(u64::MAX),
            mode: mode.to_owned(),
            received,
            answered: cut(answered),
            status,
        };
        if let Some(writer) = &self.0.writer {
            writer.write(&exchange);
        }
        let mut exchanges = lock(&self.0.exchanges);
        exchanges.push_back(exchange);
        while exchanges.len() > self.0.max_exchanges {
            exchanges.pop_front();
        }
    }
}

/// Counts round trips of one connection from the times of input and output.
#[derive(Debug, Default)]
pub(crate) struct RoundTrips {
    answered: Option<Instant>,
}

impl RoundTrips {
    /// Records input.
    pub(crate) fn input(&mut self, log: &ExchangeLog, latency: Duration) {
        let seen = self.answered.is_none_or(|at| at.elapsed() >= latency);
        if seen {
            log.round_trip();
        }
    }

    /// Records output.
    pub(crate) fn output(&mut self) {
        self.answered = Some(clock::instant());
    }
}

fn cut(text: &str) -> String {
    if text.len() <= ANSWER_LIMIT {
        return text.to_owned();
    }
    let end = (0..=ANSWER_LIMIT)
        .rev()
        .find(|end| text.is_char_boundary(*end))
        .unwrap_or(0);
    format!("{}… ({} bytes)", &text[..end], text.len())
}

/// Locks a mutex. A poisoned one remains usable: the task of another connection panicked.
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exchange_log_is_bounded() {
        let log = ExchangeLog::new("sw1", None, 3);
        for number in 0..10 {
            log.record(1, "exec", number.to_string(), "", None);
        }
        assert_eq!(log.received(), ["7", "8", "9"]);
    }
}
