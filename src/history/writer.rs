//! The one thread of a process that writes to a history.

use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};

use tokio::sync::oneshot;

use super::engine::Engine;
use super::sql::Connection;
use super::{HistoryError, HistoryWriter, schema};
use crate::store::blocking_io;

/// Writes that wait for the thread; a sender then waits, too.
const CAPACITY: usize = 1024;
/// Writes that are committed together.
const BATCH: usize = 256;

/// Sends the result of a write after the commit. It gets the error of the commit.
type Answer = Box<dyn FnOnce(Option<HistoryError>)>;
/// A write in a transaction, or the reason why there is none.
type Job = Box<dyn FnOnce(Result<&Connection, HistoryError>) -> Answer + Send>;

pub(super) struct Writer {
    jobs: SyncSender<Job>,
}

/// The connection of the thread. A lost one is opened again for the next write.
struct WriterConnection {
    engine: Engine,
    connection: Connection,
}

impl Writer {
    pub(super) fn start(engine: Engine, max_size: Option<u64>) -> Result<Self, HistoryError> {
        let mut connection = WriterConnection {
            connection: engine.connect_writer(max_size)?,
            engine,
        };
        let (jobs, waiting) = sync_channel(CAPACITY);
        std::thread::Builder::new()
            .name("history".to_owned())
            .spawn(move || connection.write_all(&waiting))
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
        let result = connection.and_then(|connection| in_savepoint(connection, write));
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
    if let Some(lost) = connection.lost_transaction() {
        return result.and(Err(lost));
    }
    let released = result.and_then(|value| {
        connection.execute_batch("RELEASE SAVEPOINT job")?;
        Ok(value)
    });
    if released.is_err() {
        connection.execute_batch("ROLLBACK TO SAVEPOINT job; RELEASE SAVEPOINT job")?;
    }
    released
}

impl WriterConnection {
    /// Writes until all senders are gone.
    fn write_all(&mut self, jobs: &Receiver<Job>) {
        while let Ok(first) = jobs.recv() {
            let mut batch = vec![first];
            while batch.len() < BATCH {
                match jobs.try_recv() {
                    Ok(job) => batch.push(job),
                    Err(_) => break,
                }
            }
            self.write_batch(batch);
        }
    }

    fn write_batch(&mut self, batch: Vec<Job>) {
        let started = self.begin();
        let work = |job: Job| match &started {
            Ok(()) => job(Ok(&self.connection)),
            Err(error) => job(Err(error.of_commit())),
        };
        let answers: Vec<Answer> = batch.into_iter().map(work).collect();
        let ended = started.and_then(|()| self.commit());
        for answer in answers {
            answer(ended.as_ref().err().map(HistoryError::of_commit));
        }
    }

    fn begin(&mut self) -> Result<(), HistoryError> {
        let started = schema::begin_write(&self.connection);
        if started.is_ok() || self.connection.is_open() {
            return started;
        }
        // The server was restarted, or is another one.
        self.connection = self.engine.connect_writer(None)?;
        schema::begin_write(&self.connection)
    }

    fn commit(&self) -> Result<(), HistoryError> {
        let ended = match self.connection.lost_transaction() {
            Some(lost) => Err(lost),
            // A commit of a failed transaction is no error of PostgreSQL, but a statement in it is.
            None => (self.connection)
                .execute_batch(self.connection.choose("COMMIT", "SELECT 1; COMMIT")),
        };
        if ended.is_err() && self.connection.lost_transaction().is_none() {
            let _ = self.connection.execute_batch("ROLLBACK");
        }
        ended
    }
}
