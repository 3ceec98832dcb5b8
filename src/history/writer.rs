//! The one thread of a process that writes to a history.

use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::{HistoryError, HistoryWriter};
use crate::store::blocking_io;

/// Writes that wait for the thread; a sender then waits, too.
const CAPACITY: usize = 1024;
/// Writes that are committed together.
const BATCH: usize = 256;

/// Sends the result of a write after the commit. It gets the error of the commit.
type Answer = Box<dyn FnOnce(Option<HistoryError>)>;
/// A write in a transaction.
type Job = Box<dyn FnOnce(&Connection) -> Answer + Send>;

pub(super) struct Writer {
    jobs: SyncSender<Job>,
}

impl Writer {
    pub(super) fn start(connection: Connection) -> Result<Self, HistoryError> {
        let (jobs, waiting) = sync_channel(CAPACITY);
        std::thread::Builder::new()
            .name("history".to_owned())
            .spawn(move || write_all(&connection, &waiting))
            .map_err(HistoryError::File)?;
        Ok(Self { jobs })
    }

    pub(super) async fn write<T: Send + 'static>(
        &self,
        write: impl FnOnce(&HistoryWriter<'_>) -> Result<T, HistoryError> + Send + 'static,
    ) -> Result<T, HistoryError> {
        let (sender, result) = oneshot::channel();
        let job = job(write, |result| drop(sender.send(result)));
        let jobs = self.jobs.clone();
        match jobs.try_send(job) {
            Ok(()) => {}
            // Tasks do not wait for a full queue on their thread.
            Err(TrySendError::Full(job)) => {
                let sent = blocking_io::run(move || jobs.send(job)).await;
                sent.map_err(|_| HistoryError::Stopped)?;
            }
            Err(TrySendError::Disconnected(_)) => return Err(HistoryError::Stopped),
        }
        result.await.unwrap_or(Err(HistoryError::Stopped))
    }

    pub(super) fn write_and_wait<T: Send + 'static>(
        &self,
        write: impl FnOnce(&HistoryWriter<'_>) -> Result<T, HistoryError> + Send + 'static,
    ) -> Result<T, HistoryError> {
        let (sender, result) = sync_channel(1);
        let job = job(write, move |result| drop(sender.send(result)));
        self.jobs.send(job).map_err(|_| HistoryError::Stopped)?;
        result.recv().unwrap_or(Err(HistoryError::Stopped))
    }
}

fn job<T: 'static>(
    write: impl FnOnce(&HistoryWriter<'_>) -> Result<T, HistoryError> + Send + 'static,
    answer: impl FnOnce(Result<T, HistoryError>) + Send + 'static,
) -> Job {
    Box::new(move |connection| {
        let result = in_savepoint(connection, write);
        Box::new(move |lost| answer(lost.map_or(result, Err)))
    })
}

/// A write that fails changes nothing, and the others of its transaction are not affected.
fn in_savepoint<T>(
    connection: &Connection,
    write: impl FnOnce(&HistoryWriter<'_>) -> Result<T, HistoryError>,
) -> Result<T, HistoryError> {
    connection.execute_batch("SAVEPOINT job")?;
    let result = write(&HistoryWriter { connection });
    if connection.is_autocommit() {
        // SQLite has ended the transaction, because the disk is full.
        return result.and(Err(HistoryError::Full));
    }
    match result {
        Ok(value) => {
            connection.execute_batch("RELEASE job")?;
            Ok(value)
        }
        Err(error) => {
            connection.execute_batch("ROLLBACK TO job; RELEASE job")?;
            Err(error)
        }
    }
}

/// Writes until all senders are gone.
fn write_all(connection: &Connection, jobs: &Receiver<Job>) {
    while let Ok(first) = jobs.recv() {
        let mut batch = vec![first];
        while batch.len() < BATCH {
            match jobs.try_recv() {
                Ok(job) => batch.push(job),
                Err(_) => break,
            }
        }
        write_batch(connection, batch);
    }
}

fn write_batch(connection: &Connection, batch: Vec<Job>) {
    let mut answers = Vec::with_capacity(batch.len());
    let started = connection.execute_batch("BEGIN IMMEDIATE");
    let has_started = started.is_ok();
    for job in batch {
        answers.push(job(connection));
    }
    let ended = match (has_started, connection.is_autocommit()) {
        (false, _) => started,
        (true, true) => Err(disk_full()),
        (true, false) => connection.execute_batch("COMMIT"),
    };
    if ended.is_err() && !connection.is_autocommit() {
        let _ = connection.execute_batch("ROLLBACK");
    }
    let lost = || {
        let error = ended.as_ref().err()?;
        Some(HistoryError::of_commit(error))
    };
    for answer in answers {
        answer(lost());
    }
}

fn disk_full() -> rusqlite::Error {
    let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_FULL);
    rusqlite::Error::SqliteFailure(code, None)
}
