//! Files that an inventory names: certificates and known hosts are published, secrets are not.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use switchtender_devices::diagnostic::Diagnostic;

use super::collect::{CollectError, ReleaseFiles};
use crate::inventory::Inventory;
use crate::inventory::secret_source::SecretSource;
use crate::inventory::table_settings::{Jump, TableSettings};

/// Adds the certificates and known hosts in the directory. Returns errors about secrets there: nodes would not have them.
///
/// # Errors
/// A file cannot be read.
pub(crate) fn add(
    release: &mut ReleaseFiles<'_>,
    inventory: &Inventory,
) -> Result<Vec<Diagnostic>, CollectError> {
    let mut named = NamedFiles::default();
    for device in inventory.devices.values() {
        named.add_settings(release, &device.settings);
    }
    if let Some(vault) = &inventory.vault {
        named.public.extend(vault.ca_file.clone());
        for (key, source) in vault.secrets() {
            if let SecretSource::File(path) = source
                && release.is_relative(path)
            {
                let text = is_published(&format!("`{key}` of [vault]"), path);
                let error = Diagnostic::error("secret-file", text).help(PATH_OF_NODES);
                named.findings.push(error);
            }
        }
    }
    for path in &named.public {
        if release.is_relative(path) {
            let content = release.add(path)?;
            if String::from_utf8_lossy(content).contains("PRIVATE KEY-----") {
                let path = path.display();
                let text = format!("{path} has a private key, and secrets are not published");
                let help = "name a file with the certificate only";
                let error = Diagnostic::error("secret-file", text).help(help);
                named.findings.push(error);
            }
        }
    }
    Ok(named.findings)
}

const PATH_OF_NODES: &str =
    "name the path that the file has on each node, such as `/etc/switchtender/secrets/sw1`";

fn is_published(what: &str, path: &Path) -> String {
    let path = path.display();
    format!("{what}: {path} is a path of the published directory, and secrets are not published")
}

#[derive(Default)]
struct NamedFiles {
    public: BTreeSet<PathBuf>,
    /// Errors are reported once for a setting of many devices.
    seen: BTreeSet<(&'static str, PathBuf)>,
    findings: Vec<Diagnostic>,
}

impl NamedFiles {
    fn add_settings(&mut self, release: &ReleaseFiles<'_>, settings: &TableSettings) {
        self.public
            .extend(settings.ca_file.iter().map(|one| one.value.clone()));
        let known_hosts = settings.known_hosts.iter().flat_map(|one| &one.value);
        self.public.extend(known_hosts.cloned());
        let secrets = settings.secrets().into_iter().filter_map(|(key, setting)| {
            let setting = setting.as_ref()?;
            match &setting.value {
                SecretSource::File(path) => Some((key, path, &setting.origin)),
                _ => None,
            }
        });
        let private_key = settings.private_key.iter();
        let private_key = private_key.map(|one| ("private_key", &one.value, &one.origin));
        for (key, path, origin) in secrets.chain(private_key) {
            if release.is_relative(path) && self.seen.insert((key, path.clone())) {
                let text = is_published(&format!("`{key}`"), path);
                let error = origin.error("secret-file", text).help(PATH_OF_NODES);
                self.findings.push(error);
            }
        }
        if let Some(jump) = &settings.jump
            && let Jump::Host(host) = &jump.value
        {
            self.add_settings(release, host);
        }
    }
}
