//! Resolves the settings and secrets of a device to the parameters of a session.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use secrecy::SecretString;
use switchtender_devices::diagnostic::Diagnostic;
use switchtender_devices::secret_mask::SecretMask;
use switchtender_devices::session::connect_params::{
    ConnectParams, HostKeyPolicy, LimitSettings, RestOptions, SshOptions, TlsPolicy,
};
use switchtender_devices::session::deadline::Deadline;
use switchtender_devices::session::fence::NoFence;
use switchtender_devices::session::ledger::{LockWait, NoLedger};

use super::secret_source::SecretSource;
use super::setting::TableSetting;
use super::table_settings::{Jump, TableSettings};
use super::verification::{Fingerprint, HostKey, Tls};
use super::{Device, Inventory, Secrets};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);
const COMMAND_TIMEOUT: Duration = Duration::from_secs(120);

impl Inventory {
    /// The connection parameters of a device, with its secrets and those of its jump hosts. First
    /// contacts are stored in `state_dir`.
    ///
    /// # Cancellation
    /// Can be dropped at any time.
    pub(crate) async fn resolve(
        &self,
        device: &Device,
        secrets: &Secrets,
        state_dir: &Path,
    ) -> Result<ConnectParams, Vec<Diagnostic>> {
        self.target(&device.name, &device.settings, secrets, state_dir)
            .await
    }

    /// Boxed, because jump hosts can have jump hosts.
    fn target<'a>(
        &'a self,
        name: &'a str,
        settings: &'a TableSettings,
        secrets: &'a Secrets,
        state_dir: &'a Path,
    ) -> Pin<Box<dyn Future<Output = Result<ConnectParams, Vec<Diagnostic>>> + Send + 'a>> {
        Box::pin(async move {
            let mut errors = Vec::new();
            let password = get(secrets, &settings.password, &mut errors).await;
            let enable_password = get(secrets, &settings.enable_password, &mut errors).await;
            let passphrase = get(secrets, &settings.passphrase, &mut errors).await;
            let token = get(secrets, &settings.token, &mut errors).await;
            let jump = match settings.jump.as_ref().map(|jump| &jump.value) {
                None | Some(Jump::No) => None,
                Some(Jump::Device(other)) => self
                    .devices
                    .get(other.as_str())
                    .map(|device| (other.clone(), &device.settings)),
                Some(Jump::Host(host)) => {
                    let address = host.address.as_ref().map(|address| address.value.clone());
                    Some((address.unwrap_or_default(), host.as_ref()))
                }
            };
            let jump = match jump {
                None => None,
                Some((other, settings)) => {
                    match self.target(&other, settings, secrets, state_dir).await {
                        Ok(target) => Some(Box::new(target)),
                        Err(more) => {
                            errors.extend(more);
                            None
                        }
                    }
                }
            };
            if !errors.is_empty() {
                return Err(errors);
            }
            let text = |setting: &Option<TableSetting<String>>| {
                setting
                    .as_ref()
                    .map(|setting| setting.value.clone())
                    .unwrap_or_default()
            };
            Ok(ConnectParams {
                device: name.to_owned(),
                host: text(&settings.address),
                port: value(&settings.port),
                user: text(&settings.user),
                password,
                enable_password,
                prompt: value(&settings.prompt),
                transport: value(&settings.transport).unwrap_or_default(),
                ssh: SshOptions {
                    private_key: value(&settings.private_key),
                    passphrase,
                    agent: value(&settings.agent)
                        .unwrap_or(false)
                        .then(|| std::env::var_os("SSH_AUTH_SOCK").unwrap_or_default().into()),
                    host_key: host_key(settings, state_dir),
                    algorithms: value(&settings.algorithms).unwrap_or_default(),
                    jump,
                },
                rest: RestOptions {
                    token,
                    login: value(&settings.login).unwrap_or_default(),
                    login_provider: value(&settings.login_provider),
                    tls: tls(name, settings, state_dir),
                    proxy: value(&settings.proxy),
                    socket: value(&settings.socket),
                },
                connect_timeout: value(&settings.connect_timeout).unwrap_or(CONNECT_TIMEOUT),
                command_timeout: value(&settings.command_timeout).unwrap_or(COMMAND_TIMEOUT),
                limits: LimitSettings {
                    login: value(&settings.login_limit),
                    command: value(&settings.command_limit),
                    run: value(&settings.run_limit),
                },
                deadline: Deadline::default(),
                fence: Arc::new(NoFence),
                ledger: Arc::new(NoLedger),
                lock_wait: LockWait::default(),
                transcript: None,
                recording: None,
                mask: SecretMask::default(),
            })
        })
    }
}

