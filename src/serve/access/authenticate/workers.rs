//! The worker of the fleet that sends a request.

use std::net::IpAddr;

use jiff::Timestamp;

use super::{AccessControl, Denied};
use crate::clock;
use crate::serve::access::{TokenText, WorkerIdentity, WorkerProof, client_network};

impl AccessControl {
    /// The worker with this token or certificate. Guesses of an address are limited, and the log has those that are
    /// refused.
    pub(crate) fn worker(
        &self,
        proof: Result<WorkerProof<'_>, Denied>,
        address: IpAddr,
        time: Timestamp,
    ) -> Result<WorkerIdentity, Denied> {
        let rules = self.file.rules();
        let found = proof.and_then(|proof| match proof {
            WorkerProof::Token(token) => {
                let digest = TokenText::received(token).digest();
                rules.worker(&digest, time).ok_or(Denied::UnknownWorker)
            }
            WorkerProof::Certificate(names) => rules
                .worker_of_names(&names, time)
                .ok_or(Denied::UnknownCertificate { names }),
        });
        let denied = match found {
            Ok(worker) => return Ok(worker),
            Err(denied) => denied,
        };
        let (sender, now) = (
            format!("address {}", client_network(address)),
            clock::instant(),
        );
        let limit = self.requests.acquire(&sender, now);
        limit.map_err(|retry| Denied::TooMany { retry })?;
        if self.worker_warnings.acquire(&sender, now).is_ok() {
            let text = denied.to_string();
            let text = switchtender_devices::printable::escape(&text);
            tracing::warn!(%address, "a worker is refused: {text}");
        }
        Err(denied)
    }
}
