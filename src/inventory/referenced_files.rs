//! Checks of the files that the inventory names: secrets, keys, certificates, known hosts.
//!
//! Keys and certificates are read as a session reads them. Other files are opened; secrets are not
//! read, and variables and commands are not evaluated. Only `inventory validate` does this; a run reports a
//! missing file at the device that needs it.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use switchtender_devices::diagnostic::{Diagnostic, Source};
use switchtender_devices::map::IndexMap;
use switchtender_devices::regular_file;
use switchtender_devices::session::login_files::{ca_certificates, check_private_key};

use super::device::DeviceEntry;
use super::file_mode::readable_by_others;
use super::secret_source::SecretSource;
use super::setting::{SettingOrigin, TableSetting};
use super::table_settings::{Jump, TableSettings};
use super::verification::{Fingerprint, HostKey};

/// Bytes of a key or of CA certificates that are read; a bundle of all public CAs has 250 kB.
const LIMIT: u64 = 4 << 20;

/// Reports missing and unusable files, each once at the setting that names it.
pub(crate) fn check(
    devices: &IndexMap<String, DeviceEntry>,
    allow_readable: bool,
) -> Vec<Diagnostic> {
    let mut files = ReferencedFiles {
        allow_readable,
        seen: BTreeSet::new(),
        findings: Vec::new(),
    };
    for device in devices.values() {
        files.add_settings(&device.settings);
    }
    files.findings
}

struct ReferencedFiles {
    allow_readable: bool,
    /// Checked settings with their paths. Several devices can inherit one setting.
    seen: BTreeSet<((*const Source, usize), &'static str, PathBuf)>,
    findings: Vec<Diagnostic>,
}

impl ReferencedFiles {
    fn add_settings(&mut self, settings: &TableSettings) {
        for (key, secret) in settings.secrets() {
            if let Some(setting) = secret
                && let SecretSource::File(path) = &setting.value
                && self.is_new(key, &setting.origin, path)
            {
                self.secret(key, path, &setting.origin);
            }
        }
        if let Some(setting) = &settings.private_key
            && self.is_new("private_key", &setting.origin, &setting.value)
        {
            self.private_key(setting);
        }
        if let Some(setting) = &settings.ca_file
            && self.is_new("ca_file", &setting.origin, &setting.value)
        {
            self.ca_file(setting);
        }
        if let Some(setting) = &settings.known_hosts
            && self.is_new("known_hosts", &setting.origin, Path::new(""))
        {
            self.known_hosts(settings, setting);
        }
        if let Some(TableSetting {
            value: Jump::Host(host),
            ..
        }) = &settings.jump
        {
            self.add_settings(host);
        }
    }

    /// Devices can have different files of one setting with placeholders.
    fn is_new(&mut self, key: &'static str, origin: &SettingOrigin, path: &Path) -> bool {
        self.seen.insert((origin.id(), key, path.to_owned()))
    }

    fn secret(&mut self, key: &str, path: &Path, origin: &SettingOrigin) {
        let Some(file) = self.open(key, path, origin) else {
            return;
        };
        let file_name = path.display();
        // A pipe has no length and can be read only once.
        let empty = file
            .metadata()
            .is_ok_and(|data| data.is_file() && data.len() == 0);
        if empty {
            self.findings.push(
                origin
                    .error("empty-file", format!("`{key}`: {file_name} is empty"))
                    .help("write the secret into the file, in one line"),
            );
        }
        if let Ok(Some(mode)) = readable_by_others(&file)
            && !self.allow_readable
        {
            self.findings.push(
                origin
                    .error(
                        "readable-secret",
                        format!("`{key}`: other users can read {file_name} (mode {mode:04o})"),
                    )
                    .help(format!(
                        "`chmod 600 {file_name}`, or set `allow_readable = true` before the first section of the inventory"
                    )),
            );
        }
    }

    fn private_key(&mut self, setting: &TableSetting<std::path::PathBuf>) {
        let Some(text) = self.read_text("private_key", &setting.value, &setting.origin) else {
            return;
        };
        let Err(reason) = check_private_key(&text) else {
            return;
        };
        let file_name = setting.value.display();
        let public = text.starts_with("ssh-") || text.starts_with("ecdsa-");
        let (message, help) = if public {
            (
                format!("`private_key`: {file_name} contains no private key"),
                "this is the public key; choose the file without .pub",
            )
        } else {
            (
                format!("`private_key`: cannot use {file_name}: {reason}"),
                "use a key of `ssh-keygen`, with the line -----BEGIN … PRIVATE KEY-----",
            )
        };
        self.findings
            .push(setting.origin.error("private-key", message).help(help));
    }

