//! Several mock devices in one process.
//!
//! Devices of a fleet share the process's host key and certificate and the factory's configurations, so that two hundred of them
//! cost little more than their sockets.

use std::net::SocketAddr;

use crate::cli_switch::{CliSwitch, RunningSwitch, StartSwitchError, SwitchOptions};
use crate::control::ExchangeLog;
use crate::load_balancer::{
    LoadBalancer, LoadBalancerOptions, RunningLoadBalancer, StartLoadBalancerError,
};

/// A device that is to be started.
#[derive(Debug, Clone)]
pub enum DeviceOptions {
    /// A switch over SSH.
    Switch(SwitchOptions),
    /// A load balancer over HTTPS.
    LoadBalancer(LoadBalancerOptions),
}

/// A device that runs.
#[derive(Debug)]
pub enum RunningDevice {
    /// A switch over SSH.
    Switch(RunningSwitch),
    /// A load balancer over HTTPS.
    LoadBalancer(RunningLoadBalancer),
}

/// Why a device of a fleet could not be started.
#[derive(Debug, thiserror::Error)]
pub enum StartFleetError {
    /// A switch.
    #[error(transparent)]
    Switch(#[from] StartSwitchError),
    /// A load balancer.
    #[error(transparent)]
    LoadBalancer(#[from] StartLoadBalancerError),
    /// The ports end at 65535.
    #[error("{count} devices do not fit above port {first}")]
    Ports {
        /// Port of the first device.
        first: u16,
        /// How many devices.
        count: usize,
    },
}

impl RunningDevice {
    /// Name in the log.
    pub fn name(&self) -> &str {
        self.log().device()
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        match self {
            RunningDevice::Switch(switch) => switch.address(),
            RunningDevice::LoadBalancer(balancer) => balancer.address(),
        }
    }

    /// What it was told.
    pub fn log(&self) -> &ExchangeLog {
        match self {
            RunningDevice::Switch(switch) => switch.log(),
            RunningDevice::LoadBalancer(balancer) => balancer.log(),
        }
    }

    /// Ends its connections and waits until they are gone.
    pub async fn stop(self) {
        match self {
            RunningDevice::Switch(switch) => switch.stop().await,
            RunningDevice::LoadBalancer(balancer) => balancer.stop().await,
        }
    }
}

/// Devices that run together. Dropping it stops them.
#[derive(Debug, Default)]
pub struct Fleet {
    devices: Vec<RunningDevice>,
}

impl Fleet {
    /// Starts devices on 127.0.0.1: on free ports when `first_port` is 0, else on that port and those after it.
    ///
    /// # Errors
    /// The first device that could not be started; those before it are stopped again.
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
                DeviceOptions::LoadBalancer(options) => {
                    RunningDevice::LoadBalancer(LoadBalancer::start(options, port).await?)
                }
            });
            if first_port != 0 {
                port = port.saturating_add(1);
            }
        }
        Ok(fleet)
    }

    /// The devices in the order in which they were given.
    pub fn devices(&self) -> &[RunningDevice] {
        &self.devices
    }

    /// The device of that name.
    pub fn find(&self, name: &str) -> Option<&RunningDevice> {
        self.devices.iter().find(|device| device.name() == name)
    }

    /// Stops all of them.
    pub async fn stop(self) {
        for device in self.devices {
            device.stop().await;
        }
    }
}
