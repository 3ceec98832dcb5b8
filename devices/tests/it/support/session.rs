//! Sessions with mock devices.

use std::path::Path;
use std::time::Duration;

use secrecy::SecretString;
use switchtender_devices::diagnostic::Source;
use switchtender_devices::dialogue::Protocol;
use switchtender_devices::document::{Findings, read};
use switchtender_devices::operation::{OperationResult, Outcome};
use switchtender_devices::read::ReadRequest;
use switchtender_devices::secret_mask::SecretMask;
use switchtender_devices::session::connect_params::{
    ConnectParams, HostKeyPolicy, LimitSettings, RestOptions, SshOptions, TlsPolicy,
};
use switchtender_devices::session::deadline::Deadline;
use switchtender_mocks::{RunningLoadBalancer, RunningSwitch};

/// The protocol of a shipped platform.
pub(crate) fn protocol(platform: &str) -> Protocol {
    let name = format!("{platform}/platform.toml");
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("definitions")
        .join(&name);
    let text = std::fs::read_to_string(&path).expect("the definition exists");
    let source = Source::new(name, text);
    let findings = Findings::new(&source);
    read(&findings, Protocol::read).expect("a protocol")
}

/// A mock switch with the right passwords.
pub(crate) fn switch_target(switch: &RunningSwitch) -> ConnectParams {
    ConnectParams {
        enable_password: Some(SecretString::from("enable")),
        prompt: None,
        transport: switchtender_devices::session::LineTransport::Ssh,
        ssh: SshOptions {
            host_key: HostKeyPolicy::Ignore,
            ..SshOptions::default()
        },
        command_timeout: Duration::from_secs(10),
        ..target("sw1", switch.address().port())
    }
}

/// A mock load balancer with the right password and fingerprint.
pub(crate) fn load_balancer_target(device: &RunningLoadBalancer) -> ConnectParams {
    ConnectParams {
        rest: RestOptions {
            tls: TlsPolicy::Fingerprint(device.fingerprint()),
            ..RestOptions::default()
        },
        ..target("lb1", device.address().port())
    }
}

fn target(device: &str, port: u16) -> ConnectParams {
    ConnectParams {
        device: device.to_owned(),
        host: "127.0.0.1".to_owned(),
        port: Some(port),
        user: "admin".to_owned(),
        password: Some(SecretString::from("admin")),
        enable_password: None,
        prompt: None,
        transport: switchtender_devices::session::LineTransport::Ssh,
        ssh: SshOptions::default(),
        rest: RestOptions::default(),
        connect_timeout: Duration::from_secs(20),
        command_timeout: Duration::from_secs(20),
        limits: LimitSettings::default(),
        deadline: Deadline::default(),
        fence: std::sync::Arc::new(switchtender_devices::session::fence::NoFence),
        ledger: std::sync::Arc::new(switchtender_devices::session::ledger::NoLedger),
        lock_wait: switchtender_devices::session::ledger::LockWait::default(),
        transcript: None,
        recording: None,
        mask: SecretMask::default(),
    }
}

/// A read of one command or path.
pub(crate) fn read_request(command: &str) -> ReadRequest {
    ReadRequest {
        name: command.to_owned(),
        command: command.to_owned(),
        body: None,
        optional: false,
        answer: switchtender_devices::read::answer_rule::AnswerRule::default(),
        parents: None,
    }
}

/// The outcomes as text.
pub(crate) fn outcomes(results: &[OperationResult]) -> Vec<String> {
    results
        .iter()
        .map(|result| match &result.outcome {
            Outcome::Done { messages } if messages.is_empty() => "done".to_owned(),
            Outcome::Done { messages } => format!("done: {}", messages.join("; ")),
            Outcome::Refused { message } => format!("refused: {message}"),
            Outcome::NotSent => "not sent".to_owned(),
            Outcome::Unknown { reason, .. } => format!("unknown: {reason}"),
        })
        .collect()
}
