//! What the inventory names outside of itself: files with secrets, keys, certificates and hosts.
//!
//! Files are opened to see whether they can be, and of keys and certificates the beginning is
//! read; no secret is looked up, no variable and no command. For `inventory check` alone: whoever
//! runs devices tells what is missing at the device that needs it.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use switchtender_devices::diagnostic::Diagnostic;
use switchtender_devices::map::IndexMap;

use super::device::DeviceEntry;
use super::file_mode::readable_by_others;
use super::secret_source::SecretSource;
use super::setting::{SettingOrigin, TableSetting};
use super::table_settings::{Jump, TableSettings};
use super::verification::{Fingerprint, HostKey};

/// Enough of a file to see what it is.
const START: u64 = 64 << 10;

/// What a run would miss, each at the place that names it and once however many devices need it.
pub fn check(devices: &IndexMap<String, DeviceEntry>, allow_readable: bool) -> Vec<Diagnostic> {
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
    /// Settings that were looked at: one place of the inventory may count for many devices.
    seen: BTreeSet<(usize, &'static str)>,
    findings: Vec<Diagnostic>,
}

impl ReferencedFiles {
    fn add_settings(&mut self, settings: &TableSettings) {
        for (key, secret) in [
            ("password", &settings.password),
            ("enable_password", &settings.enable_password),
            ("passphrase", &settings.passphrase),
            ("token", &settings.token),
        ] {
            if let Some(setting) = secret
                && let SecretSource::File(path) = &setting.value
                && self.is_new(key, &setting.origin)
            {
                self.secret(key, path, &setting.origin);
            }
        }
        if let Some(setting) = &settings.private_key
            && self.is_new("private_key", &setting.origin)
        {
            self.private_key(setting);
        }
        if let Some(setting) = &settings.ca_file
            && self.is_new("ca_file", &setting.origin)
        {
            self.ca_file(setting);
        }
        if let Some(setting) = &settings.known_hosts
            && self.is_new("known_hosts", &setting.origin)
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

    fn is_new(&mut self, key: &'static str, origin: &SettingOrigin) -> bool {
        self.seen.insert((origin.span.start, key))
    }

    fn secret(&mut self, key: &str, path: &Path, origin: &SettingOrigin) {
        let Some(file) = self.open(key, path, origin) else {
            return;
        };
        let shown = path.display();
        // A pipe has no length and is read once, by whoever needs the secret.
        let empty = file
            .metadata()
            .is_ok_and(|data| data.is_file() && data.len() == 0);
        if empty {
            self.findings.push(
                origin
                    .error("empty-file", format!("`{key}`: {shown} is empty"))
                    .help("write the secret into it, in one line"),
            );
        }
        if let Ok(Some(mode)) = readable_by_others(&file)
            && !self.allow_readable
        {
            self.findings.push(
                origin
                    .error(
                        "readable-secret",
                        format!("`{key}`: others can read {shown} (mode {mode:04o})"),
                    )
                    .help(format!(
                        "`chmod 600 {shown}`, or set allow_readable = true in the inventory"
                    )),
            );
        }
    }

    fn private_key(&mut self, setting: &TableSetting<std::path::PathBuf>) {
        let Some(text) = self.read_start("private_key", &setting.value, &setting.origin) else {
            return;
        };
        if !text.contains("PRIVATE KEY") {
            let public = text.starts_with("ssh-") || text.starts_with("ecdsa-");
            let help = match public {
                true => "this is the public half; name the file without .pub".to_owned(),
                false => "keys in the form of `ssh-keygen` begin with a line -----BEGIN … \
                          PRIVATE KEY-----"
                    .to_owned(),
            };
            let message = format!(
                "`private_key`: {} holds no private key",
                setting.value.display()
            );
            self.findings
                .push(setting.origin.error("private-key", message).help(help));
        }
    }

    fn ca_file(&mut self, setting: &TableSetting<std::path::PathBuf>) {
        let Some(text) = self.read_start("ca_file", &setting.value, &setting.origin) else {
            return;
        };
        if !text.contains("-----BEGIN CERTIFICATE-----") {
            let message = format!(
                "`ca_file`: {} holds no certificate",
                setting.value.display()
            );
            let help = "it wants PEM: `openssl x509 -in FILE -inform der` makes it from DER";
            self.findings
                .push(setting.origin.error("ca-file", message).help(help));
        }
    }

    /// First contacts make the file; where they are not allowed, none of them is the end.
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
                let help = "`ssh-keyscan HOST >> FILE` makes it (compare the fingerprints), or set \
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
                        "make the file or correct the path; relative paths begin at the \
                         inventory's directory"
                    }
                    _ => "the user who runs switchtender must be able to read it",
                };
                self.findings
                    .push(origin.error("missing-file", message).help(help));
                None
            }
        }
    }

    fn read_start(&mut self, key: &str, path: &Path, origin: &SettingOrigin) -> Option<String> {
        let file = self.open(key, path, origin)?;
        let mut bytes = Vec::new();
        file.take(START).read_to_end(&mut bytes).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }
}

