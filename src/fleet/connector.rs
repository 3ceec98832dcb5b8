//! Connects to devices: from a device of the inventory to an open session and its facts.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use secrecy::ExposeSecret as _;
use switchtender_devices::driver::{Facts, Platform, Registry, UnsavedRead};
use switchtender_devices::provider::driver_provider::Reconnect;
use switchtender_devices::read::{ReadRequest, Reads};
use switchtender_devices::secret_mask::SecretMask;
use switchtender_devices::session::connect_params::ConnectParams;
use switchtender_devices::session::deadline::{Deadline, StopCause};
use switchtender_devices::session::fence::Fence;
use switchtender_devices::session::ledger::{LockWait, SessionLedger};
use switchtender_devices::session::saved::{SavedAnswers, SavedSession};
use switchtender_devices::session::{self, Access, RecordingFile, Session, SessionError};

use super::device_run::DeviceRunError;
use super::mock_fleet::MockFleet;
use super::saved_files;
use crate::clock;
use crate::inventory::{Device, Inventory, Secrets};
use crate::store::identity::DeviceIdentity;
use crate::store::{self, Store};

/// Connects to the devices of an inventory.
pub(crate) struct Connector {
    pub(crate) inventory: Inventory,
    pub(crate) registry: Arc<Registry>,
    pub(crate) secrets: Secrets,
    pub(crate) store: Store,
    /// Mock devices that replace those of the inventory.
    pub(crate) mocks: Option<Arc<MockFleet>>,
    /// The directory of saved answers that replace the devices.
    pub(crate) running: Option<PathBuf>,
    /// The directory of the masked dialogues: `<device>.log`.
    pub(crate) transcripts: Option<PathBuf>,
    /// The directory of the masked recordings: `<device>.recording`.
    pub(crate) recordings: Option<PathBuf>,
}

impl Connector {
    /// The platform of a device that can be contacted.
    pub(crate) fn platform(&self, device: &Device) -> Result<Arc<Platform>, DeviceRunError> {
        if !device.problems.is_empty() {
            let findings = device.problems.clone();
            return Err(DeviceRunError::Inventory { findings });
        }
        let platform = device.platform_of(&self.registry);
        platform.ok_or_else(|| DeviceRunError::Platform {
            platform: device.platform.clone(),
            hint: "`switchtender inventory validate` shows the position in the inventory; \
                       platforms of your own need --definitions"
                .to_owned(),
        })
    }

    /// The connection parameters of a device with resolved credentials; it is not contacted.
    ///
    /// # Cancellation
    /// May be dropped at any time.
    pub(crate) async fn connector(
        &self,
        device: &Device,
        access: Access,
    ) -> Result<DeviceConnector, DeviceRunError> {
        let platform = self.platform(device)?;
        let options = device.options().into_iter();
        let options = options.map(|(name, value)| (name, value.ruby_to_s()));
        if let Some(directory) = &self.running {
            let answers = saved_files::read_directory(directory, &device.name)?;
            return Ok(DeviceConnector::saved(answers, platform, options));
        }
        let mut target = match &self.mocks {
            Some(mocks) => mocks
                .target(&device.name)
                .ok_or_else(|| DeviceRunError::NoMock {
                    platform: device.platform.clone(),
                })?,
            None => {
                let root = self.store.root();
                let resolved = self.inventory.resolve(device, &self.secrets, root).await;
                resolved.map_err(|findings| DeviceRunError::Credentials { findings })?
            }
        };
        if let Some(dir) = &self.transcripts {
            target.transcript = Some(session_file(dir, &device.name, TRANSCRIPT));
        }
        if let Some(dir) = &self.recordings {
            target.recording = Some(RecordingFile {
                path: session_file(dir, &device.name, RECORDING),
                platform: device.platform.to_string(),
            });
        }
        let connector = DeviceConnector::new(target, platform, access, options);
        Ok(match self.mocks {
            None => connector,
            Some(_) => connector.known_as(DeviceIdentity::of_mock(&device.name)),
        })
    }
}

/// The extension of masked dialogues.
pub(crate) const TRANSCRIPT: &str = "log";
/// The extension of recordings.
pub(crate) const RECORDING: &str = "recording";

fn session_file(dir: &Path, device: &str, extension: &str) -> PathBuf {
    dir.join(format!("{}.{extension}", store::directory_name(device)))
}

