//! The workers of `access.toml`: nodes of the fleet without a database.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::token::deserialize_digest;

/// A worker. It has the name of a node, and proves it with a token or with a certificate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WorkerEntry {
    /// The sites whose devices the node may run.
    pub(crate) sites: BTreeSet<String>,
    /// Digest of the token.
    #[serde(
        default,
        deserialize_with = "worker_digest",
        skip_serializing_if = "Option::is_none"
    )]
    pub(crate) sha256: Option<String>,
    /// A name of the certificate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) certificate: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) expires: Option<Timestamp>,
}

/// The worker that sends a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WorkerIdentity {
    pub(crate) node: String,
    pub(crate) sites: BTreeSet<String>,
}

/// Settings of a worker that are not those of its entry at the hub.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum OtherWorker {
    #[error("the hub knows this worker as `{known}`, and its settings name the node `{node}`")]
    Node { known: String, node: String },
    #[error("the hub does not permit the site `{site}` to the worker `{node}`")]
    Site { site: String, node: String },
}

impl OtherWorker {
    /// What to do next.
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::Node { known, node } => format!(
                "set `node = \"{known}\"` in [fleet], or use the token or the certificate of `{node}`"
            ),
            Self::Site { node, .. } => format!(
                "name all its sites at the hub: `switchtender access add-worker {node} --sites SITE,…`"
            ),
        }
    }
}

impl WorkerIdentity {
    /// Compares it with the settings of the worker.
    ///
    /// # Errors
    /// They have another name, or a site that the hub does not permit.
    pub(crate) fn check(&self, node: &str, sites: &[String]) -> Result<(), OtherWorker> {
        let known = self.node.clone();
        if known != node {
            let node = node.to_owned();
            return Err(OtherWorker::Node { known, node });
        }
        let foreign = sites.iter().find(|site| !self.sites.contains(*site));
        foreign.map_or(Ok(()), |site| {
            let (site, node) = (site.clone(), known);
            Err(OtherWorker::Site { site, node })
        })
    }
}

/// What a worker proves its name with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum WorkerProof<'a> {
    Token(&'a str),
    /// The names of a certificate that a CA of the clients has issued.
    Certificate(Vec<String>),
}

impl WorkerEntry {
    /// Why the entry cannot be used.
    pub(super) fn problem(&self) -> Option<&'static str> {
        match (&self.sha256, &self.certificate) {
            (None, None) => Some("has neither `sha256` of a token nor `certificate`"),
            (Some(_), Some(_)) => Some("has a token and a certificate: remove one of them"),
            (None, Some(name)) if name.is_empty() => Some("has an empty name as `certificate`"),
            _ => None,
        }
    }

    pub(super) fn is_valid(&self, now: Timestamp) -> bool {
        self.expires.is_none_or(|end| now < end)
    }

    pub(super) fn has_certificate_of(&self, names: &[String]) -> bool {
        // DNS names have no case.
        let own = self.certificate.as_ref();
        own.is_some_and(|own| names.iter().any(|name| name.eq_ignore_ascii_case(own)))
    }
}

fn worker_digest<'de, D: serde::Deserializer<'de>>(value: D) -> Result<Option<String>, D::Error> {
    deserialize_digest(value).map(Some)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::serve::access::{AccessRules, TokenText};

    #[test]
    fn workers_have_one_proof_each() {
        let path = Path::new("access.toml");
        let parse = |text: &str| AccessRules::parse(path, text);
        let worker =
            |node: &str, proof: &str| format!("[workers.{node}]\nsites = [\"berlin\"]\n{proof}\n");
        let certificate = worker("w1", "certificate = \"w1.test\"");
        let rules = parse(&certificate).unwrap();
        assert_eq!(toml::to_string(&rules).unwrap(), certificate);
        let now = "2026-01-01T00:00:00Z".parse().unwrap();
        let names = ["x.test".to_owned(), "W1.TEST".to_owned()];
        assert_eq!(rules.worker_of_names(&names, now).unwrap().node, "w1");
        assert_eq!(rules.worker_of_names(&names[..1], now), None);
        let digest = TokenText::received("one").digest();
        for (text, expected) in [
            (worker("w1", ""), "`w1` has neither"),
            (
                worker("w1", &format!("certificate = \"a\"\nsha256 = \"{digest}\"")),
                "has a token and a certificate",
            ),
            (
                certificate + &worker("w2", "certificate = \"W1.test\""),
                "`w2` has the same certificate as `w1`",
            ),
        ] {
            let error = parse(&text).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
