//! What the program says about itself, for operators: `tracing` to standard error.
//!
//! Puppet-style messages about resources are run events, not log lines; see `transaction`.

use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

const VARIABLE: &str = "SWITCHTENDER_LOG";

/// What is logged while a device is worked on begins with its name.
pub fn device_span(device: &str) -> tracing::Span {
    tracing::info_span!("device", name = device)
}

/// Starts logging at the level of `-v` flags, of this program's own rooms: what libraries say of
/// their bytes may hold secrets. `SWITCHTENDER_LOG` (a filter such as `switchtender=debug,hyper=info`)
/// wins. Once per process. Log lines have no colours: they end in files more often than before eyes.
pub fn start(verbose: u8) {
    let level = match verbose {
        0 => LevelFilter::WARN,
        1 => LevelFilter::INFO,
        2 => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    };
    let asked = std::env::var(VARIABLE).unwrap_or_default();
    // By targets and levels alone: filters that look at fields would bring patterns of their own,
    // built in another way, into every pattern of the program.
    let own = Targets::new()
        .with_default(LevelFilter::WARN)
        .with_target("switchtender", level);
    let (filter, mistake) = match asked.parse::<Targets>() {
        _ if asked.is_empty() => (own, None),
        Ok(filter) => (filter, None),
        Err(mistake) => (own, Some(mistake)),
    };
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .with_target(false);
    // A subscriber that is already there belongs to a test.
    let _ = tracing_subscriber::registry()
        .with(lines)
        .with(filter)
        .try_init();
    if let Some(mistake) = mistake {
        tracing::warn!("{VARIABLE} is not understood and left aside: {mistake}");
    }
}
