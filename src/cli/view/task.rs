//! The one writer of a run's output: a thread that receives the events of all devices over a
//! channel, so that no device waits for the terminal while the channel has room.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use switchtender_devices::names::DeviceName;

use super::{DeviceSummary, FinishedDevice, View};
use crate::fleet::device_run::{DeviceEvent, Observer};

/// Messages that wait for the view; a sender then waits, too.
const CAPACITY: usize = 4096;

/// How long an aborting process waits for the last lines.
const LAST_FLUSH: Duration = Duration::from_secs(1);

enum Message {
    Event(DeviceName, DeviceEvent),
    Finished(Box<FinishedDevice>),
    Notice(String),
    Flush(SyncSender<()>),
    End(Vec<DeviceSummary>),
}

/// Sends to the view of a run.
#[derive(Clone)]
pub(crate) struct ViewSender(SyncSender<Message>);

impl ViewSender {
    /// Passes the events of a run to the view.
    pub(crate) fn observer(&self) -> Observer {
        let sender = self.clone();
        Arc::new(move |device: &DeviceName, event| {
            sender.send(Message::Event(device.clone(), event));
        })
    }

    pub(crate) fn finished(&self, device: FinishedDevice) {
        self.send(Message::Finished(Box::new(device)));
    }

    /// Prints a message about the complete run.
    pub(crate) fn notice(&self, text: &str) {
        self.send(Message::Notice(text.to_owned()));
    }

    /// Writes collected lines before the process aborts.
    pub(crate) fn flush(&self) {
        let (done, written) = sync_channel(1);
        if self.0.try_send(Message::Flush(done)).is_ok() {
            let _ = written.recv_timeout(LAST_FLUSH);
        }
    }

    fn send(&self, message: Message) {
        // A view that panicked is noticed when its thread is joined.
        let _ = self.0.send(message);
    }
}

/// The thread of a view.
pub(crate) struct ViewTask {
    sender: ViewSender,
    thread: JoinHandle<()>,
}

impl ViewTask {
    pub(crate) fn start(view: Box<dyn View>) -> Self {
        let (sender, receiver) = sync_channel(CAPACITY);
        Self {
            sender: ViewSender(sender),
            thread: std::thread::spawn(move || show(view, &receiver)),
        }
    }

    pub(crate) fn sender(&self) -> ViewSender {
        self.sender.clone()
    }

    /// Shows the end of the run and waits until everything is written.
    pub(crate) fn end(self, all: Vec<DeviceSummary>) {
        self.sender.send(Message::End(all));
        if let Err(panic) = self.thread.join() {
            std::panic::resume_unwind(panic);
        }
    }
}

fn show(mut view: Box<dyn View>, messages: &Receiver<Message>) {
    loop {
        // A burst of messages is written together.
        let message = messages.try_recv().or_else(|_| {
            view.flush();
            messages.recv()
        });
        match message {
            Ok(Message::Event(device, event)) => view.event(&device, &event),
            Ok(Message::Finished(device)) => view.device(&device),
            Ok(Message::Notice(text)) => view.notice(&text),
            Ok(Message::Flush(done)) => {
                view.flush();
                let _ = done.send(());
            }
            Ok(Message::End(all)) => return view.end(&all),
            Err(RecvError) => return,
        }
    }
}
