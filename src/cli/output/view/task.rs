//! The one writer of a run's output: a thread that receives the events of all devices over a
//! channel, so that no device waits for the terminal while the channel has room.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use indicatif::ProgressBar;
use switchtender_devices::names::DeviceName;
use tokio::runtime::Handle;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::{DeviceSummary, FinishedDevice, View};
use crate::cli::exit::{CommandError, eprint_notice};
use crate::cli::output::time_limit::NOTICE_LIMIT;
use crate::cli::output::time_limit::OUTPUT_GRACE;
use crate::cli::output::time_limit::within_limit;
use crate::fleet::device_run::{DeviceEvent, Observer};
use crate::fleet::rollout::Batch;
use crate::fleet::rollout::check::CheckEnd;

/// Messages that wait for the view; a sender then waits, too.
const CAPACITY: usize = 4096;

/// How long an aborting process waits for the last lines.
const LAST_FLUSH: Duration = Duration::from_secs(1);

enum Message {
    Batch(Batch),
    Check(CheckEnd),
    BeginPlan(usize),
    EndPlan(Vec<DeviceSummary>, oneshot::Sender<()>),
    BeginRun(usize),
    Event(DeviceName, DeviceEvent),
    Finished(Box<FinishedDevice>),
    Flush(SyncSender<()>),
    End(Vec<DeviceSummary>),
    /// Nothing more is shown.
    Discard,
}

/// Sends to the view of a run.
#[derive(Clone)]
pub(crate) struct ViewSender {
    queue: mpsc::Sender<Message>,
    bar: Option<ProgressBar>,
    /// Messages do not wait for a blocked output.
    discarding: CancellationToken,
    /// A message was dropped.
    incomplete: Arc<AtomicBool>,
    /// The notices that are not printed yet.
    notices: TaskTracker,
}

impl ViewSender {
    /// Passes the events of a run to the view.
    pub(crate) fn observer(&self) -> Observer {
        let sender = self.clone();
        Arc::new(move |device: &DeviceName, event| {
            sender.send(Message::Event(device.clone(), event));
        })
    }

    pub(crate) fn batch(&self, batch: Batch) {
        self.send(Message::Batch(batch));
    }

    pub(crate) fn check(&self, end: CheckEnd) {
        self.send(Message::Check(end));
    }

    /// Plans of so many devices follow, before the user is asked.
    pub(crate) fn begin_plan(&self, devices: usize) {
        self.send(Message::BeginPlan(devices));
    }

    /// Shows the plans, and waits until they are written.
    pub(crate) async fn end_plan(&self, planned: Vec<DeviceSummary>) {
        let (done, written) = oneshot::channel();
        self.send(Message::EndPlan(planned, done));
        // A view that panicked is noticed when its thread is joined.
        let _ = self.discarding.run_until_cancelled(written).await;
    }

    /// The user has answered. The run of so many devices follows.
    pub(crate) fn begin_run(&self, devices: usize) {
        self.send(Message::BeginRun(devices));
    }

    pub(crate) fn finished(&self, device: FinishedDevice) {
        self.send(Message::Finished(Box::new(device)));
    }

    /// Prints a message about the complete run to standard error. It does not pass through the queue,
    /// and the wait for it has a limit: each stream may be blocked.
    pub(crate) async fn notice(&self, text: String) {
        let bar = self.bar.clone();
        let printing = self.notices.token();
        within_limit(move || {
            match bar {
                Some(bar) => bar.suspend(|| eprint_notice(&text)),
                None => eprint_notice(&text),
            }
            drop(printing);
        })
        .await;
    }

    /// Drops messages instead of waiting for a blocked output.
    pub(crate) fn discard_blocked(&self) {
        self.discarding.cancel();
    }

    /// Writes collected lines before the process aborts.
    pub(crate) fn flush(&self) {
        let (done, written) = sync_channel(1);
        if self.queue.try_send(Message::Flush(done)).is_ok() {
            let _ = written.recv_timeout(LAST_FLUSH);
        }
    }