async fn get(
    secrets: &Secrets,
    setting: &Option<TableSetting<SecretSource>>,
    errors: &mut Vec<Diagnostic>,
) -> Option<SecretString> {
    match secrets.get(setting.as_ref()?).await {
        Ok(secret) => Some(secret),
        Err(error) => {
            errors.push(error);
            None
        }
    }
}

fn value<T: Clone>(setting: &Option<TableSetting<T>>) -> Option<T> {
    setting.as_ref().map(|setting| setting.value.clone())
}

pub(super) fn host_key(settings: &TableSettings, state_dir: &Path) -> HostKeyPolicy {
    if let Some(Fingerprint::HostKey(text)) = value(&settings.fingerprint) {
        return HostKeyPolicy::Fingerprint(text);
    }
    let files = || {
        value(&settings.known_hosts).unwrap_or_else(|| {
            let mut files = vec![PathBuf::from("/etc/ssh/ssh_known_hosts")];
            files.extend(std::env::home_dir().map(|home| home.join(".ssh/known_hosts")));
            // Last, because first contacts are added to the last file.
            files.push(state_dir.join("known_hosts"));
            files
        })
    };
    match value(&settings.host_key).unwrap_or_default() {
        HostKey::KnownHosts => HostKeyPolicy::KnownHosts(files()),
        HostKey::TrustOnFirstUse => HostKeyPolicy::TrustOnFirstUse(files()),
        HostKey::Ignore => HostKeyPolicy::Ignore,
    }
}

