//! The settings of a fleet in two files: those of a node in its `serve.toml`, and those of all nodes in the
//! `fleet.toml` of a release.
//!
//! Each key belongs to one of them. A process without releases has all of them in `serve.toml`.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::ops::Range;
use std::path::Path;

use switchtender_devices::diagnostic::Diagnostic;
use switchtender_devices::document::Table;

use super::values::BAD_VALUE;
use super::{CatalogPath, ConfigurationReads, DeviceRule, DeviceSettingsTable, ServeSettings};
use crate::history::StoreLocation;

/// The settings of a release, at its root.
pub(crate) const RELEASE_SETTINGS: &str = "fleet.toml";

const NODE_KEYS: [&str; 12] = [
    "backup",
    "concurrency",
    "fleet",
    "listen",
    "max_size",
    "oidc",
    "puppet_server",
    "puppetdb",
    "secrets",
    "state_dir",
    "store",
    "web",
];

const RELEASE_KEYS: [&str; 10] = [
    "approval",
    "configurations",
    "defaults",
    "definitions",
    "device",
    "inventory",
    "keep",
    "keep_unchanged",
    "label",
    "request_limit",
];

/// The keys of a file with their positions.
#[derive(Clone, Debug, Default)]
pub(crate) struct SettingsKeys {
    node: Vec<(&'static str, Range<usize>)>,
    release: Vec<(&'static str, Range<usize>)>,
}

impl SettingsKeys {
    pub(super) fn of(root: &Table<'_>) -> Self {
        let found = |keys: &[&'static str]| {
            let keys = keys.iter();
            keys.filter_map(|key| Some((*key, root.get(key)?.span.clone())))
                .collect()
        };
        Self {
            node: found(&NODE_KEYS),
            release: found(&RELEASE_KEYS),
        }
    }
}

impl ServeSettings {
    /// Whether the file has settings that a release has, too.
    pub(crate) fn has_inputs(&self) -> bool {
        !self.keys.release.is_empty()
    }

    /// The address that the file names. `None`: it names none.
    pub(crate) fn named_listen(&self) -> Option<SocketAddr> {
        let mut keys = self.keys.node.iter();
        keys.any(|(key, _)| *key == "listen").then_some(self.listen)
    }

    /// Whether the file names its inventory.
    pub(crate) fn names_inventory(&self) -> bool {
        self.keys.release.iter().any(|(key, _)| *key == "inventory")
    }

    /// The directories of catalogs and of desired state.
    pub(crate) fn catalog_paths(&self) -> BTreeSet<&CatalogPath> {
        let rules = self.rules.iter().map(DeviceRule::settings);
        let tables = std::iter::once(&self.defaults).chain(rules);
        tables.filter_map(DeviceSettingsTable::catalog).collect()
    }

    /// Whether the process uses the files that its settings name, and no release.
    pub(crate) fn uses_own_files(&self) -> bool {
        let is_node =
            self.fleet.join.is_some() || matches!(self.store, Some(StoreLocation::Server(_)));
        !is_node || self.has_inputs() || self.inventory.exists()
    }

    /// Reads the settings of a release.
    ///
    /// # Errors
    /// All errors of the file, among them the settings of a node.
    pub(crate) fn load_release(directory: &Path) -> Result<Self, Vec<Diagnostic>> {
        let path = directory.join(RELEASE_SETTINGS);
        let settings = Self::load(&path).map_err(|mut errors| {
            if directory.is_dir() && !path.exists() {
                let hint = "write it with [defaults] and `state` or `catalog` in it, beside inventory.toml; \
                            docs/fleet.md has an example";
                errors.iter_mut().for_each(|error| error.help = Some(hint.to_owned()));
            }
            errors
        })?;
        let errors: Vec<Diagnostic> = (settings.keys.node.iter())
            .map(|(key, span)| {
                let text = format!("`{key}` is a setting of a node, not of a release");
                Diagnostic::error("node-setting", text)
                    .at(&settings.source, span.clone(), "")
                    .help("move it to the `serve.toml` of each node")
            })
            .collect();
        if errors.is_empty() {
            Ok(settings)
        } else {
            Err(errors)
        }
    }

    /// Errors about settings that the release of the node has.
    pub(crate) fn settings_of_release(&self) -> Vec<Diagnostic> {
        let keys = self.keys.release.iter();
        keys.map(|(key, span)| {
            let text = format!("`{key}` is a setting of the release, and this node uses releases");
            Diagnostic::error("release-setting", text)
                .at(&self.source, span.clone(), "")
                .help(format!(
                    "move it to {RELEASE_SETTINGS}, and publish it with `switchtender fleet publish`"
                ))
        })
        .collect()
    }

    /// These settings of a node with those of a release.
    ///
    /// # Errors
    /// They do not fit together.
    pub(crate) fn with_release(&self, release: &Self) -> Result<Self, Vec<Diagnostic>> {
        let mut errors = self.settings_of_release();
        if self.backup.is_some() && release.configurations == ConfigurationReads::Never {
            let text = "[backup] has no files: `configurations` of the release is \"never\"";
            errors.push(Diagnostic::error(BAD_VALUE, text.to_owned()));
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        let release = release.clone();
        Ok(Self {
            source: release.source,
            inventory: release.inventory,
            definitions: release.definitions,
            keep: release.keep,
            keep_unchanged: release.keep_unchanged,
            request_limit: release.request_limit,
            configurations: release.configurations,
            defaults: release.defaults,
            rules: release.rules,
            approval: release.approval,
            ..self.clone()
        })
    }
}

#[cfg(test)]
mod tests {
    use switchtender_devices::diagnostic::Source;

    use super::*;
    use crate::diagnostic::terminal::{RenderOptions, render_all};

    fn parse(text: &str, directory: &str) -> ServeSettings {
        let source = Source::new("serve.toml", text);
        ServeSettings::parse(&source, Path::new(directory)).unwrap()
    }

    #[test]
    fn each_setting_belongs_to_a_node_or_a_release() {
        let text = include_str!("../settings.rs").replace([' ', '\n'], "");
        let calls = [
            "root.get(\"",
            "root.table(\"",
            "root.file_path(\"",
            "age(\"",
        ];
        let calls = calls.iter().flat_map(|call| text.split(call).skip(1));
        let keys: BTreeSet<&str> = calls.filter_map(|call| call.split('"').next()).collect();
        assert!(keys.len() > 15, "{keys:?}");
        // Other files read these.
        for key in keys
            .into_iter()
            .chain(["fleet", "secrets", "device", "label"])
        {
            let places = [NODE_KEYS.contains(&key), RELEASE_KEYS.contains(&key)];
            assert_eq!(places.iter().filter(|is| **is).count(), 1, "{key}");
        }
    }

    #[test]
    fn settings_of_a_node_and_of_a_release_are_joined() {
        let node = parse("concurrency = 7\nstate_dir = \"s\"\n", "/etc/node");
        let release = parse("keep = \"3d\"\n[defaults]\nstate = \"state\"\n", "/r/4");
        assert!(release.has_inputs() && !node.has_inputs());
        let joined = node.with_release(&release).unwrap();
        assert_eq!(joined.concurrency, 7);
        assert_eq!(joined.keep.as_secs(), 3 * 24 * 60 * 60);
        assert_eq!(joined.inventory, Path::new("/r/4/inventory.toml"));
        assert_eq!(joined.state_dir.as_deref(), Some(Path::new("/etc/node/s")));
    }

    #[test]
    fn workers_and_hubs_without_files_take_releases() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().to_str().unwrap();
        let worker = "[fleet]\nsites = [\"a\"]\njoin = [\"https://hub.test\"]\n\
                      token = { env = \"TOKEN\" }\n";
        let hub = "store = \"postgresql://a@127.0.0.1/b\"\n";
        for (text, uses_own_files) in [
            (worker, false),
            (hub, false),
            ("", true),
            (&*format!("keep = \"1d\"\n{hub}"), true),
        ] {
            assert_eq!(parse(text, path).uses_own_files(), uses_own_files, "{text}");
        }
    }

    #[test]
    fn a_worker_has_metrics_on_loopback_and_no_pages() {
        let worker = "[fleet]\nsites = [\"a\"]\njoin = [\"https://hub.test\"]\ntoken = { env = \"TOKEN\" }\n";
        assert_eq!(parse(worker, "").named_listen(), None);
        let listens = parse(&format!("listen = \"[::1]:99\"\n{worker}"), "");
        assert_eq!(listens.named_listen().unwrap().port(), 99);
        for (text, expected) in [
            (
                format!("listen = \"0.0.0.0:99\"\n{worker}"),
                "listens on loopback only",
            ),
            (
                format!("{worker}[web]\nurl = \"https://a.test\"\n"),
                "`web` is a setting of hubs",
            ),
        ] {
            let source = Source::new("serve.toml", text);
            let found = ServeSettings::parse(&source, Path::new("")).unwrap_err();
            assert!(found[0].message.contains(expected), "{}", found[0].message);
        }
    }

    #[test]
    fn settings_in_the_wrong_file_are_errors() {
        let node = parse("[defaults]\nstate = \"state\"\n", "");
        let found = node.with_release(&parse("", "")).unwrap_err();
        let printed = render_all(&found, RenderOptions::PLAIN);
        assert!(
            printed.as_str().contains("serve.toml:1:"),
            "{}",
            printed.as_str()
        );

        let directory = tempfile::tempdir().unwrap();
        let text = "keep = \"3d\"\nlisten = \"127.0.0.1:1\"\n[web]\nurl = \"https://a\"\n";
        std::fs::write(directory.path().join(RELEASE_SETTINGS), text).unwrap();
        let found = ServeSettings::load_release(directory.path()).unwrap_err();
        let messages: Vec<&str> = found.iter().map(|one| one.message.as_str()).collect();
        assert_eq!(
            messages,
            [
                "`listen` is a setting of a node, not of a release",
                "`web` is a setting of a node, not of a release"
            ]
        );
    }
}
