//! Checks of a worker: its certificate, and whether each of its hubs accepts it.

use std::time::Duration;

use super::check_result::{CheckResult, CheckState};
use super::server_checks::EXPIRES_SOON;
use crate::agent::certificate::Certificate;
use crate::error_chain::chain;
use crate::serve::access::WorkerIdentity;
use crate::serve::link::client::HubLink;
use crate::serve::link::settings::{JoinSettings, WorkerCredential};
use crate::serve::settings::FleetSettings;
use crate::serve::tls_files::TlsFiles;

pub(super) async fn check_all(join: &JoinSettings, fleet: &FleetSettings) -> Vec<CheckResult> {
    let mut checks = Vec::new();
    if let WorkerCredential::Certificate(files) = &join.credential {
        checks.push(check_certificate(files));
    }
    let link = match HubLink::new(join, &fleet.sites).await {
        Ok(link) => link,
        Err(error) => {
            let check = CheckResult::new("worker", CheckState::Error, chain(&error));
            checks.push(check.hint(error.hint()));
            return checks;
        }
    };
    for (hub, answered) in link.identify_at_each_hub().await {
        let subject = format!("hub {hub}");
        checks.push(match answered {
            Ok(worker) => check_identity(subject, &worker, fleet),
            Err(error) => CheckResult::new(subject, CheckState::Error, error.text).hint(error.hint),
        });
    }
    checks
}

fn check_identity(subject: String, worker: &WorkerIdentity, fleet: &FleetSettings) -> CheckResult {
    let node = fleet.node.as_ref();
    match node.map_or(Ok(()), |node| worker.check(node, &fleet.sites)) {
        Ok(()) => {
            let text = format!("accepts this worker as {}", worker.node);
            CheckResult::new(subject, CheckState::Ok, text)
        }
        Err(problem) => {
            let hint = Some(problem.hint());
            CheckResult::new(subject, CheckState::Error, problem.to_string()).hint(hint)
        }
    }
}

fn check_certificate(files: &TlsFiles) -> CheckResult {
    const SUBJECT: &str = "worker certificate";
    let identity = match files.identity() {
        Ok(identity) => identity,
        Err(error) => {
            return CheckResult::new(SUBJECT, CheckState::Error, chain(&error)).hint(error.hint());
        }
    };
    let certificate = match Certificate::from_pem(&identity.certificate) {
        Ok(certificate) => certificate,
        Err(error) => return CheckResult::new(SUBJECT, CheckState::Error, error.to_string()),
    };
    let names = certificate.worker_names().join(", ");
    let (end, now) = (certificate.not_after, crate::clock::timestamp());
    let left = Duration::try_from(end.duration_since(now)).unwrap_or_default();
    let text = format!("{names}, valid until {end}");
    let renew = Some("renew it, and replace its files: no restart is needed".to_owned());
    if certificate.not_before > now {
        let begin = certificate.not_before;
        let text = format!("{names}, not valid before {begin}");
        let hint = Some("set the clock of this host".to_owned());
        CheckResult::new(SUBJECT, CheckState::Error, text).hint(hint)
    } else if left.is_zero() {
        CheckResult::new(SUBJECT, CheckState::Error, text).hint(renew)
    } else if left < EXPIRES_SOON {
        let text = format!("{text}, days left: {}", left.as_secs() / 86_400);
        CheckResult::new(SUBJECT, CheckState::Warning, text).hint(renew)
    } else {
        CheckResult::new(SUBJECT, CheckState::Ok, text)
    }
}
