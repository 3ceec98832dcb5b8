//! Whether a catalog came from the cache.

/// Whether a catalog came from the cache, in the words of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CachedStatus {
    /// The catalog was compiled for this run.
    NotUsed,
    /// The settings required the cached catalog.
    ExplicitlyRequested,
    /// The server gave no usable catalog, so the cached one was used.
    OnFailure,
}
