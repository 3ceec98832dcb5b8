//! Mock devices that replace the devices of an inventory during a run.
//!
//! Each device gets a mock of its platform on this machine, with the same name. No secret of the
//! inventory is resolved, and no address in it is contacted.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use secrecy::SecretString;
use switchtender_devices::driver::{MockKind, OutlineError, Platform, Registry};
use switchtender_devices::names::{DeviceName, PlatformName};
use switchtender_devices::read::Reads;
use switchtender_devices::regular_file;
use switchtender_devices::secret_mask::SecretMask;
use switchtender_devices::session::connect_params::{
    ConnectParams, HostKeyPolicy, LimitSettings, RestOptions, SshOptions, TlsPolicy,
};
use switchtender_devices::session::deadline::Deadline;
use switchtender_devices::session::fence::NoFence;
use switchtender_devices::session::ledger::{LockWait, NoLedger};
use switchtender_mocks::fleet::{DeviceOptions, Fleet, RunningDevice, StartFleetError};
use switchtender_mocks::{
    GrammarSwitchOptions, LoadBalancerOptions, ReplayOptions, StructuralOptions, SwitchOptions,
};

use super::connector::RECORDING;
use super::saved_files::{self, SavedFileError};
use super::{replay, structural_mock};
use crate::inventory::Device;
use crate::store;

/// The mocks of a run.
#[derive(Debug)]
pub(crate) struct MockFleet {
    mocks: Fleet,
    /// By device: differences to its configuration file, until they are logged.
    notes: Mutex<BTreeMap<DeviceName, Vec<String>>>,
}

