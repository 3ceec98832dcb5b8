//! Releases over the link.

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::client::HubLink;
use super::protocol::LinkCall;
use crate::history::releases::{Release, ReleaseNumber};
use crate::serve::release::{ReadReleaseError, ReleaseSource};

#[async_trait]
impl ReleaseSource for HubLink {
    async fn newest(
        &self,
        newer_than: Option<ReleaseNumber>,
    ) -> Result<Option<Release>, ReadReleaseError> {
        let answer = self.call(LinkCall::NewestRelease { newer_than }).await;
        answer.map_err(|error| ReadReleaseError(error.into()))
    }

    async fn blob(&self, sha256: &str) -> Result<Vec<u8>, ReadReleaseError> {
        let sha256 = sha256.to_owned();
        let answer: Result<String, _> = self.call(LinkCall::Blob { sha256 }).await;
        let text = answer.map_err(|error| ReadReleaseError(error.into()))?;
        let decoded = STANDARD.decode(text);
        decoded.map_err(|error| ReadReleaseError(error.into()))
    }
}