    fn ca_file(&mut self, setting: &TableSetting<std::path::PathBuf>) {
        let Some(text) = self.read_text("ca_file", &setting.value, &setting.origin) else {
            return;
        };
        if let Err(reason) = ca_certificates(text.as_bytes()) {
            let file_name = setting.value.display();
            let message = format!("`ca_file`: cannot use {file_name}: {reason}");
            let help = "use certificates in PEM: `openssl x509 -in FILE -inform der` converts";
            self.findings
                .push(setting.origin.error("ca-file", message).help(help));
        }
    }

    /// A missing file is an error unless a first contact creates it.
    fn known_hosts(
        &mut self,
        settings: &TableSettings,
        setting: &TableSetting<Vec<std::path::PathBuf>>,
    ) {
        let policy = settings.host_key.as_ref().map(|policy| policy.value);
        let by_fingerprint = matches!(
            settings.fingerprint.as_ref().map(|setting| &setting.value),
            Some(Fingerprint::HostKey(_))
        );
        if policy.unwrap_or_default() != HostKey::KnownHosts || by_fingerprint {
            return;
        }
        for path in &setting.value {
            if let Err(error) = open(path) {
                let message = format!("`known_hosts`: cannot read {}: {error}", path.display());
                let help = "create it with `ssh-keyscan HOST >> FILE` (compare the fingerprints), or set \
                            host_key = \"trust_on_first_use\"";
                self.findings
                    .push(setting.origin.error("missing-file", message).help(help));
            }
        }
    }

    fn open(&mut self, key: &str, path: &Path, origin: &SettingOrigin) -> Option<File> {
        match open(path) {
            Ok(file) => Some(file),
            Err(error) => {
                let message = format!("`{key}`: cannot read {}: {error}", path.display());
                let help = match error.kind() {
                    io::ErrorKind::NotFound => {
                        "create the file or correct the path; relative paths start at the directory \
                         of the inventory"
                    }
                    _ => "allow the user of switchtender to read it",
                };
                self.findings
                    .push(origin.error("missing-file", message).help(help));
                None
            }
        }
    }

