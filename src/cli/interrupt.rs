//! Ctrl-C, SIGTERM and SIGHUP: a run or a read ends in order, each further signal makes it shorter.

use std::time::Duration;

use switchtender_devices::session::deadline::{Deadline, StopCause};
use switchtender_devices::task;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::task::AbortOnDropHandle;

use super::exit::{CommandError, eprint_notice};
use super::view::ViewSender;
use crate::clock;
use crate::fleet::device_run::{RunOptions, STOP_GRACE};

/// The task that handles the signals of a command; it is aborted when this is dropped.
pub(crate) struct InterruptTask {
    _task: AbortOnDropHandle<()>,
}

impl InterruptTask {
    /// The first signal stops the run after the current resource, the second ends it at once, with
    /// reports. The third ends the process.
    pub(crate) fn for_run(options: &RunOptions, view: ViewSender) -> Self {
        let (stop, abort) = (options.stop.clone(), options.abort.clone());
        let mut interrupts = Interrupts::new();
        let task = task::spawn(async move {
            interrupts.next().await;
            stop.cancel();
            view.notice(&format!(
                "stopping after the current resource, within {} s; press Ctrl-C again to stop now",
                STOP_GRACE.as_secs()
            ));
            interrupts.next().await;
            abort.cancel();
            view.notice(
                "stopping now: the device is read once more and the report is written; \
                 press Ctrl-C again to exit without them",
            );
            interrupts.next().await;
            view.flush();
            std::process::exit(INTERRUPTED);
        });
        Self { _task: task }
    }

    /// The first signal ends the read of a device, the second the process.
    pub(crate) fn for_read(deadline: &Deadline) -> Self {
        let deadline = deadline.clone();
        let mut interrupts = Interrupts::new();
        let task = task::spawn(async move {
            interrupts.next().await;
            deadline.end_at(clock::instant(), StopCause::Requested);
            eprint_notice("stopping: the session is closed; press Ctrl-C again to exit at once");
            interrupts.next().await;
            std::process::exit(INTERRUPTED);
        });
        Self { _task: task }
    }
}

/// The exit code that shells use for a program that SIGINT ended.
const INTERRUPTED: i32 = 130;
/// Time for the end of a read that was stopped.
const READ_GRACE: Duration = Duration::from_secs(10);

/// Waits for the first signal.
pub(crate) async fn interrupted() {
    Interrupts::new().next().await;
}

/// Waits for a read of a device, until some time after its deadline.
pub(crate) async fn unless_stopped<T>(
    deadline: &Deadline,
    read: impl Future<Output = Result<T, CommandError>>,
) -> Result<T, CommandError> {
    tokio::select! {
        biased;
        done = read => done,
        cause = async {
            let cause = deadline.passed().await;
            tokio::time::sleep(READ_GRACE).await;
            cause
        } => Err(CommandError::new(cause.to_string())),
    }
}

/// The signals that stop a command. A signal between two calls of [`next`](Self::next) is not lost.
struct Interrupts {
    signals: [Option<Signal>; 3],
}

impl Interrupts {
    fn new() -> Self {
        // The program is not stopped by a signal that cannot be received.
        let receive = |kind| signal(kind).ok();
        Self {
            signals: [
                receive(SignalKind::interrupt()),
                receive(SignalKind::terminate()),
                (!hangup_is_ignored())
                    .then(|| receive(SignalKind::hangup()))
                    .flatten(),
            ],
        }
    }

    /// Waits for Ctrl-C, a request to end, or the end of the terminal that it was started from.
    async fn next(&mut self) {
        let [interrupt, terminate, hangup] = &mut self.signals;
        tokio::select! {
            () = received(interrupt) => {}
            () = received(terminate) => {}
            () = received(hangup) => {}
        }
    }
}

async fn received(signal: &mut Option<Signal>) {
    match signal {
        Some(signal) => {
            signal.recv().await;
        }
        None => std::future::pending().await,
    }
}

/// Whether the process was started to outlive its terminal, as by `nohup`.
fn hangup_is_ignored() -> bool {
    const HANGUP: u64 = 1 << 0;
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask & HANGUP != 0)
}
