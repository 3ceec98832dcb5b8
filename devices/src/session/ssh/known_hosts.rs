//! Verification of host keys with known_hosts files.

use std::io::Write;
use std::path::{Path, PathBuf};

use hmac::{Hmac, KeyInit, Mac};
use russh::keys::ssh_key::known_hosts::{Entry, HostPatterns, Marker};
use russh::keys::{Algorithm, HashAlg, PublicKey};
use sha1::Sha1;
use wildmatch::WildMatch;

use crate::regular_file;
use crate::session::FIRST_CONNECTION;
use crate::session::connect_params::HostKeyPolicy;
use crate::session::error::SessionErrorKind;

/// Verifies the key of one host.
pub(in crate::session) struct HostKeyVerifier {
    /// The host in known_hosts notation: `host`, or `[host]:port` if the port is not 22.
    name: String,
    policy: HostKeyPolicy,
    /// The lines that match this host.
    entries: Vec<KnownHost>,
}

/// A line of a known_hosts file that matches the host.
#[derive(Debug)]
struct KnownHost {
    file: PathBuf,
    line: usize,
    marker: Option<Marker>,
    key: PublicKey,
}

impl HostKeyVerifier {
    /// Reads the files of the policy; missing files are skipped.
    pub(crate) fn load(
        host: &str,
        port: u16,
        policy: &HostKeyPolicy,
    ) -> Result<Self, SessionErrorKind> {
        let host = host.to_ascii_lowercase();
        let name = match port {
            22 => host,
            port => format!("[{host}]:{port}"),
        };
        let mut entries = Vec::new();
        for file in files(policy) {
            let text = match regular_file::read(file, regular_file::LARGEST) {
                Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                Err(error) => return Err(file_error("cannot read", file, &error)),
            };
            entries.extend(entries_for(&name, file, &text));
        }
        Ok(Self {
            name,
            policy: policy.clone(),
            entries,
        })
    }

    /// The algorithms of the known keys.
    pub(crate) fn known_algorithms(&self) -> Vec<Algorithm> {
        let unmarked = self.entries.iter().filter(|entry| entry.marker.is_none());
        unmarked.map(|entry| entry.key.algorithm()).collect()
    }

    /// Verifies a key. `Ok` has a note for the user if the key was stored.
    pub(crate) fn verify(&self, key: &PublicKey) -> Result<Option<String>, SessionErrorKind> {
        let fingerprint = key.fingerprint(HashAlg::Sha256).to_string();
        let same = |entry: &&KnownHost| entry.key.key_data() == key.key_data();
        let host = || self.name.clone();
        let mut about = self.entries.iter();
        if let Some(entry) =
            about.find(|entry| entry.marker == Some(Marker::Revoked) && same(entry))
        {
            return Err(SessionErrorKind::HostKeyRevoked {
                host: host(),
                file: entry.file.clone(),
                line: entry.line,
            });
        }
        match &self.policy {
            HostKeyPolicy::Ignore => return Ok(None),
            HostKeyPolicy::Fingerprint(desired) => {
                if desired.trim_end_matches('=') == fingerprint {
                    return Ok(None);
                }
                return Err(SessionErrorKind::HostKeyFingerprint {
                    host: host(),
                    desired: desired.clone(),
                    found: fingerprint,
                });
            }
            HostKeyPolicy::KnownHosts(_) | HostKeyPolicy::TrustOnFirstUse(_) => {}
        }
        let unmarked: Vec<_> = self
            .entries
            .iter()
            .filter(|entry| entry.marker.is_none())
            .collect();
        if unmarked.iter().any(same) {
            return Ok(None);
        }
        // A key of another type counts as changed, because known types were offered first.
        if let Some(entry) = unmarked.first() {
            return Err(SessionErrorKind::HostKeyChanged {
                host: host(),
                fingerprint,
                file: entry.file.clone(),
                line: entry.line,
            });
        }
        match &self.policy {
            HostKeyPolicy::TrustOnFirstUse(files) if !files.is_empty() => {
                let file = files.last().expect("there is one");
                self.store(file, key)?;
                Ok(Some(format!(
                    "{FIRST_CONNECTION} {}: stored its host key in {}: {fingerprint}",
                    self.name,
                    file.display()
                )))
            }
            _ => Err(SessionErrorKind::HostKeyUnknown {
                host: host(),
                fingerprint,
            }),
        }
    }

    fn store(&self, file: &Path, key: &PublicKey) -> Result<(), SessionErrorKind> {
        let failed = |error: std::io::Error| file_error("cannot store a host key in", file, &error);
        if let Some(directory) = file.parent() {
            std::fs::create_dir_all(directory).map_err(failed)?;
        }
        let mut options = std::fs::File::options();
        options.append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut key = key.clone();
        key.set_comment("");
        let key = key.to_openssh().map_err(|error| SessionErrorKind::File {
            action: "cannot store a host key in",
            path: file.to_owned(),
            reason: error.to_string(),
        })?;
        // One write, so that concurrent runs do not mix their lines.
        let line = format!("{} {}\n", self.name, key.trim());
        let mut file = options.open(file).map_err(failed)?;
        file.write_all(line.as_bytes()).map_err(failed)
    }
}