fn open(path: &Path) -> io::Result<File> {
    let file = File::open(path)?;
    if file.metadata()?.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    use switchtender_devices::diagnostic::Severity;

    use super::super::{Inventory, InventoryOptions};
    use super::*;

    /// `line code message` of what is missing, the directory's path as `DIR`.
    fn missing(directory: &Path, text: &str) -> Vec<String> {
        let options = InventoryOptions {
            check_referenced_files: true,
            ..InventoryOptions::default()
        };
        let shown = directory.display().to_string();
        Inventory::parse("i.toml", text, directory, None, &options)
            .err()
            .unwrap_or_default()
            .iter()
            .filter(|found| found.severity == Severity::Error)
            .map(|found| {
                assert!(found.help.is_some(), "{found:?}");
                let label = &found.labels[0];
                let line = label.source.position(label.span.start).0;
                let message = found.message.replace(&shown, "DIR");
                format!("{line} {} {message}", found.code)
            })
            .collect()
    }

    #[test]
    fn files_that_are_not_there_or_are_something_else_are_told_at_their_place() {
        let directory = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str, mode: u32| {
            let path = directory.path().join(name);
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        };
        file("pw", "x\n", 0o600);
        file("open", "x\n", 0o640);
        file("empty", "", 0o600);
        file("key", "-----BEGIN OPENSSH PRIVATE KEY-----\nx\n", 0o600);
        file("key.pub", "ssh-ed25519 AAAA x\n", 0o644);
        file("ca.pem", "-----BEGIN CERTIFICATE-----\nx\n", 0o644);
        file("ca.der", "\u{1}\u{2}", 0o644);
        file("hosts", "", 0o644);
        let cases: [(&str, &[&str]); 13] = [
            ("password = { file = \"pw\" }", &[]),
            (
                "password = { file = \"none\" }",
                &[
                    "5 missing-file `password`: cannot read DIR/none: No such file or directory (os error 2)",
                ],
            ),
            (
                "enable_password = { file = \"open\" }",
                &["5 readable-secret `enable_password`: others can read DIR/open (mode 0640)"],
            ),
            (
                "token = { file = \"empty\" }",
                &["5 empty-file `token`: DIR/empty is empty"],
            ),
            // What would be looked up when a session opens is not.
            ("password = { env = \"NOT_SET\" }", &[]),
            ("private_key = \"key\"", &[]),
            (
                "private_key = \"key.pub\"",
                &["5 private-key `private_key`: DIR/key.pub holds no private key"],
            ),
            ("ca_file = \"ca.pem\"", &[]),
            (
                "ca_file = \"ca.der\"",
                &["5 ca-file `ca_file`: DIR/ca.der holds no certificate"],
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
    fn what_many_devices_share_is_told_once_and_none_at_all_is_told() {
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
    fn other_mistakes_do_not_hide_them_and_all_come_in_the_order_of_the_file() {
        let directory = tempfile::tempdir().unwrap();
        let text = "[device.a]\nplatform = \"x\"\naddress = \"a\"\nuser = \"u\"\n\
                    password = { file = \"none\" }\nprot = 22\n\
                    [device.b]\nadress = \"b\"\nca_file = \"none\"\nknown_hosts = \"none\"\n\
                    private_key = \"none\"\ntoken = { file = \"none\" }\n";
        let shown = missing(directory.path(), text);
        let places: Vec<_> = shown
            .iter()
            .map(|line| line.splitn(3, ' ').take(2).collect::<Vec<_>>().join(" "))
            .collect();
        assert_eq!(
            places,
            [
                "5 missing-file",
                "6 unknown-key",
                "7 missing-key",
                "7 missing-key",
                "7 missing-key",
                "8 unknown-key",
                "9 missing-file",
                "10 missing-file",
                "11 missing-file",
                "12 missing-file",
            ],
            "{shown:?}"
        );
    }
}
