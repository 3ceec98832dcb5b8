//! The fields of a report besides the events of its run.

use switchtender::catalog::{CachedStatus, Level};
use switchtender::report::Context;

/// The context of a report on a fixed run of Puppet 7.23.
pub fn context(host: &str, log_level: Level) -> Context {
    Context {
        host: host.to_owned(),
        time: "2024-03-05T12:30:00Z".parse().expect("a time"),
        transaction_uuid: None,
        puppet_version: "7.23.0".to_owned(),
        noop: false,
        environment: None,
        server_used: None,
        job_id: None,
        cached_catalog_status: CachedStatus::NotUsed,
        log_level,
    }
}
