//! Logs for operators: `tracing` to standard error.
//!
//! Puppet-style messages about resources are run events, not log lines; see `transaction`.

use switchtender_devices::names::DeviceName;
use tracing_appender::non_blocking::{NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::terminal_text::TerminalText;

const VARIABLE: &str = "SWITCHTENDER_LOG";

/// Maximum number of log lines that wait for standard error; more are lost. Room for all is allocated.
const WAITING_LINES: usize = 16_384;

/// The span of a device run: its log lines begin with the name of the device.
pub(crate) fn device_span(device: &DeviceName) -> tracing::Span {
    tracing::info_span!("device", name = device.as_str())
}

/// Standard error for log lines. The formatter writes one complete line at a time.
struct EscapedLog(std::io::Stderr);

impl std::io::Write for EscapedLog {
    fn write(&mut self, line: &[u8]) -> std::io::Result<usize> {
        let text = String::from_utf8_lossy(line);
        let text = TerminalText::of_line(text.strip_suffix('\n').unwrap_or(&text));
        self.0.write_all(text.as_str().as_bytes())?;
        Ok(line.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush()
    }
}

/// Starts logging, once per process, and returns the guard that writes the last lines when it is dropped.
/// A thread of its own writes the lines, so that a standard error that nobody reads delays no device; lines
/// that it cannot queue are dropped. The number of `-v` flags sets the level of the switchtender
/// crates only, because logs of libraries can contain secrets. `SWITCHTENDER_LOG` takes precedence (a
/// filter such as `switchtender=debug,hyper=info`). Log lines have no colors.
pub(crate) fn start(verbose: u8) -> WorkerGuard {
    let level = match verbose {
        0 => LevelFilter::WARN,
        1 => LevelFilter::INFO,
        2 => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    };
    let filter_text = std::env::var(VARIABLE).unwrap_or_default();
    // `Targets` instead of `EnvFilter`, which brings a second regex engine.
    let own = Targets::new()
        .with_default(LevelFilter::WARN)
        .with_target("switchtender", level);
    let (filter, error) = match filter_text.parse::<Targets>() {
        _ if filter_text.is_empty() => (own, None),
        Ok(filter) => (filter, None),
        Err(error) => (own, Some(error)),
    };
    let writer = NonBlockingBuilder::default().buffered_lines_limit(WAITING_LINES);
    let (writer, guard) = writer.finish(EscapedLog(std::io::stderr()));
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(writer)
        .with_ansi(false)
        // It would panic if standard error cannot be written.
        .log_internal_errors(false)
        .with_target(false);
    // A test can have set a subscriber.
    let _ = tracing_subscriber::registry()
        .with(lines)
        .with(filter)
        .try_init();
    if let Some(error) = error {
        tracing::warn!("{VARIABLE} is invalid and ignored: {error}");
    }
    guard
}
