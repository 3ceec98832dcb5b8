//! Whether a host key is the one we know: known, unknown, changed or revoked.

use std::io::Write;
use std::path::{Path, PathBuf};

use hmac::{Hmac, KeyInit, Mac};
use russh::keys::ssh_key::known_hosts::{Entry, HostPatterns, Marker};
use russh::keys::{Algorithm, HashAlg, PublicKey};
use sha1::Sha1;

use crate::session::connect_params::HostKeyPolicy;
use crate::session::error::SessionErrorKind;

/// Judges the key of one host.
pub(super) struct HostKeyVerifier {
    /// The host as `known_hosts` names it: `host`, or `[host]:port` where the port is not 22.
    name: String,
    policy: HostKeyPolicy,
    /// The lines about this host.
    entries: Vec<KnownHost>,
}

/// A line of a file that speaks of the host.
#[derive(Debug)]
struct KnownHost {
    file: PathBuf,
    line: usize,
    marker: Option<Marker>,
    key: PublicKey,
}

impl HostKeyVerifier {
    /// Reads the files of the policy. One that is not there has no keys in it.
    pub fn load(host: &str, port: u16, policy: &HostKeyPolicy) -> Result<Self, SessionErrorKind> {
        let host = host.to_ascii_lowercase();
        let name = match port {
            22 => host,
            port => format!("[{host}]:{port}"),
        };
        let mut entries = Vec::new();
        for file in files(policy) {
            let text = match std::fs::read(file) {
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

    /// The algorithms of the keys that we know.
    pub fn known_algorithms(&self) -> Vec<Algorithm> {
        let plain = self.entries.iter().filter(|known| known.marker.is_none());
        plain.map(|known| known.key.algorithm()).collect()
    }

    /// `Ok` when the key may be trusted, with a note for people where there is something to say.
    pub fn verify(&self, key: &PublicKey) -> Result<Option<String>, SessionErrorKind> {
        let fingerprint = key.fingerprint(HashAlg::Sha256).to_string();
        let same = |known: &&KnownHost| known.key.key_data() == key.key_data();
        let host = || self.name.clone();
        let mut about = self.entries.iter();
        if let Some(known) =
            about.find(|known| known.marker == Some(Marker::Revoked) && same(known))
        {
            return Err(SessionErrorKind::HostKeyRevoked {
                host: host(),
                file: known.file.clone(),
                line: known.line,
            });
        }
        match &self.policy {
            HostKeyPolicy::Ignore => return Ok(None),
            HostKeyPolicy::Fingerprint(wanted) => {
                if wanted.trim_end_matches('=') == fingerprint {
                    return Ok(None);
                }
                return Err(SessionErrorKind::HostKeyFingerprint {
                    host: host(),
                    wanted: wanted.clone(),
                    found: fingerprint,
                });
            }
            HostKeyPolicy::KnownHosts(_) | HostKeyPolicy::TrustOnFirstUse(_) => {}
        }
        let plain: Vec<_> = self
            .entries
            .iter()
            .filter(|known| known.marker.is_none())
            .collect();
        if plain.iter().any(same) {
            return Ok(None);
        }
        // A key of another kind counts too: the device was asked for the kind that we know.
        if let Some(known) = plain.first() {
            return Err(SessionErrorKind::HostKeyChanged {
                host: host(),
                fingerprint,
                file: known.file.clone(),
                line: known.line,
            });
        }
        match &self.policy {
            HostKeyPolicy::TrustOnFirstUse(files) if !files.is_empty() => {
                let file = files.last().expect("there is one");
                self.store(file, key)?;
                Ok(Some(format!(
                    "the host key of {} was seen for the first time and stored in {}: {fingerprint}",
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
            what: "cannot store a host key in",
            path: file.to_owned(),
            why: error.to_string(),
        })?;
        // One write, so that runs side by side do not mix their lines.
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

fn file_error(what: &'static str, path: &Path, error: &std::io::Error) -> SessionErrorKind {
    SessionErrorKind::File {
        what,
        path: path.to_owned(),
        why: error.to_string(),
    }
}

/// The lines that speak of a host. Lines that nobody can read are passed over, as ssh does.
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

fn matches(patterns: &HostPatterns, name: &str) -> bool {
    match patterns {
        HostPatterns::Patterns(patterns) => {
            let mut found = false;
            for pattern in patterns {
                match pattern.strip_prefix('!') {
                    Some(pattern) if glob(pattern, name) => return false,
                    Some(_) => {}
                    None => found |= glob(pattern, name),
                }
            }
            found
        }
        HostPatterns::HashedName { salt, hash } => {
            let mac = Hmac::<Sha1>::new_from_slice(salt).expect("HMAC takes keys of any length");
            mac.chain_update(name.as_bytes()).verify_slice(hash).is_ok()
        }
    }
}

/// `*` stands for any characters, `?` for one. Linear: only the last `*` is ever returned to.
fn glob(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.to_ascii_lowercase().chars().collect();
    let name: Vec<char> = name.chars().collect();
    let (mut p, mut n) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        if p < pattern.len() && pattern[p] == '*' {
            star = Some((p, n));
            p += 1;
        } else if p < pattern.len() && (pattern[p] == '?' || pattern[p] == name[n]) {
            p += 1;
            n += 1;
        } else if let Some((at, from)) = star {
            star = Some((at, from + 1));
            p = at + 1;
            n = from + 1;
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|rest| *rest == '*')
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
        let judge = HostKeyVerifier::load(host, port, &policy).expect("loaded");
        let key = PublicKey::from_openssh(OURS).expect("a key");
        match judge.verify(&key) {
            Ok(_) => "known".to_owned(),
            Err(SessionErrorKind::HostKeyUnknown { .. }) => "unknown".to_owned(),
            Err(SessionErrorKind::HostKeyChanged { line, .. }) => format!("changed {line}"),
            Err(SessionErrorKind::HostKeyRevoked { line, .. }) => format!("revoked {line}"),
            Err(other) => panic!("{other}"),
        }
    }

    #[test]
    fn a_key_is_known_unknown_changed_or_revoked() {
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
    fn names_may_be_hashed() {
        // Made with `ssh-keygen -H` from `example.com`.
        let salt = "O33ESRMWPVkMYIwJ1Uw+n877jTo=";
        let hash = "nuuC5vEqXlEZ/8BXQR7m619W6Ak=";
        let text = format!("|1|{salt}|{hash} {OURS}\n");
        assert_eq!(verify_against(&text, "example.com", 22), "known");
        assert_eq!(verify_against(&text, "example.org", 22), "unknown");
    }

    #[test]
    fn a_key_of_another_kind_is_a_changed_one() {
        if PublicKey::from_openssh(RSA).is_ok() {
            assert_eq!(
                verify_against(&format!("sw1 {RSA}\n"), "sw1", 22),
                "changed 1"
            );
        } else {
            panic!("the test's own key is no key");
        }
    }

    #[test]
    fn a_first_key_is_stored_and_required_from_then_on() {
        let directory = tempfile::tempdir().expect("made");
        let file = directory.path().join("state/known_hosts");
        let policy = HostKeyPolicy::TrustOnFirstUse(vec![file.clone()]);
        let key = PublicKey::from_openssh(OURS).expect("a key");
        let load = || HostKeyVerifier::load("sw1", 2222, &policy).expect("loaded");
        let note = load().verify(&key).expect("trusted").expect("told");
        assert!(note.contains("for the first time"), "{note}");
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
    fn a_pinned_fingerprint_decides_alone() {
        let key = PublicKey::from_openssh(OURS).expect("a key");
        let right = key.fingerprint(HashAlg::Sha256).to_string();
        let judge = |pin: &str| {
            HostKeyVerifier::load("sw1", 22, &HostKeyPolicy::Fingerprint(pin.to_owned()))
                .expect("loaded")
                .verify(&key)
        };
        assert_eq!(judge(&right), Ok(None));
        assert!(matches!(
            judge("SHA256:AAAA"),
            Err(SessionErrorKind::HostKeyFingerprint { .. })
        ));
    }
}