/// Why a mock could not be started.
#[derive(Debug, thiserror::Error)]
pub(crate) enum MockFleetError {
    #[error("{device}: cannot read {path}")]
    Config {
        device: DeviceName,
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("cannot read {dir}")]
    Configs {
        dir: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("{device}: {path} is not JSON")]
    NotJson {
        device: DeviceName,
        path: PathBuf,
        #[source]
        source: serde_json::Error,
    },
    #[error(transparent)]
    Saved(#[from] SavedFileError),
    #[error("{device}: no mock of platform {platform}")]
    Outline {
        device: DeviceName,
        platform: PlatformName,
        #[source]
        source: OutlineError,
    },
    #[error(transparent)]
    Start(#[from] StartFleetError),
}

/// What to do for a platform without a mock.
pub(crate) const WITHOUT_MOCK: &str = "a mock needs a read `config` of lines; record a device with `--record DIR`, and replay it with `--mock-config DIR`";

const USER: &str = "mock";
const PASSWORD: &str = "mock-password";

impl MockFleet {
    /// Starts a mock for each device whose platform has one, or a structure that a mock can have. `configs` holds `<device>.recording`, which the mock replays, or `<device>.cfg`: the running configuration of a command line as text,
    /// or of a load balancer as JSON. Devices without a file start with the factory configuration.
    ///
    /// # Errors
    /// A directory or a configuration cannot be read, or a port cannot be opened.
    pub(crate) async fn start(
        devices: &[&Device],
        registry: &Registry,
        configs: Option<&Path>,
    ) -> Result<Self, MockFleetError> {
        if let Some(dir) = configs {
            // A misspelled directory would look like one without files.
            std::fs::read_dir(dir).map_err(|source| MockFleetError::Configs {
                dir: dir.to_owned(),
                source,
            })?;
        }
        let mut options = Vec::new();
        let mut notes: BTreeMap<DeviceName, Vec<String>> = BTreeMap::new();
        for device in devices {
            let Some(platform) = device.platform_of(registry) else {
                continue;
            };
            if let Some(recorded) = configs.and_then(|dir| recording(device, dir)) {
                options.push(DeviceOptions::Replay(replay_of(
                    device, &platform, &recorded,
                )?));
                continue;
            }
            let Some(kind) = platform.mock else {
                if platform.has_outline() {
                    let (device_options, of_device) = structural(device, &platform, configs)?;
                    notes.insert(device.name.clone(), of_device);
                    options.push(DeviceOptions::Structural(Box::new(device_options)));
                }
                continue;
            };
            let config = read_noted(device, configs, &mut notes)?;
            options.push(describe(device, (&platform.name, kind), config)?);
        }
        let mocks = Fleet::start(options, 0).await?;
        for device in devices {
            let unknown = match mocks.find(&device.name) {
                Some(RunningDevice::Switch(switch)) => switch.unknown_lines().to_vec(),
                Some(RunningDevice::Grammar(switch)) => switch.unknown_lines(),
                _ => continue,
            };
            let of_device = notes.entry(device.name.clone()).or_default();
            of_device.extend(render_unknown_lines(&unknown));
        }
        Ok(Self {
            mocks,
            notes: Mutex::new(notes),
        })
    }

    /// Differences between the mock of a device and its configuration file. Returned once: a later
    /// run starts with the result of the first.
    pub(crate) fn take_notes(&self, device: &DeviceName) -> Vec<String> {
        let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        notes.remove(device).unwrap_or_default()
    }

    /// The connection parameters of a mock; `None`: the platform has no mock.
    pub(crate) fn target(&self, device: &DeviceName) -> Option<ConnectParams> {
        let running = self.mocks.find(device)?;
        let (mut host_key, mut tls) = (HostKeyPolicy::Ignore, TlsPolicy::Ignore);
        let mut token = None;
        match running {
            RunningDevice::Switch(switch) => {
                host_key = HostKeyPolicy::Fingerprint(switch.host_key().fingerprint);
            }
            RunningDevice::Grammar(switch) => {
                host_key = HostKeyPolicy::Fingerprint(switch.host_key().fingerprint);
            }
            RunningDevice::Structural(device) => match device.host_key() {
                Some(key) => host_key = HostKeyPolicy::Fingerprint(key.fingerprint),
                None => {
                    tls = TlsPolicy::Fingerprint(device.fingerprint());
                    token = device.token().map(SecretString::from);
                }
            },
            RunningDevice::LoadBalancer(balancer) => {
                tls = TlsPolicy::Fingerprint(balancer.fingerprint());
            }
            RunningDevice::Replay(device) => match device.host_key() {
                Some(key) => host_key = HostKeyPolicy::Fingerprint(key.fingerprint),
                None => tls = TlsPolicy::Fingerprint(device.fingerprint()),
            },
        }
        let address = running.address();
        Some(ConnectParams {
            device: device.to_string(),
            host: address.ip().to_string(),
            port: Some(address.port()),
            user: USER.to_owned(),
            password: Some(SecretString::from(PASSWORD)),
            enable_password: Some(SecretString::from(PASSWORD)),
            prompt: None,
            transport: switchtender_devices::session::LineTransport::Ssh,
            ssh: SshOptions {
                host_key,
                ..SshOptions::default()
            },
            rest: RestOptions {
                tls,
                token,
                ..RestOptions::default()
            },
            connect_timeout: Duration::from_secs(30),
            command_timeout: Duration::from_secs(30),
            limits: LimitSettings::default(),
            deadline: Deadline::default(),
            fence: Arc::new(NoFence),
            ledger: Arc::new(NoLedger),
            lock_wait: LockWait::default(),
            transcript: None,
            recording: None,
            mask: SecretMask::default(),
        })
    }
}

fn describe(
    device: &Device,
    (platform, kind): (&PlatformName, MockKind),
    config: Option<Config>,
) -> Result<DeviceOptions, MockFleetError> {
    let name = device.name.to_string();
    Ok(match kind {
        MockKind::Switch => DeviceOptions::Switch(SwitchOptions {
            hostname: name.clone(),
            name,
            user: USER.to_owned(),
            password: PASSWORD.to_owned(),
            enable_password: Some(PASSWORD.to_owned()),
            config: config.and_then(|config| config.text),
            ..SwitchOptions::default()
        }),
        MockKind::Grammar => DeviceOptions::Grammar(GrammarSwitchOptions {
            user: USER.to_owned(),
            password: PASSWORD.to_owned(),
            config: config.and_then(|config| config.text),
            ..GrammarSwitchOptions::new(platform, &name)
        }),
        MockKind::LoadBalancer => {
            let config = config.and_then(|Config { path, text }| Some((path, text?)));
            let config = config.map(|(path, text)| {
                serde_json::from_str(&text).map_err(|source| MockFleetError::NotJson {
                    device: device.name.clone(),
                    path,
                    source,
                })
            });
            DeviceOptions::LoadBalancer(LoadBalancerOptions {
                hostname: format!("{name}.example"),
                name,
                user: USER.to_owned(),
                password: PASSWORD.to_owned(),
                config: config.transpose()?,
                ..LoadBalancerOptions::default()
            })
        }
    })
}

/// The recording of a device, if there is one.
fn recording(device: &Device, dir: &Path) -> Option<PathBuf> {
    let path = dir.join(format!(
        "{}.{RECORDING}",
        store::directory_name(&device.name)
    ));
    path.exists().then_some(path)
}

/// A mock with the answers of a recording.
fn replay_of(
    device: &Device,
    platform: &Platform,
    path: &Path,
) -> Result<ReplayOptions, MockFleetError> {
    let recording = saved_files::read_recording(path)?;
    let name = device.name.clone();
    let report = move |request: &str| {
        tracing::warn!(device = %name, request, "the recording does not have this request");
    };
    let described = replay::describe(&device.name, platform, &recording, report);
    let options = described.map_err(|source| MockFleetError::Outline {
        device: device.name.clone(),
        platform: platform.name.clone(),
        source,
    })?;
    Ok(ReplayOptions {
        user: USER.to_owned(),
        password: PASSWORD.to_owned(),
        ..options
    })
}

/// A structural mock, and the differences to the device.
fn structural(
    device: &Device,
    platform: &Platform,
    configs: Option<&Path>,
) -> Result<(StructuralOptions, Vec<String>), MockFleetError> {
    let saved = match configs {
        None => Reads::default(),
        Some(dir) => match saved_files::read_directory(dir, &device.name) {
            Ok(answers) => answers.reads,
            Err(error) if error.is_missing_file() => Reads::default(),
            Err(error) => return Err(error.into()),
        },
    };
    let failed = |source| MockFleetError::Outline {
        device: device.name.clone(),
        platform: platform.name.clone(),
        source,
    };
    let described = structural_mock::describe(&device.name, platform, &saved);
    let (options, notes) = described.map_err(failed)?;
    let options = StructuralOptions {
        user: USER.to_owned(),
        password: PASSWORD.to_owned(),
        ..options
    };
    Ok((options, notes))
}

/// The initial configuration of a mock.
struct Config {
    path: PathBuf,
    /// `None`: the file does not exist.
    text: Option<String>,
}

/// Reads the configuration of a device, and notes that it has none.
fn read_noted(
    device: &Device,
    configs: Option<&Path>,
    notes: &mut BTreeMap<DeviceName, Vec<String>>,
) -> Result<Option<Config>, MockFleetError> {
    let config = configs.map(|dir| read(device, dir)).transpose()?;
    if let Some(Config { path, text: None }) = &config {
        notes.entry(device.name.clone()).or_default().push(format!(
            "{} does not exist: the mock starts with its factory configuration",
            path.display()
        ));
    }
    Ok(config)
}

fn read(device: &Device, dir: &Path) -> Result<Config, MockFleetError> {
    let path = dir.join(format!("{}.cfg", device.name));
    match regular_file::read_text(&path, regular_file::LARGEST) {
        Ok(text) => Ok(Config {
            path,
            text: Some(text),
        }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Ok(Config { path, text: None })
        }
        Err(source) => Err(MockFleetError::Config {
            device: device.name.clone(),
            path,
            source,
        }),
    }
}

/// The first configuration lines that a mock does not understand; a real configuration has many.
fn render_unknown_lines(lines: &[String]) -> Option<String> {
    const LISTED: usize = 3;
    let (first, more) = lines.split_at(lines.len().min(LISTED));
    let mut listed: Vec<String> = first.iter().map(|line| format!("`{line}`")).collect();
    if !more.is_empty() {
        listed.push(format!("and {} more", more.len()));
    }
    (!listed.is_empty()).then(|| {
        let listed = listed.join(", ");
        format!("the mock does not understand these configuration lines (kept as text): {listed}")
    })
}
