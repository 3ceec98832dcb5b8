//! Where a node reads releases: the store of a hub, or the link of a worker to one.

use std::error::Error;

use crate::history::releases::{Release, ReleaseNumber};
use crate::history::{HistoryError, HistoryStore};

/// A release cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read the releases")]
pub(crate) struct ReadReleaseError(#[source] pub(crate) Box<dyn Error + Send + Sync>);

/// The releases of a fleet.
#[async_trait::async_trait]
pub(crate) trait ReleaseSource: Send + Sync {
    /// The newest release, if it is newer than the one that the node has. `None`: there is no newer one.
    ///
    /// # Cancellation
    /// May be dropped at any time.
    async fn newest(
        &self,
        newer_than: Option<ReleaseNumber>,
    ) -> Result<Option<Release>, ReadReleaseError>;

    /// The content with a SHA-256. The caller verifies it.
    ///
    /// # Cancellation
    /// May be dropped at any time.
    async fn blob(&self, sha256: &str) -> Result<Vec<u8>, ReadReleaseError>;
}

#[async_trait::async_trait]
impl ReleaseSource for HistoryStore {
    async fn newest(
        &self,
        newer_than: Option<ReleaseNumber>,
    ) -> Result<Option<Release>, ReadReleaseError> {
        let found = self.query(move |reader| match reader.newest_release()? {
            Some(newest) if Some(newest) > newer_than => reader.release(newest),
            _ => Ok(None),
        });
        found.await.map_err(store_error)
    }

    async fn blob(&self, sha256: &str) -> Result<Vec<u8>, ReadReleaseError> {
        let (digest, missing) = (sha256.to_owned(), sha256.to_owned());
        let found = self.query(move |reader| reader.blob(&digest)).await;
        found.map_err(store_error)?.ok_or_else(|| {
            let text = format!("the store has no content with the digest {missing}");
            ReadReleaseError(text.into())
        })
    }
}

fn store_error(error: HistoryError) -> ReadReleaseError {
    ReadReleaseError(error.into())
}
