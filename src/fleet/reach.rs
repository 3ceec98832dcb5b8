//! Reaching devices: from a name in the inventory to an open session and the device's facts.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use switchtender_devices::driver::{Facts, Platform, Registry};
use switchtender_devices::provider::driver_provider::Reconnect;
use switchtender_devices::read::Reads;
use switchtender_devices::session::connect_params::ConnectParams;
use switchtender_devices::session::{self, Access, Session, SessionError};

use super::device_run::NotRun;
use super::stand_in::StandIns;
use crate::inventory::{Device, Inventory, Secrets};
use crate::store::{self, Store};

/// What it takes to reach the devices of an inventory.
pub struct Reach {
    pub inventory: Inventory,
    pub registry: Registry,
    pub secrets: Secrets,
    pub store: Store,
    /// Mock devices in the place of the inventory's.
    pub stand_ins: Option<StandIns>,
    /// Where each session's masked dialogue goes, if anywhere: `<device>.log`.
    pub transcripts: Option<PathBuf>,
}

impl Reach {
    pub fn platform(&self, device: &Device) -> Result<Arc<Platform>, NotRun> {
        let platform = self.registry.platform(&device.platform);
        platform
            .cloned()
            .ok_or_else(|| NotRun::Platform(device.platform.clone()))
    }

    /// Everything that a session needs, secrets included; nothing is contacted yet.
    ///
    /// # Cancellation
    /// May be dropped at any time.
    pub async fn connection(&self, device: &Device, access: Access) -> Result<Connection, NotRun> {
        let mut target = match &self.stand_ins {
            Some(stand_ins) => stand_ins
                .target(&device.name)
                .ok_or_else(|| NotRun::NoMock(device.platform.clone()))?,
            None => {
                let root = self.store.root();
                let resolved = self.inventory.resolve(device, &self.secrets, root).await;
                resolved.map_err(|findings| NotRun::Credentials { findings })?
            }
        };
        if let Some(dir) = &self.transcripts {
            target.transcript = Some(transcript(dir, &device.name));
        }
        let options = device.options().into_iter();
        let options = options.map(|(name, value)| (name, value.ruby_to_s()));
        Ok(Connection::new(
            target,
            self.platform(device)?,
            access,
            options,
        ))
    }
}

fn transcript(dir: &Path, device: &str) -> PathBuf {
    dir.join(format!("{}.log", store::directory_name(device)))
}

/// Makes a directory ready for the transcripts of these devices; those of earlier runs go.
///
/// # Errors
/// The directory cannot be made, or an old file in it not removed.
pub fn begin_transcripts<'a>(
    dir: &Path,
    devices: impl IntoIterator<Item = &'a str>,
) -> io::Result<()> {
    store::create_dir(dir)?;
    for device in devices {
        match std::fs::remove_file(transcript(dir, device)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// The way to one device; it can be gone more than once.
pub struct Connection {
    target: ConnectParams,
    pub platform: Arc<Platform>,
    access: Access,
    options: Facts,
}

impl Connection {
    /// `options` are the driver's, by name.
    pub fn new(
        target: ConnectParams,
        platform: Arc<Platform>,
        access: Access,
        options: impl IntoIterator<Item = (String, String)>,
    ) -> Self {
        let options = options.into_iter();
        Self {
            target,
            platform,
            access,
            options: options
                .map(|(name, value)| (format!("option.{name}"), value))
                .collect(),
        }
    }

    /// The driver's options as `option.<name>`.
    pub fn options(&self) -> &Facts {
        &self.options
    }

    /// Opens a session and asks for the facts: of the device, of the connection, and the driver's
    /// options as `option.<name>`.
    ///
    /// # Cancellation
    /// Must not be dropped midway.
    pub async fn open(&self) -> Result<(Box<dyn Session>, Facts), SessionError> {
        let requests = self.platform.fact_reads();
        let protocol = &self.platform.protocol;
        tracing::info!(
            host = self.target.host,
            port = self.target.port,
            "connecting"
        );
        let opening = session::open_and_read(&self.target, protocol, self.access, &requests);
        let (session, texts) = opening.await?;
        let reads: Reads = requests
            .into_iter()
            .map(|request| request.name)
            .zip(texts)
            .collect();
        let mut facts = self.platform.facts(&reads);
        let of_session = session.facts().into_iter();
        facts.extend(of_session.map(|(name, value)| (name.to_owned(), value)));
        facts.extend(self.options.clone());
        tracing::info!(?facts, "logged in");
        Ok((session, facts))
    }
}

#[async_trait]
impl Reconnect for Connection {
    async fn reconnect(&self) -> Result<Box<dyn Session>, SessionError> {
        session::open(&self.target, &self.platform.protocol, self.access).await
    }
}
