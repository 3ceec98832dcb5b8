//! What the program says about itself, for operators: `tracing` to standard error.
//!
//! Puppet-style messages about resources are run events, not log lines; see `transaction`.

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;

/// Starts logging at the level of `-v` flags; `SWITCHTENDER_LOG` (a filter such as
/// `switchtender=debug,russh=info`) wins. Once per process. Log lines have no colours: they
/// end in files more often than before eyes.
pub fn start(verbose: u8) {
    let level = match verbose {
        0 => LevelFilter::WARN,
        1 => LevelFilter::INFO,
        2 => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    };
    let filter = EnvFilter::builder()
        .with_default_directive(level.into())
        .with_env_var("SWITCHTENDER_LOG");
    // A subscriber that is already there belongs to a test.
    let _ = tracing_subscriber::fmt()
        .with_env_filter(filter.from_env_lossy())
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .with_target(false)
        .try_init();
}
