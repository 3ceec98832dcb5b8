//! Mock devices that replace the devices of an inventory during a run.
//!
//! Each device gets a mock of its platform on this machine, under the same name. No secret of the
//! inventory is looked up, and no address in it is contacted.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use secrecy::SecretString;
use switchtender_devices::session::connect_params::{
    ConnectParams, HostKeyPolicy, RestOptions, SshOptions, TlsPolicy,
};
use switchtender_mocks::fleet::{DeviceOptions, Fleet, RunningDevice, StartFleetError};
use switchtender_mocks::{LoadBalancerOptions, SwitchOptions};

use crate::inventory::Device;

/// The mocks of a run.
#[derive(Debug)]
pub struct MockFleet {
    mocks: Fleet,
    /// By device, what is not as its configuration would have it; until it is told.
    notes: Mutex<BTreeMap<String, Vec<String>>>,
}

/// Why a mock could not be started.
#[derive(Debug, thiserror::Error)]
pub enum MockFleetError {
    #[error("{device}: cannot read {path}")]
    Config {
        device: String,
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
        device: String,
        path: PathBuf,
        #[source]
        source: serde_json::Error,
    },
    #[error(transparent)]
    Start(#[from] StartFleetError),
}

/// The platforms that have a mock.
pub const PLATFORMS: [&str; 2] = ["cisco_ios", "f5_bigip"];

const USER: &str = "mock";
const PASSWORD: &str = "mock";

impl MockFleet {
    /// Starts a mock for each device whose platform has one. `configs` holds `<device>.cfg`: the running configuration of
    /// a switch as text, that of a load balancer as JSON; devices without one begin as from the
    /// factory.
    ///
    /// # Errors
    /// A directory or a configuration that cannot be read, a port that cannot be had.
    pub async fn start(
        devices: &[&Device],
        configs: Option<&Path>,
    ) -> Result<Self, MockFleetError> {
        if let Some(dir) = configs {
            // A misspelt directory would go for one in which no device has a file.
            std::fs::read_dir(dir).map_err(|source| MockFleetError::Configs {
                dir: dir.to_owned(),
                source,
            })?;
        }
        let mut options = Vec::new();
        let mut notes: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for device in devices {
            let config = configs.map(|dir| read(device, dir)).transpose()?;
            if let Some(Config { path, text: None }) = &config {
                notes.entry(device.name.clone()).or_default().push(format!(
                    "{} does not exist: the mock starts with its factory configuration",
                    path.display()
                ));
            }
            options.extend(describe(device, config)?);
        }
        let mocks = Fleet::start(options, 0).await?;
        for running in mocks.devices() {
            if let RunningDevice::Switch(switch) = running {
                let note = render_unknown_lines(switch.unknown_lines());
                let of_device = notes.entry(running.name().to_owned()).or_default();
                of_device.extend(note);
            }
        }
        Ok(Self {
            mocks,
            notes: Mutex::new(notes),
        })
    }

    /// What the mock of a device does not have from its configuration. Told once: a later run
    /// begins with what the one before it left.
    pub fn take_notes(&self, device: &str) -> Vec<String> {
        let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        notes.remove(device).unwrap_or_default()
    }

    /// How the mock of a device is reached; `None` when its platform has no mock.
    pub fn target(&self, device: &str) -> Option<ConnectParams> {
        let running = self.mocks.find(device)?;
        let (mut host_key, mut tls) = (HostKeyPolicy::Ignore, TlsPolicy::Ignore);
        match running {
            RunningDevice::Switch(switch) => {
                host_key = HostKeyPolicy::Fingerprint(switch.host_key().fingerprint);
            }
            RunningDevice::LoadBalancer(balancer) => {
                tls = TlsPolicy::Fingerprint(balancer.fingerprint());
            }
        }
        let address = running.address();
        Some(ConnectParams {
            device: device.to_owned(),
            host: address.ip().to_string(),
            port: Some(address.port()),
            user: USER.to_owned(),
            password: Some(SecretString::from(PASSWORD)),
            enable_password: Some(SecretString::from(PASSWORD)),
            ssh: SshOptions {
                host_key,
                ..SshOptions::default()
            },
            rest: RestOptions {
                tls,
                ..RestOptions::default()
            },
            connect_timeout: Duration::from_secs(30),
            command_timeout: Duration::from_secs(30),
            transcript: None,
        })
    }

    /// Ends all mocks.
    pub async fn stop(self) {
        self.mocks.stop().await;
    }
}

fn describe(
    device: &Device,
    config: Option<Config>,
) -> Result<Option<DeviceOptions>, MockFleetError> {
    let name = device.name.clone();
    Ok(match device.platform.as_str() {
        "cisco_ios" => Some(DeviceOptions::Switch(SwitchOptions {
            hostname: name.clone(),
            name,
            user: USER.to_owned(),
            password: PASSWORD.to_owned(),
            enable_password: Some(PASSWORD.to_owned()),
            config: config.and_then(|config| config.text),
            ..SwitchOptions::default()
        })),
        "f5_bigip" => {
            let config = config.and_then(|Config { path, text }| Some((path, text?)));
            let config = config.map(|(path, text)| {
                serde_json::from_str(&text).map_err(|source| MockFleetError::NotJson {
                    device: device.name.clone(),
                    path,
                    source,
                })
            });
            Some(DeviceOptions::LoadBalancer(LoadBalancerOptions {
                hostname: format!("{name}.example"),
                name,
                user: USER.to_owned(),
                password: PASSWORD.to_owned(),
                config: config.transpose()?,
                ..LoadBalancerOptions::default()
            }))
        }
        _ => None,
    })
}

/// The configuration that a device is to begin with.
struct Config {
    path: PathBuf,
    /// `None`: there is no such file.
    text: Option<String>,
}

fn read(device: &Device, dir: &Path) -> Result<Config, MockFleetError> {
    let path = dir.join(format!("{}.cfg", device.name));
    match std::fs::read_to_string(&path) {
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
    const SHOWN: usize = 3;
    let (first, more) = lines.split_at(lines.len().min(SHOWN));
    let mut shown: Vec<String> = first.iter().map(|line| format!("`{line}`")).collect();
    if !more.is_empty() {
        shown.push(format!("and {} more", more.len()));
    }
    (!shown.is_empty()).then(|| {
        let shown = shown.join(", ");
        format!("the mock does not understand these configuration lines (kept as text): {shown}")
    })
}
