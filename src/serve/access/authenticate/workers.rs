//! The worker of the fleet that sends a request.

use std::net::IpAddr;

use jiff::Timestamp;

use super::{AccessControl, Denied};
use crate::clock;
use crate::serve::access::{
    AuditEntry, AuditResult, TokenText, WorkerIdentity, WorkerProof, client_network,
};

impl AccessControl {
    /// The worker with this token or certificate. Guesses of an address are limited. Of those that are refused, the log
    /// and the audit log have one in a minute: the sender cannot fill the disk.
    pub(crate) async fn worker(
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
        if self.worker_refusals.acquire(&sender, now).is_ok() {
            let text = denied.to_string();
            let text = switchtender_devices::printable::escape(&text);
            tracing::warn!(%address, "a worker is refused: {text}");
            self.record(refused_worker(&denied, address, time)).await;
        }
        Err(denied)
    }
}

fn refused_worker(denied: &Denied, address: IpAddr, time: Timestamp) -> AuditEntry {
    // Only a CA of the hub confirms names.
    let names = match denied {
        Denied::UnknownCertificate { names } => names.join(", "),
        _ => String::new(),
    };
    AuditEntry {
        time,
        actor: names,
        method: "worker".to_owned(),
        address: address.to_string(),
        action: "join".to_owned(),
        target: denied.to_string(),
        result: AuditResult::Refused,
    }
}
