//! Where the devices of a process come from: its own files, or the newest release.
//!
//! The newest release that loads is used. A release that does not load stays rejected with its reason, and the one
//! before stays in use, for plans only: a device must not be set back to what is no longer wanted.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::directories::ReleaseDirectories;
use super::source::ReleaseSource;
use crate::error_chain::chain;
use crate::history::releases::{Release, ReleaseNumber};
use crate::serve::access::AccessPaths;
use crate::serve::fleet::{LoadContext, LoadFleetError, ServeFleet};
use crate::serve::reload;
use crate::serve::settings::ServeSettings;
use crate::serve::watched_files::WatchedFiles;
use crate::store::blocking_io;
use crate::store::file::{self, Durability};

/// Users and tokens in a release.
pub(crate) const RELEASE_ACCESS: &str = "access.toml";

/// Interval between two questions for a newer release.
const CHECK_INTERVAL: Duration = Duration::from_secs(5);

const NO_RELEASE: &str = "no release is published: run `switchtender fleet publish DIR`";

/// Where the devices of a process come from.
#[derive(Clone, Default)]
pub(crate) enum FleetInputs {
    #[default]
    OwnFiles,
    Releases(Arc<NodeReleases>),
}

/// The releases of a node.
pub(crate) struct NodeReleases {
    source: Arc<dyn ReleaseSource>,
    directories: ReleaseDirectories,
    /// The users and tokens of the node.
    access: PathBuf,
    /// The newest release that the node has stored and tried to load. `None`: it asks again.
    tried: Mutex<Option<ReleaseNumber>>,
}

impl FleetInputs {
    /// The releases of a source, with copies in the state directory.
    pub(crate) fn releases(source: Arc<dyn ReleaseSource>, state_dir: &Path) -> Self {
        Self::Releases(Arc::new(NodeReleases {
            source,
            directories: ReleaseDirectories::below(state_dir),
            access: AccessPaths::in_state_directory(state_dir).access_file(),
            tried: Mutex::default(),
        }))
    }

    /// Loads the devices, and adds the files that it reads.
    ///
    /// # Errors
    /// The settings of the node are invalid, or its own files. An invalid release is no error.
    pub(crate) async fn load(
        &self,
        settings: ServeSettings,
        context: &LoadContext,
        files: &mut WatchedFiles,
    ) -> Result<ServeFleet, LoadFleetError> {
        match self {
            Self::OwnFiles => ServeFleet::load(settings, context, files).await,
            Self::Releases(releases) => releases.load(&settings, context, files).await,
        }
    }

    /// Waits until there is a release that is newer than those that were tried.
    ///
    /// # Cancellation
    /// May be dropped at any time.
    pub(crate) async fn changed(&self) {
        match self {
            Self::OwnFiles => std::future::pending().await,
            Self::Releases(releases) => releases.changed().await,
        }
    }
}

impl NodeReleases {
    fn tried(&self) -> MutexGuard<'_, Option<ReleaseNumber>> {
        self.tried.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn changed(&self) {
        let mut is_reported = false;
        loop {
            tokio::time::sleep(CHECK_INTERVAL).await;
            let tried = *self.tried();
            match self.source.newest(tried).await {
                Ok(Some(_)) => return,
                Ok(None) => is_reported = false,
                Err(error) if !is_reported => {
                    tracing::warn!("{}", chain(&error));
                    is_reported = true;
                }
                Err(_) => {}
            }
        }
    }

    /// Loads the newest release that can be loaded; without one, there are no devices.
    async fn load(
        &self,
        settings: &ServeSettings,
        context: &LoadContext,
        files: &mut WatchedFiles,
    ) -> Result<ServeFleet, LoadFleetError> {
        let wrong = settings.settings_of_release();
        if !wrong.is_empty() {
            return Err(wrong.into());
        }
        let (newest, mut rejected) = match self.fetch().await {
            Ok(newest) => (newest, None),
            Err(reason) => (None, Some(reason)),
        };
        *self.tried() = newest;
        let directories = self.directories.clone();
        let mut stored = blocking_io::run(move || directories.stored()).await;
        // A database that was restored from a copy has the last word.
        stored.retain(|release| newest.is_none_or(|newest| release.number <= newest));
        for release in stored {
            let number = release.number;
            match self.load_one(&release, settings, context, files).await {
                Ok(mut fleet) => {
                    fleet.rejected_release = rejected;
                    self.complete(release, newest).await;
                    return Ok(fleet);
                }
                Err(error) => {
                    let reason = format!("release {number}: {}", reload::render(&error));
                    tracing::error!("rejected: {reason}");
                    rejected.get_or_insert(reason);
                }
            }
        }
        let reason = rejected.unwrap_or_else(|| NO_RELEASE.to_owned());
        Ok(ServeFleet::without_devices(
            settings.clone(),
            context,
            reason,
        ))
    }

