//! Exchanges of leases with the database, and the wishes of the operator about nodes and sites.
//!
//! An exchange has a connection of its own and waits for no write of runs: renewals are never late because of them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use rusqlite::params;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::leases::{LeaseAnswer, LeaseRequest, LeaseRow, LeaseSubject, NodeRow, SiteRow};
use super::sql::{Connection, OptionalRow as _, Row};
use super::time_column::milliseconds;
use super::{HistoryError, HistoryReader, HistoryStore, HistoryWriter, schema};
use crate::clock;
use crate::report::RunStatus;

/// Exchanges are serialized: two never wait for rows of each other.
pub(super) const EXCHANGE_LOCK: &str = "SELECT pg_advisory_xact_lock(5391, 3)";
/// An acquisition ends runs, so it is a write of runs, too. Without this lock it waits for the next exchange.
const ACQUISITION: &str = "SAVEPOINT acquisition; SET LOCAL lock_timeout = '1s'";
const NO_ACQUISITION: &str = "ROLLBACK TO SAVEPOINT acquisition";

/// The start of the server with its timeline: both change when another server continues.
pub(super) const SERVER: &str = "SELECT extract(epoch FROM pg_postmaster_start_time())::text || ' '
    || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)";

/// How long an answer of an exchange may take. It waits for others for 10 seconds.
const EXCHANGE_LIMIT: Duration = Duration::from_secs(15);

/// The topic of what other nodes should see before their next renewal.
pub(crate) const LEASE_TOPIC: &str = "lease";

/// Leases of these names that are of the node, and that it knows.
const OWN: &str = "owner = ?2 AND boot = ?3
    AND CAST(beat AS TEXT) IN (SELECT value FROM json_each(CAST(?4 AS TEXT)))
    AND name IN (SELECT value FROM json_each(CAST(?1 AS TEXT)))";

/// How many exchanges there are at a time.
const EXCHANGES: usize = 2;

/// Milliseconds since 1970, by the clock of the server.
const NOW: &str = "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)";

/// The connections of the exchanges of a process: its own, and those of the workers that are connected to it.
pub(super) struct LeaseConnections {
    idle: Mutex<Vec<Connection>>,
    permits: Arc<Semaphore>,
}

impl Default for LeaseConnections {
    fn default() -> Self {
        Self {
            idle: Mutex::default(),
            permits: Arc::new(Semaphore::new(EXCHANGES)),
        }
    }
}

impl HistoryStore {
    /// Waits until an exchange may have a connection.
    pub(crate) async fn exchange_permit(&self) -> OwnedSemaphorePermit {
        let permits = Arc::clone(&self.inner.leases.permits);
        let permit = permits.acquire_owned().await;
        permit.expect("the permits are never closed")
    }

    /// Does what a node asks for, in one transaction.
    ///
    /// # Errors
    /// The store is no server, or cannot be used. What was asked for can have happened.
    pub(crate) fn exchange_leases(
        &self,
        request: &LeaseRequest,
        permit: OwnedSemaphorePermit,
    ) -> Result<LeaseAnswer, HistoryError> {
        let idle = &self.inner.leases.idle;
        let earlier = idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let earlier = earlier.filter(Connection::is_open);
        let connection = earlier.map_or_else(|| self.inner.engine.connect_reader(), Ok)?;
        connection.limit_answers(EXCHANGE_LIMIT);
        let answer = in_transaction(&connection, request);
        if answer.is_ok() {
            let mut idle = idle.lock().unwrap_or_else(PoisonError::into_inner);
            idle.push(connection);
        }
        drop(permit);
        answer
    }
}