    fn send(&self, message: Message) {
        // A view that panicked is noticed when its thread is joined.
        let Err(TrySendError::Full(message)) = self.queue.try_send(message) else {
            return;
        };
        // The other tasks of this thread continue on another one.
        let sent = tokio::task::block_in_place(|| {
            let sending = self.queue.send(message);
            Handle::current().block_on(self.discarding.run_until_cancelled(sending))
        });
        if sent.is_none() {
            self.incomplete.store(true, Ordering::Relaxed);
        }
    }
}

/// The thread of a view.
pub(crate) struct ViewTask {
    sender: ViewSender,
    thread: JoinHandle<Result<(), CommandError>>,
    /// Closed when the thread ends.
    ended: oneshot::Receiver<()>,
}

impl ViewTask {
    pub(crate) fn start(view: Box<dyn View>) -> Self {
        let (queue, messages) = mpsc::channel(CAPACITY);
        let (running, ended) = oneshot::channel();
        let bar = view.progress_bar();
        let thread = std::thread::spawn(move || {
            let _running: oneshot::Sender<()> = running;
            show(view, messages)
        });
        let sender = ViewSender {
            queue,
            bar,
            discarding: CancellationToken::new(),
            incomplete: Arc::default(),
            notices: TaskTracker::new(),
        };
        Self {
            sender,
            thread,
            ended,
        }
    }

    pub(crate) fn sender(&self) -> ViewSender {
        self.sender.clone()
    }

    /// Shows the end of the run and waits until everything is written. The wait for notices has a
    /// limit, and after [`ViewSender::discard_blocked`] all waits.
    ///
    /// # Errors
    /// The view could not write a file.
    pub(crate) async fn end(self, all: Vec<DeviceSummary>) -> Result<(), CommandError> {
        self.end_with(Message::End(all)).await
    }

    /// Ends without the summary: the user did not agree, and nothing was done.
    ///
    /// # Errors
    /// As [`ViewTask::end`].
    pub(crate) async fn discard(self) -> Result<(), CommandError> {
        self.end_with(Message::Discard).await
    }

    async fn end_with(self, last: Message) -> Result<(), CommandError> {
        let Self {
            sender,
            thread,
            ended,
        } = self;
        sender.send(last);
        let is_written = tokio::select! {
            biased;
            _ = ended => true,
            () = async {
                sender.discarding.cancelled().await;
                tokio::time::sleep(OUTPUT_GRACE).await;
            } => false,
        };
        let result = if is_written {
            thread
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        } else {
            Ok(())
        };
        if !is_written || sender.incomplete.load(Ordering::Relaxed) {
            let text = "warning: the output is incomplete: standard output was blocked";
            sender.notice(text.to_owned()).await;
        }
        sender.notices.close();
        let _ = tokio::time::timeout(NOTICE_LIMIT, sender.notices.wait()).await;
        result
    }
}

fn show(
    mut view: Box<dyn View>,
    mut messages: mpsc::Receiver<Message>,
) -> Result<(), CommandError> {
    loop {
        // A burst of messages is written together.
        let message = messages.try_recv().ok().or_else(|| {
            view.flush();
            messages.blocking_recv()
        });
        match message {
            Some(Message::Batch(batch)) => view.batch(&batch),
            Some(Message::Check(end)) => view.check(&end),
            Some(Message::BeginPlan(devices)) => view.begin_plan(devices),
            Some(Message::EndPlan(planned, done)) => {
                view.end_plan(&planned);
                let _ = done.send(());
            }
            Some(Message::BeginRun(devices)) => view.begin_run(devices),
            Some(Message::Event(device, event)) => view.event(&device, &event),
            Some(Message::Finished(device)) => view.device(&device),
            Some(Message::Flush(done)) => {
                view.flush();
                let _ = done.send(());
            }
            Some(Message::End(all)) => return view.end(&all),
            Some(Message::Discard) | None => return Ok(()),
        }
    }
}
