//! The waits of a protected run, with a clock that runs as fast as the tests need.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use async_trait::async_trait;
use tokio::time::Instant;

use super::super::{DriverProvider, Reconnect};
use super::{ProtectPolicy, ProtectionEnd, ProtectionRecord, Verdict};
use crate::clock;
use crate::driver::{Driver, Facts, Registry, SecretHistory};
use crate::operation::{Operation, OperationResult};
use crate::provider::state::SecretDigestStore;
use crate::read::ReadRequest;
use crate::session::{
    AnswersWithTimer, RevertLimit, RevertMethod, Session, SessionError, SessionErrorKind,
    Statistics, TimerState,
};
use crate::value::Value;

const LIMIT: Duration = Duration::from_secs(300);
const BEFORE: &str = "hostname sw1\nend\n";
const AFTER: &str = "hostname sw1\ninterface Vlan10\n shutdown\nend\n";

/// A device with a timed revert.
struct Device {
    configuration: &'static str,
    timer: Option<Instant>,
    /// It restarts instead of a revert, and is not reachable for this time.
    boot: Option<Duration>,
    restarted: Option<Instant>,
    is_reachable: bool,
    /// The device cannot be reached after it has executed this command.
    cut_off_by: &'static str,
    received: Vec<&'static str>,
}

#[derive(Clone)]
struct Connection(Arc<Mutex<Device>>);

impl Connection {
    fn new(cut_off_by: &'static str) -> Self {
        Self(Arc::new(Mutex::new(Device {
            configuration: BEFORE,
            timer: None,
            boot: None,
            restarted: None,
            is_reachable: true,
            cut_off_by,
            received: Vec::new(),
        })))
    }

    /// The device, whose timer may have ended. A revert makes it reachable again.
    fn device(&self) -> MutexGuard<'_, Device> {
        let mut device = self.0.lock().expect("free");
        if device.timer.is_some_and(|end| end <= clock::instant()) {
            device.restarted = device.timer.take().filter(|_| device.boot.is_some());
            device.configuration = BEFORE;
            device.is_reachable = device.restarted.is_none();
        }
        if let (Some(at), Some(boot)) = (device.restarted, device.boot)
            && at + boot <= clock::instant()
        {
            device.restarted = None;
            device.is_reachable = true;
        }
        device
    }

    /// Executes a command; without an answer if that cuts off the device.
    fn execute(
        &self,
        command: &'static str,
        effect: impl FnOnce(&mut Device),
    ) -> Result<(), SessionError> {
        let mut device = self.device();
        if !device.is_reachable {
            return Err(lost());
        }
        device.received.push(command);
        effect(&mut device);
        if device.cut_off_by == command {
            device.is_reachable = false;
            return Err(lost());
        }
        Ok(())
    }

    fn is_started(&self) -> bool {
        self.device().received.contains(&"begin")
    }

    fn state(&self) -> TimerState {
        let mut is_running = false;
        self.execute("state", |device| is_running = device.timer.is_some())?;
        Ok(Some(is_running))
    }
}

fn lost() -> SessionError {
    let kind = SessionErrorKind::Unreachable {
        address: "sw1:22".to_owned(),
        reason: "no answer".to_owned(),
    };
    SessionError::new("sw1", kind)
}

#[async_trait]
impl Session for Connection {
    async fn read(&mut self, requests: &[ReadRequest]) -> Result<Vec<String>, SessionError> {
        let mut configuration = "";
        self.execute("read", |device| configuration = device.configuration)?;
        let text = |request: &ReadRequest| match request.name.as_str() {
            "config" => configuration.to_owned(),
            _ => String::new(),
        };
        Ok(requests.iter().map(text).collect())
    }

    async fn commit(&mut self, _: &[Operation]) -> Vec<OperationResult> {
        Vec::new()
    }

    fn revert_limit(&self, method: RevertMethod) -> Option<RevertLimit> {
        let has_reload = self.device().boot.is_some();
        let has_method = (method == RevertMethod::Reload) == has_reload;
        has_method.then(|| RevertLimit {
            timer: LIMIT,
            boot: self.device().boot.unwrap_or_default(),
        })
    }

    async fn read_with_timer(
        &mut self,
        requests: &[ReadRequest],
        _: RevertMethod,
    ) -> Result<AnswersWithTimer, SessionError> {
        Ok((self.read(requests).await?, self.state()?))
    }

    async fn protect(&mut self, _: RevertMethod) -> Result<TimerState, SessionError> {
        let is_late = self.is_started() && self.device().timer.is_none();
        self.execute("begin", |device| {
            device.timer = (!is_late).then(|| clock::instant() + LIMIT);
        })?;
        Ok(self.state())
    }

    async fn end_protection(
        &mut self,
        _: RevertMethod,
        keep: bool,
    ) -> Result<TimerState, SessionError> {
        let command = if keep { "keep" } else { "revert" };
        self.execute(command, |device| {
            device.timer = None;
            if !keep {
                device.configuration = BEFORE;
            }
        })?;
        Ok(if keep && self.device().cut_off_by == "accepted keep" {
            self.device().is_reachable = false;
            Err(lost())
        } else {
            self.state()
        })
    }