fn in_transaction(
    connection: &Connection,
    request: &LeaseRequest,
) -> Result<LeaseAnswer, HistoryError> {
    // A process that is paused within an exchange does not keep the others from renewing.
    connection.execute_batch(&format!("BEGIN; {}", schema::PAUSE_LIMIT))?;
    let may_acquire = !request.acquire.is_empty() && {
        connection.execute_batch(ACQUISITION)?;
        let locked = connection.execute_batch(schema::WRITE_LOCK);
        if locked.is_err() {
            connection.execute_batch(NO_ACQUISITION)?;
        }
        locked.is_ok()
    };
    connection.execute_batch(&format!("SET LOCAL lock_timeout = '10s'; {EXCHANGE_LOCK}"))?;
    let writer = HistoryWriter { connection };
    let is_name_taken = !writer.beat(request)?;
    let mut interrupted = 0;
    if !is_name_taken {
        writer.release(request)?;
        let server: String = connection.query_row(SERVER, [], |row| row.get(0))?;
        // Another server can have forgotten what this node has not seen: nothing else is done.
        if request.server.as_ref() == Some(&server) {
            writer.renew(request)?;
            if writer.is_confirmed(request, &server)? && may_acquire {
                interrupted = writer.acquire(request)?;
            }
        }
        writer.change_sites(request)?;
    }
    let answer = HistoryReader { connection }.fleet_rows()?;
    connection.execute_batch("COMMIT")?;
    Ok(LeaseAnswer {
        is_name_taken,
        interrupted,
        ..answer
    })
}

impl HistoryReader<'_> {
    /// The number of results that came after another node had acquired the shard.
    pub(crate) fn late_runs(&self) -> Result<u64, HistoryError> {
        let count: i64 =
            (self.connection).query_row("SELECT count(*) FROM run WHERE is_late", [], |row| {
                row.get(0)
            })?;
        Ok(count.unsigned_abs())
    }

    /// All leases, nodes and sites. An answer without a request.
    pub(crate) fn fleet_rows(&self) -> Result<LeaseAnswer, HistoryError> {
        let mut select = (self.connection)
            .prepare_cached("SELECT name, owner, boot, epoch, beat FROM lease ORDER BY name")?;
        let leases: Vec<Option<LeaseRow>> = select.query_all([], |row| {
            // A later version can have other subjects.
            let subject: String = row.get("name")?;
            let subject = subject.parse::<LeaseSubject>().ok();
            let (owner, boot) = (row.get("owner")?, row.get("boot")?);
            let (epoch, beat) = (row.get("epoch")?, row.get("beat")?);
            Ok(subject.map(|subject| LeaseRow {
                subject,
                owner,
                boot,
                epoch,
                beat,
            }))
        })?;
        let mut select = (self.connection).prepare_cached(&format!(
            "SELECT record, beat, is_draining, is_evicted, ({NOW} - seen) / 1000 AS age_seconds
             FROM node ORDER BY name"
        ))?;
        let nodes: Vec<Option<NodeRow>> = select.query_all([], node)?;
        let mut select = (self.connection)
            .prepare_cached("SELECT name, shards, next_shards FROM site ORDER BY name")?;
        let sites = select.query_all([], |row| {
            Ok(SiteRow {
                name: row.get("name")?,
                shards: row.get("shards")?,
                next_shards: row.get("next_shards")?,
            })
        })?;
        let server = match self.connection {
            Connection::Sqlite(_) => String::new(),
            Connection::Postgres(_) => self.connection.query_row(SERVER, [], |row| row.get(0))?,
        };
        let mut select = self
            .connection
            .prepare_cached("SELECT server FROM fleet_server")?;
        Ok(LeaseAnswer {
            leases: leases.into_iter().flatten().collect(),
            nodes: nodes.into_iter().flatten().collect(),
            sites,
            server,
            confirmed: select.query_row([], |row| row.get(0)).optional()?,
            ..LeaseAnswer::default()
        })
    }
}

fn node(row: &Row<'_>) -> rusqlite::Result<Option<NodeRow>> {
    let record: String = row.get("record")?;
    let (beat, is_draining) = (row.get("beat")?, row.get("is_draining")?);
    let (is_evicted, age_seconds) = (row.get("is_evicted")?, row.get("age_seconds")?);
    let node = serde_json::from_str(&record).ok();
    Ok(node.map(|node| NodeRow {
        node,
        beat,
        is_draining,
        is_evicted,
        age_seconds,
    }))
}