fn files(policy: &HostKeyPolicy) -> &[PathBuf] {
    match policy {
        HostKeyPolicy::KnownHosts(files) | HostKeyPolicy::TrustOnFirstUse(files) => files,
        HostKeyPolicy::Fingerprint(_) | HostKeyPolicy::Ignore => &[],
    }
}

fn file_error(action: &'static str, path: &Path, error: &std::io::Error) -> SessionErrorKind {
    SessionErrorKind::File {
        action,
        path: path.to_owned(),
        reason: error.to_string(),
    }
}

/// The lines that match a host. Invalid lines are skipped, as ssh does.
fn entries_for<'t>(
    name: &'t str,
    file: &'t Path,
    text: &'t str,
) -> impl Iterator<Item = KnownHost> + 't {
    text.lines().enumerate().filter_map(move |(index, line)| {
        let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
        if line.is_empty() || line.starts_with('#') {
            return None;
        }
        let entry: Entry = line.parse().ok()?;
        matches(entry.host_patterns(), name).then(|| KnownHost {
            file: file.to_owned(),
            line: index + 1,
            marker: entry.marker().copied(),
            key: entry.public_key().clone(),
        })
    })
}

/// Whether a host matches the patterns of a line. As in OpenSSH, only `*` and `?` are special, case
/// is ignored, and a negated match overrides all others.
fn matches(patterns: &HostPatterns, name: &str) -> bool {
    let is_match = |pattern: &str| WildMatch::new_case_insensitive(pattern).matches(name);
    match patterns {
        HostPatterns::Patterns(patterns) => {
            let negated = patterns.iter().filter_map(|it| it.strip_prefix('!'));
            let mut positive = patterns.iter().filter(|it| !it.starts_with('!'));
            !negated.into_iter().any(is_match) && positive.any(|pattern| is_match(pattern))
        }
        HostPatterns::HashedName { salt, hash } => {
            let mac = Hmac::<Sha1>::new_from_slice(salt).expect("HMAC accepts keys of any length");
            mac.chain_update(name.as_bytes()).verify_slice(hash).is_ok()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OURS: &str =
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJdD7y3aLq454yWBdwLWbieU1ebz9/cu7/QEXn9OIeZJ";
    const OTHER: &str =
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILIG2T/B0l0gaqj3puu510tu9N1OkQ4znY3LYuEm5zCF";
    const RSA: &str = "ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBGxZ\
                       a3LQeFQxSoKnBpbVeVhIBQdoPHrSvO5bNwA5VYkXQ8GnSk4tg9iC5q3dPCJTB6n5WQDrRzDKTPSIb6vRHdE=";

    fn verify_against(text: &str, host: &str, port: u16) -> String {
        let directory = tempfile::tempdir().expect("made");
        let file = directory.path().join("known_hosts");
        std::fs::write(&file, text).expect("written");
        let policy = HostKeyPolicy::KnownHosts(vec![directory.path().join("missing"), file]);
        let verifier = HostKeyVerifier::load(host, port, &policy).expect("loaded");
        let key = PublicKey::from_openssh(OURS).expect("a key");
        match verifier.verify(&key) {
            Ok(_) => "known".to_owned(),
            Err(SessionErrorKind::HostKeyUnknown { .. }) => "unknown".to_owned(),
            Err(SessionErrorKind::HostKeyChanged { line, .. }) => format!("changed {line}"),
            Err(SessionErrorKind::HostKeyRevoked { line, .. }) => format!("revoked {line}"),
            Err(other) => panic!("{other}"),
        }
    }

    #[test]
    fn known_hosts_key_is_known_unknown_changed_or_revoked() {
        let cases = [
            ("exact", format!("sw1 {OURS}\n"), "sw1", 22, "known"),
            (
                "any case",
                format!("SW1.lab {OURS}\n"),
                "sw1.LAB",
                22,
                "known",
            ),
            ("no line", format!("sw2 {OTHER}\n"), "sw1", 22, "unknown"),
            (
                "other key",
                format!("# c\nsw1 {OTHER}\n"),
                "sw1",
                22,
                "changed 2",
            ),
            (
                "both keys",
                format!("sw1 {OTHER}\nsw1 {OURS}\n"),
                "sw1",
                22,
                "known",
            ),
            (
                "list",
                format!("sw0,sw1,10.0.0.1 {OURS} comment here\n"),
                "10.0.0.1",
                22,
                "known",
            ),
            (
                "wildcard",
                format!("*.lab {OURS}\n"),
                "sw1.lab",
                22,
                "known",
            ),
            ("one letter", format!("sw? {OURS}\n"), "sw1", 22, "known"),
            (
                "too few letters",
                format!("sw? {OURS}\n"),
                "sw",
                22,
                "unknown",
            ),
            (
                "several stars",
                format!("*1*.l*b {OURS}\n"),
                "sw12.lab",
                22,
                "known",
            ),
            (
                "star crosses dots",
                format!("sw*b {OURS}\n"),
                "sw1.net.lab",
                22,
                "known",
            ),
            (
                "wildcard in any case",
                format!("*.LAB {OURS}\n"),
                "sw1.lab",
                22,
                "known",
            ),
            (
                "negation comes first",
                format!("!sw1.lab,*.lab {OURS}\n"),
                "sw1.lab",
                22,
                "unknown",
            ),
            (
                "negation of another host",
                format!("*.lab,!sw2* {OURS}\n"),
                "sw1.lab",
                22,
                "known",
            ),
            (
                "negation alone",
                format!("!sw2 {OURS}\n"),
                "sw1",
                22,
                "unknown",
            ),
            (
                "port with a wildcard",
                format!("[*.lab]:2222 {OURS}\n"),
                "sw1.lab",
                2222,
                "known",
            ),
            (
                "brackets are no character class",
                format!("sw[12] {OURS}\n"),
                "sw1",
                22,
                "unknown",
            ),
            (
                "wildcard without a port",
                format!("*.lab {OTHER}\n"),
                "sw1.lab",
                2222,
                "unknown",
            ),
            (
                "negated",
                format!("*.lab,!sw1.lab {OURS}\n"),
                "sw1.lab",
                22,
                "unknown",
            ),
            ("port", format!("[sw1]:2222 {OURS}\n"), "sw1", 2222, "known"),
            (
                "other port",
                format!("sw1 {OTHER}\n"),
                "sw1",
                2222,
                "unknown",
            ),
            (
                "tabs",
                format!("sw1\t{}\n", OURS.replace(' ', "\t")),
                "sw1",
                22,
                "known",
            ),
            (
                "rubbish",
                format!("sw1 ssh-foo AAAA\nrubbish\nsw1 {OURS}\n"),
                "sw1",
                22,
                "known",
            ),
            (
                "revoked",
                format!("sw1 {OURS}\n@revoked * {OURS}\n"),
                "sw1",
                22,
                "revoked 2",
            ),
            (
                "another revoked",
                format!("@revoked * {OTHER}\nsw1 {OURS}\n"),
                "sw1",
                22,
                "known",
            ),
            (
                "an authority",
                format!("@cert-authority * {OURS}\n"),
                "sw1",
                22,
                "unknown",
            ),
        ];
        for (name, text, host, port, expected) in cases {
            assert_eq!(verify_against(&text, host, port), expected, "{name}");
        }
    }

    #[test]
    fn known_hosts_names_may_be_hashed() {
        // Made with `ssh-keygen -H` from `example.com`.
        let salt = "O33ESRMWPVkMYIwJ1Uw+n877jTo=";
        let hash = "nuuC5vEqXlEZ/8BXQR7m619W6Ak=";
        let text = format!("|1|{salt}|{hash} {OURS}\n");
        assert_eq!(verify_against(&text, "example.com", 22), "known");
        assert_eq!(verify_against(&text, "example.org", 22), "unknown");
    }

    #[test]
    fn known_hosts_key_of_another_type_is_changed() {
        if PublicKey::from_openssh(RSA).is_ok() {
            assert_eq!(
                verify_against(&format!("sw1 {RSA}\n"), "sw1", 22),
                "changed 1"
            );
        } else {
            panic!("the key of the test is invalid");
        }
    }

    #[test]
    fn known_hosts_store_the_first_key_and_then_require_it() {
        let directory = tempfile::tempdir().expect("made");
        let file = directory.path().join("state/known_hosts");
        let policy = HostKeyPolicy::TrustOnFirstUse(vec![file.clone()]);
        let key = PublicKey::from_openssh(OURS).expect("a key");
        let load = || HostKeyVerifier::load("sw1", 2222, &policy).expect("loaded");
        let note = load().verify(&key).expect("trusted").expect("a note");
        assert!(note.contains("first connection"), "{note}");
        let stored = std::fs::read_to_string(&file).expect("stored");
        assert_eq!(stored, format!("[sw1]:2222 {OURS}\n"));
        assert_eq!(load().verify(&key), Ok(None));
        let other = PublicKey::from_openssh(OTHER).expect("a key");
        assert!(matches!(
            load().verify(&other),
            Err(SessionErrorKind::HostKeyChanged { line: 1, .. })
        ));
    }

    #[test]
    fn known_hosts_are_ignored_with_a_fingerprint() {
        let key = PublicKey::from_openssh(OURS).expect("a key");
        let right = key.fingerprint(HashAlg::Sha256).to_string();
        let verify = |pin: &str| {
            HostKeyVerifier::load("sw1", 22, &HostKeyPolicy::Fingerprint(pin.to_owned()))
                .expect("loaded")
                .verify(&key)
        };
        assert_eq!(verify(&right), Ok(None));
        assert!(matches!(
            verify("SHA256:AAAA"),
            Err(SessionErrorKind::HostKeyFingerprint { .. })
        ));
    }
}
