//! Several mock devices in one process.
//!
//! Devices of a fleet share host key, certificate and factory default configurations, so that hundreds
//! need few resources.

use std::net::SocketAddr;

use crate::cli_switch::{CliSwitch, RunningSwitch, StartSwitchError, SwitchOptions};
use crate::control::ExchangeLog;
use crate::grammar_switch::{
    GrammarSwitch, GrammarSwitchOptions, RunningGrammarSwitch, StartGrammarSwitchError,
};
use crate::load_balancer::{
    LoadBalancer, LoadBalancerOptions, RunningLoadBalancer, StartLoadBalancerError,
};
use crate::replay::{ReplayDevice, ReplayOptions, RunningReplayDevice};
use crate::structural::{RunningStructuralDevice, StartError, StructuralDevice, StructuralOptions};

/// Options of a device.
#[derive(Debug, Clone)]
pub enum DeviceOptions {
    /// A switch over SSH.
    Switch(SwitchOptions),
    /// A switch with the grammar of a platform over SSH and HTTPS.
    Grammar(GrammarSwitchOptions),
    /// A load balancer over HTTPS.
    LoadBalancer(LoadBalancerOptions),
    /// A device with a described command line over SSH.
    Structural(Box<StructuralOptions>),
    /// A device with recorded answers.
    Replay(ReplayOptions),
}

/// A running device.
#[derive(Debug)]
pub enum RunningDevice {
    /// A switch over SSH.
    Switch(RunningSwitch),
    /// A switch with the grammar of a platform over SSH and HTTPS.
    Grammar(RunningGrammarSwitch),
    /// A load balancer over HTTPS.
    LoadBalancer(RunningLoadBalancer),
    /// A device with a described command line over SSH.
    Structural(RunningStructuralDevice),
    /// A device with recorded answers.
    Replay(RunningReplayDevice),
}

/// Why a fleet cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartFleetError {
    /// A switch.
    #[error(transparent)]
    Switch(#[from] StartSwitchError),
    /// A switch with the grammar of a platform.
    #[error(transparent)]
    Grammar(#[from] StartGrammarSwitchError),
    /// A load balancer.
    #[error(transparent)]
    LoadBalancer(#[from] StartLoadBalancerError),
    /// A device with a described command line or recorded answers.
    #[error(transparent)]
    Device(#[from] StartError),
    /// The ports exceed 65535.
    #[error("cannot start {count} devices from port {first}: the highest port is 65535")]
    Ports {
        /// Port of the first device.
        first: u16,
        /// Number of devices.
        count: usize,
    },
}

impl RunningDevice {
    /// Name in the log.
    pub fn name(&self) -> &str {
        self.log().device()
    }

    /// Address of the listener.
    pub fn address(&self) -> SocketAddr {
        match self {
            RunningDevice::Switch(switch) => switch.address(),
            RunningDevice::Grammar(switch) => switch.address(),
            RunningDevice::LoadBalancer(balancer) => balancer.address(),
            RunningDevice::Structural(device) => device.address(),
            RunningDevice::Replay(device) => device.address(),
        }
    }

    /// The received commands and their answers.
    pub fn log(&self) -> &ExchangeLog {
        match self {
            RunningDevice::Switch(switch) => switch.log(),
            RunningDevice::Grammar(switch) => switch.log(),
            RunningDevice::LoadBalancer(balancer) => balancer.log(),
            RunningDevice::Structural(device) => device.log(),
            RunningDevice::Replay(device) => device.log(),
        }
    }

    /// Closes its connections and waits for them.
    pub async fn stop(self) {
        match self {
            RunningDevice::Switch(switch) => switch.stop().await,
            RunningDevice::Grammar(switch) => switch.stop().await,
            RunningDevice::LoadBalancer(balancer) => balancer.stop().await,
            RunningDevice::Structural(device) => device.stop().await,
            RunningDevice::Replay(device) => device.stop().await,
        }
    }
}

/// Running devices. Dropping the fleet stops them.
#[derive(Debug, Default)]
pub struct Fleet {
    devices: Vec<RunningDevice>,
}

impl Fleet {
    /// Starts devices on 127.0.0.1, on consecutive ports from `first_port`, or on free ports if it is 0.
    ///
    /// # Errors
    /// The first device that cannot start; earlier ones are stopped.
    pub async fn start(
        devices: Vec<DeviceOptions>,
        first_port: u16,
    ) -> Result<Self, StartFleetError> {
        let too_many = StartFleetError::Ports {
            first: first_port,
            count: devices.len(),
        };
        if first_port != 0 && usize::from(u16::MAX - first_port) + 1 < devices.len() {
            return Err(too_many);
        }
        let mut fleet = Fleet::default();
        let mut port = first_port;
        for device in devices {
            fleet.devices.push(match device {
                DeviceOptions::Switch(options) => {
                    RunningDevice::Switch(CliSwitch::start(options, port).await?)
                }
                DeviceOptions::Grammar(options) => {
                    RunningDevice::Grammar(GrammarSwitch::start(options, port).await?)
                }
                DeviceOptions::LoadBalancer(options) => {
                    RunningDevice::LoadBalancer(LoadBalancer::start(options, port).await?)
                }
                DeviceOptions::Structural(options) => {
                    RunningDevice::Structural(StructuralDevice::start(*options, port).await?)
                }
                DeviceOptions::Replay(options) => {
                    RunningDevice::Replay(ReplayDevice::start(options, port).await?)
                }
            });
            if first_port != 0 {
                port = port.saturating_add(1);
            }
        }
        Ok(fleet)
    }

    /// The devices in the order of the options.
    pub fn devices(&self) -> &[RunningDevice] {
        &self.devices
    }

    /// The device of a name.
    pub fn find(&self, name: &str) -> Option<&RunningDevice> {
        self.devices.iter().find(|device| device.name() == name)
    }

    /// Stops all devices.
    pub async fn stop(self) {
        for device in self.devices {
            device.stop().await;
        }
    }
}