    /// Stores the newest release in the state directory.
    ///
    /// # Errors
    /// Why it is not there.
    async fn fetch(&self) -> Result<Option<ReleaseNumber>, String> {
        let newest = self.source.newest(None).await;
        let Some(release) = newest.map_err(|error| chain(&error))? else {
            return Ok(None);
        };
        let number = release.number;
        let stored = self.directories.store(&release, &*self.source).await;
        stored.map_err(|error| format!("release {number}: {}", chain(&error)))?;
        Ok(Some(number))
    }

    async fn load_one(
        &self,
        release: &Release,
        settings: &ServeSettings,
        context: &LoadContext,
        files: &mut WatchedFiles,
    ) -> Result<ServeFleet, LoadFleetError> {
        let of_release = ServeSettings::load_release(&self.directories.path(release.number))?;
        let joined = settings.with_release(&of_release)?;
        let mut fleet = ServeFleet::load(joined, context, files).await?;
        fleet.release = Some(release.number);
        Ok(fleet)
    }

    /// Installs the users of a release that is used, and removes the releases that are not needed.
    async fn complete(&self, release: Release, newest: Option<ReleaseNumber>) {
        let (directories, access) = (self.directories.clone(), self.access.clone());
        let completed = move || {
            if release.files.contains_key(RELEASE_ACCESS)
                && let Err(error) = install_access(&directories.path(release.number), &access)
            {
                tracing::error!("cannot use the users and tokens of the release: {error}");
            }
            let needed: Vec<ReleaseNumber> = newest.into_iter().chain([release.number]).collect();
            if let Err(error) = directories.remove_others(&needed) {
                tracing::warn!("cannot remove old releases: {error}");
            }
        };
        blocking_io::run(completed).await;
    }
}

