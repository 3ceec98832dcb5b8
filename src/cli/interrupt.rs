//! Ctrl-C, SIGTERM and SIGHUP: a run or a read ends in order, each further signal makes it shorter.

use std::time::Duration;

use switchtender_devices::session::deadline::{Deadline, StopCause};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::cli::exit::{CommandError, eprint_notice};
use crate::cli::output::time_limit::{OUTPUT_GRACE, within_limit};
use crate::cli::output::view::ViewSender;
use crate::clock;
use crate::fleet::device_run::STOP_GRACE;
use crate::fleet::run_request::RunRequest;

/// The first signal stops the run after the current resource, the second ends it at once, with
/// reports. The third ends the process.
pub(crate) fn stop_run_on_signals(request: &RunRequest, view: ViewSender) {
    let (stop, abort) = (request.stop.clone(), request.abort.clone());
    on_signals(async move |mut interrupts| {
        interrupts.next().await;
        let first = format!(
            "stopping after the current resource, within {} s; press Ctrl-C again to stop now",
            STOP_GRACE.as_secs()
        );
        // The run does not wait for the notice; the end of the output does.
        tokio::join!(view.notice(first), async { stop.cancel() });
        interrupts.next().await;
        let second = "stopping now: the device is read once more and the report is written; \
                      press Ctrl-C again to exit without them";
        view.notice(second.to_owned()).await;
        abort.cancel();
        tokio::select! {
            () = interrupts.next() => {}
            () = async {
                tokio::time::sleep(OUTPUT_GRACE).await;
                view.discard_blocked();
                std::future::pending().await
            } => {}
        }
        view.flush();
        std::process::exit(INTERRUPTED);
    });
}

/// What ends a long-running process.
pub(crate) struct ProcessStop {
    /// No run starts any more; those in progress end in order.
    pub(crate) stop: CancellationToken,
    /// Runs end at once.
    pub(crate) abort: CancellationToken,
}

/// The first SIGINT or SIGTERM stops the process in order, the second at once, the third without
/// results. SIGHUP does not stop it.
pub(crate) fn stop_process_on_signals() -> ProcessStop {
    let process = ProcessStop {
        stop: CancellationToken::new(),
        abort: CancellationToken::new(),
    };
    let (stop, abort) = (process.stop.clone(), process.abort.clone());
    on_signals(async move |mut interrupts| {
        interrupts.ignore_hangup();
        interrupts.next().await;
        stop.cancel();
        interrupts.next().await;
        abort.cancel();
        interrupts.next().await;
        std::process::exit(INTERRUPTED);
    });
    process
}

/// The first signal ends the read of a device, the second the process.
pub(crate) fn stop_read_on_signals(deadline: &Deadline) {
    let deadline = deadline.clone();
    on_stop(move || deadline.end_at(clock::instant(), StopCause::Requested));
}

/// The first signal ends the reads of all devices, the second the process.
pub(crate) fn stop_reads_on_signals(stop: &CancellationToken) {
    let stop = stop.clone();
    on_stop(move || stop.cancel());
}

fn on_stop(end: impl FnOnce() + Send + 'static) {
    on_signals(async move |mut interrupts| {
        interrupts.next().await;
        end();
        let notice = "stopping: open sessions are closed; press Ctrl-C again to exit at once";
        within_limit(|| eprint_notice(notice)).await;
        interrupts.next().await;
        std::process::exit(INTERRUPTED);
    });
}

/// Handles signals until the process ends, on a thread of its own: tasks that compute or wait for a
/// blocked output do not delay it.
fn on_signals(handle: impl AsyncFnOnce(Interrupts) + Send + 'static) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    // The program is not stopped by a signal that cannot be received.
    let Ok(runtime) = runtime else { return };
    let interrupts = {
        let _context = runtime.enter();
        Interrupts::new()
    };
    std::thread::spawn(move || runtime.block_on(handle(interrupts)));
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

    /// SIGHUP has another meaning for this process.
    fn ignore_hangup(&mut self) {
        self.signals[2] = None;
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