    async fn save(&mut self) -> Result<String, SessionError> {
        Ok(String::new())
    }

    async fn close(&mut self) -> Vec<String> {
        Vec::new()
    }

    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    fn statistics(&self) -> Statistics {
        Statistics::default()
    }
}

#[async_trait]
impl Reconnect for Connection {
    async fn reconnect(&self) -> Result<Box<dyn Session>, SessionError> {
        if self.device().is_reachable {
            Ok(Box::new(self.clone()) as Box<dyn Session>)
        } else {
            Err(lost())
        }
    }
}

struct Nothing;

impl SecretHistory for Nothing {
    fn matches_last_set(&self, _: &str, _: &str, _: &Value) -> Option<bool> {
        None
    }
}

impl SecretDigestStore for Nothing {
    fn remember(&self, _: &str, _: &str, _: &Value) {}
}

#[async_trait]
impl ProtectionRecord for Nothing {
    async fn start(&self, _: &str, _: RevertMethod) -> Result<(), String> {
        Ok(())
    }
}

fn provider(connection: &Connection) -> DriverProvider {
    let registry = Registry::shipped();
    let platform = registry.platform("cisco_ios").expect("it exists");
    // The facts of empty answers.
    let names = platform
        .fact_reads()
        .into_iter()
        .map(|request| request.name);
    let facts = platform.facts(&names.map(|name| (name, String::new())).collect());
    DriverProvider::new(
        Driver::new(platform, &Facts::default()),
        Box::new(connection.clone()),
        Box::new(connection.clone()),
        Arc::new(Nothing),
    )
    .protect(ProtectPolicy::Required, facts, Box::new(Nothing))
    .allow_reload(connection.device().boot.is_some())
}

/// A run that changes the device and ends. Returns its end and the time that this took.
async fn run(connection: &Connection) -> (ProtectionEnd, Duration) {
    let mut provider = provider(connection);
    provider.ensure_protected().await.expect("protected");
    let changed = connection.execute("change", |device| device.configuration = AFTER);
    let ended = match connection.device().cut_off_by {
        "refused" => Err("the run failed".to_owned()),
        _ => changed.map_err(|error| error.to_string()),
    };
    let started = clock::instant();
    let end = provider.end_run(ended, &|| false, &mut |_, _| {}).await;
    (end.expect("it was protected"), started.elapsed())
}

#[tokio::test(start_paused = true)]
async fn protection_waits_for_the_timer_after_a_cut_and_not_after_a_confirmation() {
    // By the command after which the device cannot be reached.
    let cases = [
        ("", Verdict::Applied, AFTER, 0..=0),
        ("change", Verdict::Reverted, BEFORE, 300..=331),
        ("keep", Verdict::Unknown, AFTER, 330..=330),
        ("accepted keep", Verdict::Unknown, AFTER, 30..=30),
    ];
    for (cut_off_by, verdict, configuration, seconds) in cases {
        let connection = Connection::new(cut_off_by);
        let (end, took) = run(&connection).await;
        assert_eq!(end.verdict, verdict, "{cut_off_by}: {:?}", end.problem);
        assert_eq!(
            connection.device().configuration,
            configuration,
            "{cut_off_by}"
        );
        assert!(seconds.contains(&took.as_secs()), "{cut_off_by}: {took:?}");
    }
}

/// The device is not told to restart earlier. The program waits for its restart.
#[tokio::test(start_paused = true)]
async fn protection_by_reload_waits_for_the_restart() {
    // By the command after which the device cannot be reached.
    let cases = [
        ("", Verdict::Applied, AFTER, 0..=0),
        ("refused", Verdict::Reverted, BEFORE, 400..=431),
        ("change", Verdict::Reverted, BEFORE, 400..=431),
        ("keep", Verdict::Unknown, AFTER, 430..=430),
        ("accepted keep", Verdict::Unknown, AFTER, 30..=30),
    ];
    for (cut_off_by, verdict, configuration, seconds) in cases {
        let connection = Connection::new(cut_off_by);
        connection.device().boot = Some(Duration::from_secs(100));
        let (end, took) = run(&connection).await;
        assert_eq!(end.verdict, verdict, "{cut_off_by}: {:?}", end.problem);
        let device = connection.device();
        assert_eq!(device.configuration, configuration, "{cut_off_by}");
        assert!(!device.received.contains(&"revert"), "{cut_off_by}");
        assert!(seconds.contains(&took.as_secs()), "{cut_off_by}: {took:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn protection_starts_the_time_again_when_half_of_it_is_over() {
    let connection = Connection::new("");
    let mut provider = provider(&connection);
    for _ in 0..5 {
        provider.ensure_protected().await.expect("protected");
        tokio::time::advance(LIMIT * 2 / 5).await;
    }
    let begins = connection
        .device()
        .received
        .iter()
        .filter(|one| **one == "begin")
        .count();
    // At the start, and after 4/5 and 8/5 of the time.
    assert_eq!(begins, 3);
    assert!(connection.device().timer.is_some());
    tokio::time::advance(LIMIT).await;
    let late = provider.ensure_protected().await;
    let text = late.expect_err("the device has reverted").to_string();
    assert!(text.contains("the run is not protected"), "{text}");
}
