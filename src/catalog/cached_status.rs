//! Whether a catalog came from the cache.

/// Whether a catalog came from the cache, in the words of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CachedStatus {
    NotUsed,
    ExplicitlyRequested,
    OnFailure,
}