    fn read_text(&mut self, key: &str, path: &Path, origin: &SettingOrigin) -> Option<String> {
        let file = self.open(key, path, origin)?;
        let mut bytes = Vec::new();
        file.take(LIMIT).read_to_end(&mut bytes).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }
}

fn open(path: &Path) -> io::Result<File> {
    regular_file::open(path, regular_file::LARGEST).map_err(|error| match error.kind() {
        io::ErrorKind::IsADirectory => io::ErrorKind::IsADirectory.into(),
        _ => error,
    })
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    use switchtender_devices::diagnostic::Severity;

    use super::super::{Inventory, InventoryOptions};
    use super::*;

    /// `line code message` of the findings, with the directory as `DIR`.
    fn missing(directory: &Path, text: &str) -> Vec<String> {
        let options = InventoryOptions {
            check_referenced_files: true,
            ..InventoryOptions::default()
        };
        let directory_name = directory.display().to_string();
        Inventory::parse("i.toml", text, directory, None, &options)
            .err()
            .unwrap_or_default()
            .iter()
            .filter(|found| found.severity == Severity::Error)
            .map(|found| {
                assert!(found.help.is_some(), "{found:?}");
                let label = &found.labels[0];
                let line = label.source.position(label.span.start).0;
                let message = found.message.replace(&directory_name, "DIR");
                format!("{line} {} {message}", found.code)
            })
            .collect()
    }

    #[test]
    fn referenced_files_are_reported_at_their_setting() {
        let directory = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str, mode: u32| {
            let path = directory.path().join(name);
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        };
        file("pw", "x\n", 0o600);
        file("open", "x\n", 0o640);
        file("empty", "", 0o600);
        let fixture = |name: &str| {
            let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/keys");
            std::fs::read_to_string(format!("{folder}/{name}")).unwrap()
        };
        file("key", &fixture("ed25519"), 0o600);
        file("encrypted", &fixture("ed25519_encrypted"), 0o600);
        file("damaged", "-----BEGIN OPENSSH PRIVATE KEY-----\nx\n", 0o600);
        file("key.pub", "ssh-ed25519 AAAA x\n", 0o644);
        let ca = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/fixtures/puppetserver/ssl/ca_bundle_chain.pem"
        );
        file("ca.pem", &std::fs::read_to_string(ca).unwrap(), 0o644);
        file(
            "damaged.pem",
            "-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n",
            0o644,
        );
        file("ca.der", "\u{1}\u{2}", 0o644);
        file("hosts", "", 0o644);
        let cases: [(&str, &[&str]); 16] = [
            ("password = { file = \"pw\" }", &[]),
            (
                "password = { file = \"none\" }",
                &[
                    "5 missing-file `password`: cannot read DIR/none: No such file or directory (os error 2)",
                ],
            ),
            (
                "enable_password = { file = \"open\" }",
                &["5 readable-secret `enable_password`: other users can read DIR/open (mode 0640)"],
            ),
            (
                "token = { file = \"empty\" }",
                &["5 empty-file `token`: DIR/empty is empty"],
            ),
            // Environment variables are not evaluated.
            ("password = { env = \"NOT_SET\" }", &[]),
            ("private_key = \"key\"", &[]),
            ("private_key = \"encrypted\"", &[]),
            (
                "private_key = \"damaged\"",
                &[
                    "5 private-key `private_key`: cannot use DIR/damaged: base64 decoding error: invalid length at 0",
                ],
            ),
            (
                "private_key = \"key.pub\"",
                &["5 private-key `private_key`: DIR/key.pub contains no private key"],
            ),
            ("ca_file = \"ca.pem\"", &[]),
            (
                "ca_file = \"damaged.pem\"",
                &[
                    "5 ca-file `ca_file`: cannot use DIR/damaged.pem: certificate 1: base64 decode error: InvalidTrailingPadding",
                ],
            ),
            (
                "ca_file = \"ca.der\"",
                &["5 ca-file `ca_file`: cannot use DIR/ca.der: the file has no certificate"],
            ),
            (
                "known_hosts = [\"hosts\", \"none\"]",
                &[
                    "5 missing-file `known_hosts`: cannot read DIR/none: No such file or directory (os error 2)",
                ],
            ),
            (
                "known_hosts = \"none\"\nhost_key = \"trust_on_first_use\"",
                &[],
            ),
            (
                "private_key = \".\"",
                &["5 missing-file `private_key`: cannot read DIR/.: is a directory"],
            ),
            (
                "jump = { address = \"b\", user = \"j\", private_key = \"none\" }",
                &[
                    "5 missing-file `private_key`: cannot read DIR/none: No such file or directory (os error 2)",
                ],
            ),
        ];
        for (keys, expected) in cases {
            let text = format!(
                "[device.sw1]\nplatform = \"x\"\naddress = \"192.0.2.1\"\nuser = \"u\"\n{keys}\n"
            );
            assert_eq!(missing(directory.path(), &text), expected, "{keys}");
        }
    }

    #[test]
    fn referenced_files_of_several_devices_are_reported_once() {
        let directory = tempfile::tempdir().unwrap();
        let text = "[defaults]\nplatform = \"x\"\nuser = \"u\"\nca_file = \"none\"\n\
                    [device]\na = { address = \"a\" }\nb = { address = \"b\" }\n";
        assert_eq!(missing(directory.path(), text).len(), 1);
        assert_eq!(
            missing(directory.path(), "[defaults]\nuser = \"u\"\n"),
            ["1 no-devices the inventory has no device"]
        );
    }

    #[test]
    fn referenced_files_are_reported_with_other_errors_in_file_order() {
        let directory = tempfile::tempdir().unwrap();
        let text = "[device.a]\nplatform = \"x\"\naddress = \"a\"\nuser = \"u\"\n\
                    password = { file = \"none\" }\nprot = 22\n\
                    [device.b]\nadress = \"b\"\nca_file = \"none\"\nknown_hosts = \"none\"\n\
                    private_key = \"none\"\ntoken = { file = \"none\" }\n";
        let messages = missing(directory.path(), text);
        let positions: Vec<_> = messages
            .iter()
            .map(|line| line.splitn(3, ' ').take(2).collect::<Vec<_>>().join(" "))
            .collect();
        assert_eq!(
            positions,
            [
                "5 missing-file",
                "6 unknown-key",
                "7 missing-key",
                "7 missing-key",
                "8 unknown-key",
                "9 missing-file",
                "10 missing-file",
                "11 missing-file",
                "12 missing-file",
            ],
            "{messages:?}"
        );
    }
}