/// Creates a directory of files that sessions append to, and removes those of earlier runs.
///
/// # Errors
/// The directory cannot be created, or an old file in it cannot be removed.
pub(crate) fn prepare_session_files<'a>(
    dir: &Path,
    extension: &str,
    devices: impl IntoIterator<Item = &'a str>,
) -> io::Result<()> {
    store::create_dir(dir)?;
    for device in devices {
        match std::fs::remove_file(session_file(dir, device, extension)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// Opens sessions to one device.
pub(crate) struct DeviceConnector {
    target: Target,
    pub(crate) platform: Arc<Platform>,
    access: Access,
    options: Facts,
    /// The identity of a mock, which has other numbers and keys in each run.
    identity: Option<DeviceIdentity>,
}

/// A device that answers.
pub(crate) struct OpenDevice {
    pub(crate) session: Box<dyn Session>,
    pub(crate) facts: Facts,
    pub(crate) identity: DeviceIdentity,
}

/// Where the answers of a device are.
enum Target {
    Device(Box<ConnectParams>),
    Saved(SavedAnswers),
}

impl DeviceConnector {
    /// `options` are the driver's, by name.
    pub(crate) fn new(
        target: ConnectParams,
        platform: Arc<Platform>,
        access: Access,
        options: impl IntoIterator<Item = (String, String)>,
    ) -> Self {
        Self::to(Target::Device(Box::new(target)), platform, access, options)
    }

    /// Sessions with saved answers, and those that the configuration among them has.
    pub(crate) fn saved(
        mut answers: SavedAnswers,
        platform: Arc<Platform>,
        options: impl IntoIterator<Item = (String, String)>,
    ) -> Self {
        platform.add_saved_answers(&mut answers.reads);
        Self::to(Target::Saved(answers), platform, Access::ReadOnly, options)
    }

    /// Sessions with answers that were read before, of a device with these facts.
    pub(crate) fn replayed(answers: SavedAnswers, platform: Arc<Platform>, facts: Facts) -> Self {
        let mut connector = Self::saved(answers, platform, []);
        connector.options = facts;
        connector
    }

    fn to(
        target: Target,
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
            identity: None,
        }
    }

    fn known_as(self, identity: DeviceIdentity) -> Self {
        Self {
            identity: Some(identity),
            ..self
        }
    }

    /// Where the device is reached: its address, with those of the jump hosts. `None`: it is not contacted.
    pub(crate) fn address(&self) -> Option<String> {
        match &self.target {
            Target::Device(target) => {
                let port = self.platform.protocol().port(target.transport);
                Some(address(target, port))
            }
            Target::Saved(_) => None,
        }
    }

    /// Ends the sessions at the end of the run, and the run at its limit from now.
    pub(crate) fn set_deadline(&mut self, deadline: &Deadline) {
        let Target::Device(target) = &mut self.target else {
            return;
        };
        let own = target.limits.run;
        let limit = own.unwrap_or_else(|| self.platform.protocol().run_limit());
        let cause = StopCause::Limit {
            setting: "run_limit",
            limit,
        };
        deadline.end_at(clock::instant() + limit, cause);
        target.deadline = deadline.clone();
    }

    /// Asks this fence before each write of the sessions. Connections to jump hosts have its limit, too.
    pub(crate) fn set_fence(&mut self, fence: &Arc<dyn Fence>) {
        let mut next = match &mut self.target {
            Target::Device(target) => Some(target),
            _ => None,
        };
        while let Some(target) = next {
            target.fence = Arc::clone(fence);
            next = target.ssh.jump.as_mut();
        }
    }

    /// Records the sessions that write, and waits for locks of the device.
    pub(crate) fn set_ledger(&mut self, ledger: &Arc<dyn SessionLedger>, lock_wait: LockWait) {
        if let Target::Device(target) = &mut self.target {
            target.ledger = Arc::clone(ledger);
            target.lock_wait = lock_wait;
        }
    }

    /// Masks these secrets in the sessions, too, and adds the secrets of the connection to them.
    pub(crate) fn share_mask(&mut self, mask: &SecretMask) {
        let Target::Device(target) = &mut self.target else {
            return;
        };
        for secret in &target.secrets() {
            mask.add(secret.expose_secret());
        }
        target.mask = mask.clone();
    }

    /// Opens a session and reads the facts: of the device, of the connection, and the driver's
    /// options as `option.<name>`.
    ///
    /// # Cancellation
    /// May be dropped; the connection ends.
    pub(crate) async fn open(&self) -> Result<OpenDevice, SessionError> {
        let target = match &self.target {
            Target::Device(target) => target,
            Target::Saved(answers) => return Ok(self.open_saved(answers)),
        };
        let requests = self.platform.fact_reads();
        let protocol = self.platform.protocol();
        tracing::info!(host = target.host, port = target.port, "connecting");
        let opening = session::open_and_read(target, protocol, self.access, &requests);
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
        tracing::info!("logged in");
        let serials = self.platform.serial_numbers(&reads);
        let identity = self.identity.clone();
        Ok(OpenDevice {
            identity: identity.unwrap_or_else(|| DeviceIdentity::new(serials, session.host_key())),
            session,
            facts,
        })
    }

    /// A session with saved answers, and the facts in them. A note names facts that are unknown.
    fn open_saved(&self, answers: &SavedAnswers) -> OpenDevice {
        let mut facts = self.platform.facts(&answers.reads);
        facts.extend(self.options.clone());
        let notes = self.unknown_facts_note().into_iter().collect();
        let serials = self.platform.serial_numbers(&answers.reads);
        OpenDevice {
            session: Box::new(SavedSession::new(answers.clone(), notes)),
            facts,
            identity: DeviceIdentity::new(serials, None),
        }
    }

    /// Names the facts that saved answers do not show, and the answers that show them.
    pub(crate) fn unknown_facts_note(&self) -> Option<String> {
        let Target::Saved(answers) = &self.target else {
            return None;
        };
        let facts = self.platform.facts(&answers.reads);
        let unknown = self.platform.unknown_facts(&facts);
        if unknown.is_empty() {
            return None;
        }
        let names = unknown.join(", ");
        let requests = self.platform.fact_reads().into_iter();
        let missing = requests.filter(|request| !answers.reads.contains_key(&request.name));
        let missing: Vec<String> = missing
            .map(|request| format!("`{}` as `{}`", request.command, request.name))
            .collect();
        Some(if missing.is_empty() {
            format!("unknown facts: {names}")
        } else {
            format!(
                "unknown facts: {names}; save the output of {} in a file *.json",
                missing.join(", ")
            )
        })
    }

    /// Names what of a device with saved answers is unknown, and the outputs that show it.
    pub(crate) fn unsaved_note(&self, facts: &Facts, unsaved: &[UnsavedRead]) -> Option<String> {
        let Target::Saved(answers) = &self.target else {
            return None;
        };
        let mut outputs: Vec<(ReadRequest, Vec<String>)> = Vec::new();
        for request in self.platform.fact_reads() {
            let names = self.platform.unknown_facts_of(&request.name, facts);
            if !names.is_empty() && !answers.reads.contains_key(&request.name) {
                outputs.push((request, vec![format!("facts {}", names.join(", "))]));
            }
        }
        for read in unsaved {
            let types = read.types.iter().map(ToString::to_string);
            let what: Vec<String> = types.chain(read.hidden.clone()).collect();
            match outputs
                .iter_mut()
                .find(|(other, _)| other.name == read.request.name)
            {
                Some((_, known)) => known.extend(what),
                None => outputs.push((read.request.clone(), what)),
            }
        }
        if outputs.is_empty() {
            return None;
        }
        let commands = outputs.iter().map(|(request, what)| match what.as_slice() {
            [] => format!("`{}`", request.command),
            what => format!("`{}` ({})", request.command, what.join(", ")),
        });
        let names = outputs
            .iter()
            .map(|(request, _)| format!("`{}`", request.name));
        Some(format!(
            "unknown is what only these outputs show: {}; save them as {} in a file *.json",
            commands.collect::<Vec<_>>().join(", "),
            names.collect::<Vec<_>>().join(", "),
        ))
    }

    /// Opens a session without reading facts.
    ///
    /// # Cancellation
    /// Must not be dropped midway.
    pub(crate) async fn reopen(&self) -> Result<Box<dyn Session>, SessionError> {
        match &self.target {
            Target::Device(target) => {
                session::open(target, self.platform.protocol(), self.access).await
            }
            Target::Saved(answers) => Ok(self.open_saved(answers).session),
        }
    }
}

#[async_trait]
impl Reconnect for DeviceConnector {
    async fn reconnect(&self) -> Result<Box<dyn Session>, SessionError> {
        let target = match &self.target {
            Target::Device(target) if target.deadline.passed_by().is_some() => target,
            _ => return self.reopen().await,
        };
        // The run has ended. One short read finds out what the last change did.
        let target = target.for_final_read();
        session::open(&target, self.platform.protocol(), Access::ReadOnly).await
    }

    fn user(&self) -> Option<&str> {
        match &self.target {
            Target::Device(target) => Some(&target.user),
            Target::Saved(_) => None,
        }
    }

    async fn proxy_addresses(&self) -> Vec<IpAddr> {
        let Target::Device(target) = &self.target else {
            return Vec::new();
        };
        if target.ssh.jump.is_some() {
            return Vec::new();
        }
        let addresses = self.addresses().await.into_iter();
        addresses.filter_map(source_address).collect()
    }

    async fn addresses(&self) -> Vec<IpAddr> {
        let Target::Device(target) = &self.target else {
            return Vec::new();
        };
        let host = target.host.as_str();
        let found = tokio::net::lookup_host((host, 0)).await;
        // Behind a jump host, the name may have no meaning here.
        found.map_or_else(
            |_| Vec::new(),
            |found| found.map(|address| address.ip().to_canonical()).collect(),
        )
    }
}

/// Where a device is reached. The same address behind two jump hosts is two devices.
fn address(target: &ConnectParams, default_port: u16) -> String {
    let host = target.host.to_ascii_lowercase();
    let own = match &target.rest.socket {
        Some(socket) => socket.display().to_string(),
        None => format!("{host}:{}", target.port.unwrap_or(default_port)),
    };
    match &target.ssh.jump {
        None => own,
        Some(jump) => format!("{own} via {}", address(jump, SSH_PORT)),
    }
}

/// The default port of jump hosts.
const SSH_PORT: u16 = 22;

/// A port for a socket that sends nothing.
const DISCARD_PORT: u16 = 9;

/// The address of this host for packets to a device. Nothing is sent.
fn source_address(device: IpAddr) -> Option<IpAddr> {
    let any: IpAddr = match device {
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = UdpSocket::bind((any, 0)).ok()?;
    socket.connect((device, DISCARD_PORT)).ok()?;
    Some(socket.local_addr().ok()?.ip())
}
