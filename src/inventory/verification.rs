//! Verification of host keys and certificates: policies and fingerprints.

use switchtender_devices::document::Item;

/// `host_key`: verification of SSH host keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum HostKey {
    /// The key must be in `known_hosts`.
    #[default]
    KnownHosts,
    TrustOnFirstUse,
    Ignore,
}

/// `tls`: verification of server certificates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Tls {
    /// With `ca_file` or the trust anchors of the system.
    #[default]
    Verify,
    TrustOnFirstUse,
    Ignore,
    /// Plain HTTP.
    Disabled,
}

/// `fingerprint`: the only accepted host key or certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fingerprint {
    /// `SHA256:` and base64, as OpenSSH prints it.
    HostKey(String),
    /// SHA-256 in hex, with or without colons.
    Certificate(String),
}

impl HostKey {
    pub(crate) const WORDS: [(&str, HostKey); 3] = [
        ("known_hosts", HostKey::KnownHosts),
        ("trust_on_first_use", HostKey::TrustOnFirstUse),
        ("ignore", HostKey::Ignore),
    ];
}

impl Tls {
    pub(crate) const WORDS: [(&str, Tls); 4] = [
        ("verify", Tls::Verify),
        ("trust_on_first_use", Tls::TrustOnFirstUse),
        ("ignore", Tls::Ignore),
        ("disabled", Tls::Disabled),
    ];
}

impl Fingerprint {
    pub(crate) fn read(item: &Item<'_>) -> Option<Self> {
        let text = item.string()?;
        if let Some(digest) = text.strip_prefix("SHA256:") {
            let unpadded = digest.trim_end_matches('=');
            let base64 = |c: char| c.is_ascii_alphanumeric() || c == '+' || c == '/';
            if unpadded.len() == 43 && unpadded.chars().all(base64) {
                return Some(Fingerprint::HostKey(format!("SHA256:{unpadded}")));
            }
        } else {
            let hex: String = text.chars().filter(|c| *c != ':').collect();
            if hex.len() == 64 && hex.chars().all(|c| c.is_ascii_hexdigit()) {
                return Some(Fingerprint::Certificate(hex.to_ascii_lowercase()));
            }
        }
        item.findings.error_with_help(
            "fingerprint",
            item.span.clone(),
            format!("`{text}` is not a SHA-256 fingerprint"),
            "for SSH, copy SHA256:… from `ssh-keyscan HOST | ssh-keygen -lf -`; for HTTPS, copy the 64 \
             hex digits from `openssl x509 -noout -fingerprint -sha256`",
        );
        None
    }

    pub(crate) fn as_str(&self) -> &str {
        match self {
            Fingerprint::HostKey(text) | Fingerprint::Certificate(text) => text,
        }
    }
}
