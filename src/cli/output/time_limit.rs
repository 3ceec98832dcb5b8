//! Limits for output that is blocked.

use std::time::Duration;

/// How long a notice may take.
pub(crate) const NOTICE_LIMIT: Duration = Duration::from_secs(1);
/// Time for a blocked output after a run was ended at once.
pub(crate) const OUTPUT_GRACE: Duration = Duration::from_secs(2);

/// Prints a notice. The wait for it has a limit: standard error may be blocked.
pub(crate) async fn within_limit(print: impl FnOnce() + Send + 'static) {
    let printed = tokio::task::spawn_blocking(print);
    let _ = tokio::time::timeout(NOTICE_LIMIT, printed).await;
}