impl HistoryWriter<'_> {
    /// Writes the record of a node. Returns false if another process has the name.
    fn beat(&self, request: &LeaseRequest) -> Result<bool, HistoryError> {
        let mut upsert = self.connection.prepare_cached(&format!(
            "INSERT INTO node (name, record, beat, seen) VALUES (?1, ?2, ?3, {NOW})
             ON CONFLICT (name) DO UPDATE SET record = ?2, beat = ?3, seen = {NOW},
                 is_draining = node.is_draining AND NOT ?5,
                 is_evicted = node.is_evicted AND NOT ?5
             WHERE CAST(node.beat AS TEXT) IN (SELECT value FROM json_each(CAST(?4 AS TEXT)))"
        ))?;
        let record = json(&request.node)?;
        let (name, beats) = (&request.node.name, texts(&request.beats)?);
        let changed =
            upsert.execute(params![name, record, request.beat, beats, request.is_start])?;
        Ok(changed > 0)
    }

    fn release(&self, request: &LeaseRequest) -> Result<(), HistoryError> {
        if request.release.is_empty() {
            return Ok(());
        }
        self.notify(LEASE_TOPIC, "")?;
        let release = format!("UPDATE lease SET owner = NULL WHERE {OWN}");
        let mut release = self.connection.prepare_cached(&release)?;
        let (node, names) = (&request.node, texts(&request.release)?);
        release.execute(params![names, node.name, node.boot, texts(&request.beats)?])?;
        Ok(())
    }

    fn renew(&self, request: &LeaseRequest) -> Result<(), HistoryError> {
        if request.renew.is_empty() {
            return Ok(());
        }
        let renew = format!("UPDATE lease SET beat = ?5 WHERE {OWN}");
        let mut renew = self.connection.prepare_cached(&renew)?;
        let (node, names) = (&request.node, texts(&request.renew)?);
        let beats = texts(&request.beats)?;
        renew.execute(params![names, node.name, node.boot, beats, request.beat])?;
        Ok(())
    }

    /// Whether leases may be acquired on this server.
    fn is_confirmed(&self, request: &LeaseRequest, server: &str) -> Result<bool, HistoryError> {
        if request.confirms_server {
            self.connection.execute("DELETE FROM fleet_server", [])?;
            let insert = "INSERT INTO fleet_server (server) VALUES (?1)";
            self.connection.execute(insert, params![server])?;
        }
        let confirmed = "SELECT server FROM fleet_server";
        let confirmed = self.connection.query_row(confirmed, [], |row| row.get(0));
        let confirmed: Option<String> = confirmed.optional()?;
        Ok(confirmed.as_deref() == Some(server))
    }

    /// Acquires leases that are as they were seen, and ends the runs of their former owners. Returns their number.
    fn acquire(&self, request: &LeaseRequest) -> Result<usize, HistoryError> {
        let mut acquire = self.connection.prepare_cached(
            "INSERT INTO lease (name, owner, holder, boot, epoch, since, beat)
             SELECT CAST(?1 AS TEXT), CAST(?2 AS TEXT), CAST(?2 AS TEXT), CAST(?3 AS TEXT),
                 next.epoch, next.epoch, CAST(?4 AS BIGINT)
             FROM (SELECT nextval('lease_epoch') AS epoch) AS next
             WHERE CAST(?5 AS BIGINT) = 0 OR EXISTS (SELECT 1 FROM lease WHERE name = ?1)
             ON CONFLICT (name) DO UPDATE
                 SET owner = ?2, holder = ?2, boot = ?3, epoch = excluded.epoch, beat = ?4,
                     since = CASE WHEN lease.holder = ?2 AND lease.boot = ?3 THEN lease.since
                         ELSE excluded.epoch END
             WHERE lease.epoch = ?5 AND lease.beat = ?6",
        )?;
        let mut interrupt = self.connection.prepare_cached(
            "UPDATE run SET status = ?3, ended = ?2,
                 error = 'the node ' || coalesce(node, '') ||
                     ' ended during the run; the state of the device is unknown'
             WHERE shard = ?1 AND status = ?4 AND ended IS NULL
                 AND epoch < (SELECT epoch FROM lease WHERE name = ?5)",
        )?;
        let (now, node) = (milliseconds(clock::timestamp()), &request.node);
        let mut interrupted = 0;
        for claim in &request.acquire {
            let name = claim.subject.to_string();
            let changed = acquire.execute(params![
                name,
                node.name,
                node.boot,
                request.beat,
                claim.epoch,
                claim.beat
            ])?;
            // The runs of this process go on.
            if changed > 0
                && !claim.is_continued
                && let LeaseSubject::Shard(shard) = &claim.subject
            {
                let (to, from) = (RunStatus::Interrupted, RunStatus::Running);
                let shard = shard.to_string();
                interrupted += interrupt.execute(params![shard, now, to, from, name])?;
            }
        }
        Ok(interrupted)
    }

    /// Adds sites, and gives those without owners the number of shards that the operator wants.
    fn change_sites(&self, request: &LeaseRequest) -> Result<(), HistoryError> {
        self.add_sites(&request.sites)?;
        self.connection.execute(
            "UPDATE site SET shards = next_shards, next_shards = NULL
             WHERE next_shards IS NOT NULL AND NOT EXISTS (
                 SELECT 1 FROM lease WHERE owner IS NOT NULL
                     AND instr(lease.name, 'shard:' || site.name || '/') = 1)",
            [],
        )?;
        Ok(())
    }

    fn add_sites(&self, sites: &BTreeMap<String, u32>) -> Result<(), HistoryError> {
        let mut insert = self.connection.prepare_cached(
            "INSERT INTO site (name, shards) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
        )?;
        for (site, shards) in sites {
            insert.execute(params![site, shards])?;
        }
        Ok(())
    }

    /// Wants a node to end its runs and to release its shards. Returns false if it is unknown.
    pub(crate) fn drain_node(&self, node: &str) -> Result<bool, HistoryError> {
        self.notify(LEASE_TOPIC, "")?;
        let update = "UPDATE node SET is_draining = TRUE WHERE name = ?1";
        Ok(self.connection.execute(update, params![node])? > 0)
    }

    /// Frees the leases of a node whose host is off, and ends its runs. With `forgets`, its sites are no longer its
    /// own. Returns the number of leases. `None`: the node is unknown.
    pub(crate) fn evict_node(
        &self,
        node: &str,
        forgets: bool,
        now: Timestamp,
    ) -> Result<Option<usize>, HistoryError> {
        self.connection.execute_batch(EXCHANGE_LOCK)?;
        self.notify(LEASE_TOPIC, "")?;
        let update = "UPDATE node SET is_evicted = TRUE WHERE name = ?1";
        if self.connection.execute(update, params![node])? == 0 {
            return Ok(None);
        }
        let free = "UPDATE lease SET owner = NULL WHERE owner = ?1";
        let freed = self.connection.execute(free, params![node])?;
        self.connection.execute(
            "UPDATE run SET status = ?2, ended = ?3,
                 error = 'its node was evicted; the state of the device is unknown'
             WHERE node = ?1 AND status = ?4 AND ended IS NULL",
            params![
                node,
                RunStatus::Interrupted,
                milliseconds(now),
                RunStatus::Running
            ],
        )?;
        if forgets {
            self.connection
                .execute("DELETE FROM node WHERE name = ?1", params![node])?;
        }
        Ok(Some(freed))
    }

    /// Wants another number of shards of a site. Returns false if it is unknown.
    pub(crate) fn reshard_site(&self, site: &str, shards: u32) -> Result<bool, HistoryError> {
        self.notify(LEASE_TOPIC, "")?;
        let update = "UPDATE site SET next_shards = ?2 WHERE name = ?1";
        Ok(self.connection.execute(update, params![site, shards])? > 0)
    }
}

/// Texts as JSON for `json_each`.
fn texts<T: ToString>(values: &[T]) -> Result<String, HistoryError> {
    let texts: Vec<String> = values.iter().map(ToString::to_string).collect();
    json(&texts)
}

fn json(value: &impl serde::Serialize) -> Result<String, HistoryError> {
    serde_json::to_string(value).map_err(|error| HistoryError::Invalid(error.to_string()))
}