/// Replaces the users and tokens of the node by those of a release.
fn install_access(release: &Path, access: &Path) -> Result<(), String> {
    let content = std::fs::read(release.join(RELEASE_ACCESS)).map_err(|error| error.to_string())?;
    let written = file::replace(access, &content, Durability::Disk);
    written.map_err(|error| chain(&error))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;

    use switchtender_devices::diagnostic::Source;
    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::clock;
    use crate::history::releases::{NewRelease, Published};
    use crate::history::{HistoryOptions, HistoryStore};
    use crate::serve::release::plans_only;
    use crate::serve::service::{Service, ServiceFiles, ServiceParts};
    use crate::store::Store;

    const INVENTORY: &str = "[defaults]\nplatform = \"cisco_ios\"\nuser = \"ops\"\n\
                             password = { env = \"LAB_PASSWORD\" }\n\
                             [device.sw1]\naddress = \"192.0.2.1\"\n";
    const STATE: &str = "network_vlan:\n  10:\n    vlan_name: users\n";

    struct Node {
        directory: tempfile::TempDir,
        history: HistoryStore,
        context: LoadContext,
    }

    impl Node {
        fn new() -> Self {
            let directory = tempfile::tempdir().unwrap();
            let history = HistoryOptions::at(directory.path().join("history.db"));
            let history = HistoryStore::open(history).unwrap();
            let state_dir = directory.path().join("state");
            let inputs = FleetInputs::releases(Arc::new(history.clone()), &state_dir);
            let context = LoadContext {
                inputs,
                ..LoadContext::of_own_files(Store::at(&state_dir))
            };
            Self {
                directory,
                history,
                context,
            }
        }

        async fn publish(&self, settings: &str, others: &[(&str, &str)]) {
            let common = [
                ("fleet.toml", settings),
                ("inventory.toml", INVENTORY),
                ("state/device/sw1.yaml", STATE),
            ];
            let files = common.iter().chain(others);
            let files: BTreeMap<String, Vec<u8>> = files
                .map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec()))
                .collect();
            let release = NewRelease {
                files,
                publisher: "alice".to_owned(),
                revision: None,
                published: clock::timestamp(),
            };
            let published = self.history.write(move |writer| writer.publish(&release));
            assert!(matches!(published.await.unwrap(), Published::New(_)));
        }

        async fn try_load(&self, settings: &str) -> Result<ServeFleet, LoadFleetError> {
            let source = Source::new("serve.toml", settings);
            let settings = ServeSettings::parse(&source, self.directory.path()).unwrap();
            let mut files = WatchedFiles::default();
            self.context
                .inputs
                .load(settings, &self.context, &mut files)
                .await
        }

        /// The release, the devices, and why the newest release is not used.
        async fn load(&self) -> (Option<i64>, usize, String) {
            let fleet = self.try_load("concurrency = 3\n").await.unwrap();
            assert_eq!(fleet.settings.concurrency, 3);
            let reason = plans_only(&fleet, None, None).unwrap_or_default();
            (
                fleet.release.map(|one| one.0),
                fleet.scheduled().len(),
                reason,
            )
        }

        fn stored(&self) -> Vec<String> {
            let entries = fs::read_dir(self.directory.path().join("state/releases")).unwrap();
            let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
            let mut names: Vec<String> = names.collect();
            names.sort();
            names
        }
    }

    const SETTINGS: &str = "[defaults]\nstate = \"state\"\n";

    #[tokio::test]
    async fn node_uses_the_newest_release_and_rejects_one_that_does_not_load() {
        let node = Node::new();
        let (release, devices, reason) = node.load().await;
        assert_eq!((release, devices), (None, 0));
        assert!(reason.contains("fleet publish"), "{reason}");

        node.publish(SETTINGS, &[]).await;
        assert_eq!(node.load().await, (Some(1), 1, String::new()));
        node.publish("[defaults]\nstate = \"other\"\n", &[]).await;
        let (release, devices, reason) = node.load().await;
        assert_eq!((release, devices), (Some(1), 1), "the one before stays");
        assert!(reason.contains("release 2: "), "{reason}");
        node.publish(&format!("keep = \"3d\"\n{SETTINGS}"), &[])
            .await;
        assert_eq!(node.load().await, (Some(3), 1, String::new()));
        let stored = ["1", "1.json", "2", "2.json", "3", "3.json"];
        assert_eq!(node.stored(), stored);
    }

    #[tokio::test]
    async fn node_replaces_its_users_with_those_of_the_release() {
        let node = Node::new();
        let access = node.directory.path().join("state/serve/access.toml");
        let users = "[users.alice]\nrole = \"view\"\n";
        node.publish(SETTINGS, &[("access.toml", users)]).await;
        node.load().await;
        assert_eq!(fs::read_to_string(&access).unwrap(), users);
        node.publish(&format!("keep = \"3d\"\n{SETTINGS}"), &[])
            .await;
        node.load().await;
        assert_eq!(
            fs::read_to_string(&access).unwrap(),
            users,
            "none: they stay"
        );
    }

    #[tokio::test]
    async fn settings_of_the_release_in_the_file_of_the_node_are_an_error() {
        let node = Node::new();
        node.publish(SETTINGS, &[]).await;
        let error = node.try_load("inventory = \"inventory.toml\"\n").await;
        let error = reload::render(&error.err().unwrap());
        assert!(error.contains("serve.toml:1:"), "{error}");
        assert!(error.contains("fleet.toml"), "{error}");
    }
    #[tokio::test]
    async fn release_that_the_store_did_not_take_is_tried_again_and_the_one_before_only_plans() {
        let node = Node::new();
        node.publish(SETTINGS, &[]).await;
        let settings = node.directory.path().join("serve.toml");
        fs::write(&settings, "concurrency = 3\n").unwrap();
        let paths = AccessPaths::in_state_directory(&node.directory.path().join("state"));
        let fleet = node.try_load("concurrency = 3\n").await.unwrap();
        let parts = ServiceParts {
            history: Some(node.history.clone()),
            link: None,
            files: ServiceFiles::open(&paths).unwrap(),
            leases: None,
            stop: CancellationToken::new(),
        };
        let service = Service::start(fleet, parts).await.unwrap();
        let state = || {
            let condition = service.condition();
            let rejected = condition.rejected_release.unwrap_or_default();
            (service.fleet().release.map(|one| one.0), rejected)
        };
        assert_eq!(state(), (Some(1), String::new()));
        node.publish(&format!("keep = \"3d\"\n{SETTINGS}"), &[])
            .await;
        let database = node.directory.path().join("history.db");
        let database = rusqlite::Connection::open(database).unwrap();
        let rename = |from: &str, to: &str| {
            let rename = format!("ALTER TABLE {from} RENAME TO {to}");
            database.execute_batch(&rename).unwrap();
        };
        rename("schedule", "missing");
        let files = WatchedFiles::default();
        let reload = async || service.reload(&settings, &node.context, &files).await.1;
        assert!(!reload().await);
        let (release, rejected) = state();
        assert_eq!(release, Some(1));
        assert!(rejected.starts_with("release 2: "), "{rejected}");
        let plans = plans_only(&service.fleet(), None, service.condition().rejected_release);
        assert!(plans.unwrap().contains("release 2: "));
        rename("missing", "schedule");
        assert!(reload().await);
        assert_eq!(state(), (Some(2), String::new()));
    }
}
