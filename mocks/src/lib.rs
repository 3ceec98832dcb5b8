//! Mock devices on loopback: a switch over SSH, a load balancer over HTTPS and a NETCONF server.
//!
//! They are written from the device documentation in `docs/reference/devices`, never from driver definitions or driver code: the
//! two must be able to contradict each other. This package depends on nothing else in the workspace. The exception is
//! [`structural`], which has the structure that a definition describes. It is for trials and proves nothing about a device.
//!
//! * [`cli_switch`]: an IOS-like switch; start one with [`CliSwitch::start`].
//! * [`grammar_switch`]: a switch of any platform, from a grammar that is data.
//! * [`load_balancer`]: an iControl-REST-like load balancer; start one with [`LoadBalancer::start`].
//! * [`netconf_server`]: a NETCONF server with a candidate and confirmed commits.
//! * [`command_api`]: the same lines in HTTP requests.
//! * [`structural`]: any command line, REST interface or NETCONF configuration, from a description of its structure.
//! * [`replay`]: a device that answers from a recording.
//! * [`puppet_server`]: a Puppet Server.
//! * [`jump_host`]: an SSH server that forwards connections.
//! * [`fleet`]: several devices in one process.
//! * [`fault`]: faults that mocks inject on request.
//! * [`control`]: the exchange log, for tests.

pub mod cli_switch;
mod clock;
pub mod command_api;
pub mod control;
pub mod fault;
pub mod fleet;
pub mod grammar_switch;
mod http_server;
mod json_path;
pub mod jump_host;
pub mod load_balancer;
pub mod netconf_server;
mod network;
pub mod puppet_server;
pub mod replay;
mod replay_script;
mod response_body;
mod rest_request;
pub mod running;
mod serial_number;
mod shape_pattern;
mod ssh_server;
pub mod structural;
mod task;
mod terminal;
mod terminal_lines;
mod tls;

pub use cli_switch::{CliSwitch, RunningSwitch, SwitchOptions};
pub use command_api::{CommandApi, CommandApiForm, RunningCommandApi};
pub use control::{Exchange, ExchangeLog, SharedWriter};
pub use fault::Fault;
pub use grammar_switch::{
    GrammarSwitch, GrammarSwitchOptions, OfflineGrammarSwitch, RunningGrammarSwitch,
};
pub use load_balancer::{LoadBalancer, LoadBalancerOptions, RunningLoadBalancer};
pub use netconf_server::{NetconfOptions, NetconfServer, RunningNetconfServer};
pub use replay::{RecordedAnswer, ReplayDevice, ReplayOptions, RunningReplayDevice};
pub use running::RunningMock;
pub use serial_number::serial_number;
pub use ssh_server::{HostKey, InvalidKey, LoginMethods};
pub use structural::{
    RunningStructuralDevice, StructuralDevice, StructuralInterface, StructuralOptions,
};