fn tls(name: &str, settings: &TableSettings, state_dir: &Path) -> TlsPolicy {
    if let Some(Fingerprint::Certificate(hex)) = value(&settings.fingerprint) {
        return TlsPolicy::Fingerprint(hex);
    }
    match (
        value(&settings.tls).unwrap_or_default(),
        value(&settings.ca_file),
    ) {
        (Tls::Ignore, _) => TlsPolicy::Ignore,
        (Tls::Disabled, _) => TlsPolicy::Disabled,
        (Tls::TrustOnFirstUse, _) => {
            TlsPolicy::TrustOnFirstUse(state_dir.join("tls").join(format!("{name}.fingerprint")))
        }
        (Tls::Verify, Some(file)) => TlsPolicy::CaFile(file),
        (Tls::Verify, None) => TlsPolicy::System,
    }
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    use secrecy::ExposeSecret;
    use switchtender_devices::session::connect_params::Algorithms;

    use super::super::InventoryOptions;
    use super::*;

    fn inventory(dir: &Path, keys: &str) -> Inventory {
        let text = format!(
            "[device.sw1]\nplatform = \"x\"\naddress = \"192.0.2.1\"\nuser = \"u\"\n{keys}\n"
        );
        Inventory::parse("i.toml", &text, dir, None, &InventoryOptions::default()).unwrap()
    }

    fn secrets() -> Secrets {
        Secrets::with_environment(false, |name| match name {
            "SET" => Some("from-env".into()),
            "EMPTY" => Some("".into()),
            _ => None,
        })
    }

    async fn resolve(dir: &Path, keys: &str) -> Result<ConnectParams, Vec<Diagnostic>> {
        let inventory = inventory(dir, keys);
        inventory
            .resolve(&inventory.devices["sw1"], &secrets(), Path::new("/state"))
            .await
    }

    fn secret_file(dir: &Path, name: &str, text: &str, mode: u32) {
        let path = dir.join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    #[tokio::test]
    async fn resolve_reads_secrets_from_all_sources() {
        let dir = tempfile::tempdir().unwrap();
        secret_file(dir.path(), "pw", "from file\r\n", 0o600);
        let cases = [
            ("{ env = \"SET\" }", "from-env"),
            ("{ file = \"pw\" }", "from file"),
            ("{ command = [\"printf\", \"%s\\\\n\", \"a b\"] }", "a b"),
            ("\"lit\\\"eral\"", "lit\"eral"),
        ];
        for (value, expected) in cases {
            let target = resolve(dir.path(), &format!("password = {value}")).await;
            let target = target.unwrap();
            let password = target.password.expect("a password");
            assert_eq!(password.expose_secret(), expected, "{value}");
        }
    }

    #[tokio::test]
    async fn resolve_reports_secret_errors_at_the_setting() {
        let dir = tempfile::tempdir().unwrap();
        secret_file(dir.path(), "empty", "\n", 0o600);
        secret_file(dir.path(), "open", "x\n", 0o640);
        let at = dir.path().display();
        let cases = [
            (
                "{ env = \"UNSET\" }",
                "environment variable UNSET is not set".to_owned(),
            ),
            (
                "{ env = \"EMPTY\" }",
                "environment variable EMPTY is empty".to_owned(),
            ),
            ("{ file = \"empty\" }", format!("file {at}/empty is empty")),
            (
                "{ file = \"none\" }",
                format!("cannot read {at}/none: No such file or directory (os error 2)"),
            ),
            (
                "{ file = \"open\" }",
                format!("other users can read {at}/open (mode 0640)"),
            ),
            (
                "{ command = [\"sh\", \"-c\", \"echo locked >&2; exit 3\"] }",
                "`sh` failed with exit code 3: locked".to_owned(),
            ),
            (
                "{ command = [\"/nonexistent\"] }",
                "cannot run `/nonexistent`: No such file or directory (os error 2)".to_owned(),
            ),
        ];
        for (value, expected) in cases {
            let errors = resolve(dir.path(), &format!("password = {value}")).await;
            let errors = errors.expect_err(value);
            assert_eq!(errors.len(), 1);
            assert_eq!(errors[0].message, expected);
            let label = &errors[0].labels[0];
            assert_eq!(label.source.position(label.span.start), (5, 12));
        }
    }

    #[tokio::test]
    async fn resolve_runs_a_secret_command_once() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("log");
        let command = format!("echo x >> {}; echo pw", log.display());
        let text = format!(
            "[defaults]\nplatform = \"x\"\nuser = \"u\"\npassword = {{ command = [\"sh\", \"-c\", \"{command}\"] }}\n\
             [device]\na = {{ address = \"a\" }}\nb = {{ address = \"b\" }}\n"
        );
        let options = InventoryOptions::default();
        let inventory = Inventory::parse("i.toml", &text, dir.path(), None, &options).unwrap();
        let secrets = secrets();
        for device in inventory.devices.values() {
            let target = inventory.resolve(device, &secrets, Path::new("/s")).await;
            assert_eq!(target.unwrap().password.unwrap().expose_secret(), "pw");
        }
        assert_eq!(std::fs::read_to_string(log).unwrap(), "x\n");
    }

    #[tokio::test]
    async fn resolve_reads_a_secret_of_each_device() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("log");
        secret_file(dir.path(), "fra-a", "secret of a", 0o600);
        secret_file(dir.path(), "fra-b", "secret of b", 0o600);
        let script = format!("echo $1 >> {}; echo $0 $1", log.display());
        let text = format!(
            "[defaults]\nplatform = \"x\"\nuser = \"u\"\nsite = \"fra\"\n\
             password = {{ file = \"{{site}}-{{name}}\" }}\n\
             enable_password = {{ command = [\"sh\", \"-c\", \"{script}\", \"{{name}}\", \"{{role}};x\"] }}\n\
             [device]\na = {{ address = \"{{name}}.{{site}}.test\", labels = {{ role = \"access\" }} }}\n\
             b = {{ address = \"b\", labels = {{ role = \"core\" }} }}\n"
        );
        let options = InventoryOptions::default();
        let inventory = Inventory::parse("i.toml", &text, dir.path(), None, &options).unwrap();
        let secrets = secrets();
        for _ in 0..2 {
            for (name, role) in [("a", "access"), ("b", "core")] {
                let device = &inventory.devices[name];
                let target = inventory.resolve(device, &secrets, Path::new("/s")).await;
                let target = target.unwrap();
                let text = |secret: SecretString| secret.expose_secret().to_owned();
                assert_eq!(target.password.map(text), Some(format!("secret of {name}")));
                let printed = format!("{name} {role};x");
                assert_eq!(target.enable_password.map(text), Some(printed));
            }
        }
        assert_eq!(
            inventory.devices["a"]
                .settings
                .address
                .as_ref()
                .unwrap()
                .value,
            "a.fra.test"
        );
        // No shell has read the label, and each command ran once.
        assert_eq!(std::fs::read_to_string(log).unwrap(), "access;x\ncore;x\n");
    }

    #[tokio::test]
    async fn resolve_reads_credentials_of_systemd() {
        let dir = tempfile::tempdir().unwrap();
        // The mode is that of systemd; the directory is that of the process.
        secret_file(dir.path(), "sw1-login", "from systemd\n", 0o440);
        let keys = "password = { credential = \"{name}-login\" }";
        let inventory = inventory(Path::new("/i"), keys);
        let directory = dir.path().to_owned();
        for (is_set, expected) in [
            (true, Ok("from systemd")),
            (
                false,
                Err("the credential sw1-login is not there: CREDENTIALS_DIRECTORY is not set"),
            ),
        ] {
            let directory = directory.clone();
            let secrets = Secrets::with_environment(false, move |name| {
                (is_set && name == "CREDENTIALS_DIRECTORY").then(|| directory.clone().into())
            });
            let device = &inventory.devices["sw1"];
            let found = inventory.resolve(device, &secrets, Path::new("/s")).await;
            let found = found.map(|target| target.password.unwrap().expose_secret().to_owned());
            let found = found.map_err(|errors| errors[0].message.clone());
            assert_eq!(found, expected.map(str::to_owned).map_err(str::to_owned));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn resolve_reads_a_secret_again_after_its_lifetime() {
        let dir = tempfile::tempdir().unwrap();
        let inventory = inventory(dir.path(), "password = { file = \"pw\" }");
        let secrets = secrets().with_lifetime(Duration::from_secs(300));
        let read = || async {
            let device = &inventory.devices["sw1"];
            let found = inventory.resolve(device, &secrets, Path::new("/s")).await;
            found.map(|target| target.password.unwrap().expose_secret().to_owned())
        };
        assert!(read().await.is_err());
        secret_file(dir.path(), "pw", "one", 0o600);
        assert!(read().await.is_err());
        tokio::time::advance(Duration::from_secs(301)).await;
        assert_eq!(read().await.unwrap(), "one");
        secret_file(dir.path(), "pw", "two", 0o600);
        assert_eq!(read().await.unwrap(), "one");
        tokio::time::advance(Duration::from_secs(301)).await;
        assert_eq!(read().await.unwrap(), "two");
    }

    #[test]
    fn placeholders_that_are_not_known_are_problems_of_their_devices() {
        let text = "[defaults]\nplatform = \"x\"\nuser = \"u\"\npassword = { file = \"{flor}/{name}\" }\n\
                    [device]\na = { address = \"a\", labels = { floor = \"1\" } }\n\
                    b = { address = \"b\", token = { file = \"{up}\" }, labels = { up = \"..\", flor = \"2\" } }\n";
        let options = InventoryOptions::default();
        let inventory = Inventory::parse("i.toml", text, Path::new(""), None, &options);
        let problems = Inventory::device_problems(inventory.unwrap().devices.values());
        let errors: Vec<String> = (problems.iter())
            .map(|found| {
                format!(
                    "{} | {}",
                    found.message,
                    found.help.as_deref().unwrap_or_default()
                )
            })
            .collect();
        assert_eq!(
            errors,
            [
                "`{flor}` is not known: device `a` has no label `flor` | did you mean `{floor}`?",
                "`..` of `{up}` cannot be a part of a path: it has `/` or `..` | change `up` of the device, or use another label",
            ]
        );
    }

    #[tokio::test]
    async fn resolve_includes_jump_hosts() {
        let target = resolve(
            Path::new("/i"),
            "port = 2200\nhost_key = \"trust_on_first_use\"\nknown_hosts = \"kh\"\nalgorithms = \"legacy\"\n\
             jump = { address = \"bastion\", user = \"j\", private_key = \"key\", passphrase = { env = \"SET\" } }",
        )
        .await
        .unwrap();
        assert_eq!(
            (target.host.as_str(), target.port),
            ("192.0.2.1", Some(2200))
        );
        assert_eq!(
            target.ssh.host_key,
            HostKeyPolicy::TrustOnFirstUse(vec!["/i/kh".into()])
        );
        assert_eq!(target.ssh.algorithms, Algorithms::Legacy);
        assert_eq!(target.connect_timeout, CONNECT_TIMEOUT);
        let jump = target.ssh.jump.unwrap();
        assert_eq!((jump.host.as_str(), jump.user.as_str()), ("bastion", "j"));
        assert_eq!(jump.ssh.private_key, Some("/i/key".into()));
        assert_eq!(jump.ssh.passphrase.unwrap().expose_secret(), "from-env");
    }

    #[tokio::test]
    async fn resolve_derives_verification_from_fingerprint_and_policy() {
        let hex = "ab".repeat(32);
        let base64 = "A".repeat(43);
        let cases = [
            (
                format!("fingerprint = \"SHA256:{base64}\""),
                HostKeyPolicy::Fingerprint(format!("SHA256:{base64}")),
                TlsPolicy::System,
            ),
            (
                format!(
                    "host_key = \"ignore\"\nfingerprint = \"{}\"",
                    hex.to_uppercase()
                ),
                HostKeyPolicy::Ignore,
                TlsPolicy::Fingerprint(hex.clone()),
            ),
            (
                "host_key = \"ignore\"\nca_file = \"ca.pem\"".to_owned(),
                HostKeyPolicy::Ignore,
                TlsPolicy::CaFile("/i/ca.pem".into()),
            ),
            (
                "known_hosts = [\"/a\", \"/b\"]\ntls = \"trust_on_first_use\"".to_owned(),
                HostKeyPolicy::KnownHosts(vec!["/a".into(), "/b".into()]),
                TlsPolicy::TrustOnFirstUse("/state/tls/sw1.fingerprint".into()),
            ),
        ];
        for (keys, host_key, tls) in cases {
            let target = resolve(Path::new("/i"), &keys).await.unwrap();
            assert_eq!(target.ssh.host_key, host_key, "{keys}");
            assert_eq!(target.rest.tls, tls, "{keys}");
        }
    }
}
