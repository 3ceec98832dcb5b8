//! Keys of requests: a repeated request has the result of the first one.

use jiff::{SignedDuration, Timestamp};
use rusqlite::params;

use super::sql::OptionalRow as _;
use super::time_column::milliseconds;
use super::{HistoryError, HistoryReader, HistoryWriter, RunId};

/// Keys are valid for this time.
pub(super) const VALID: SignedDuration = SignedDuration::from_hours(24);

/// A request with a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeyedRequest {
    /// The user or token. Keys of others are independent.
    pub(crate) sender: String,
    pub(crate) key: String,
    /// What is requested.
    pub(crate) request: String,
}

/// What an earlier request with the key requested, and its run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EarlierRequest {
    pub(crate) request: String,
    pub(crate) run: RunId,
}

impl HistoryReader<'_> {
    /// The request that had this key before.
    pub(crate) fn earlier_request(
        &self,
        sender: &str,
        key: &str,
        now: Timestamp,
    ) -> Result<Option<EarlierRequest>, HistoryError> {
        let mut select = self.connection.prepare_cached(
            "SELECT request, run FROM idempotency_key
             WHERE sender = ?1 AND key = ?2 AND time > ?3",
        )?;
        let oldest = milliseconds(now - VALID);
        let found = select.query_row(params![sender, key, oldest], |row| {
            Ok(EarlierRequest {
                request: row.get("request")?,
                run: RunId(row.get("run")?),
            })
        });
        found.optional()
    }
}

impl HistoryWriter<'_> {
    /// As that of the reader. Nobody adds the key before the end of the transaction.
    pub(crate) fn earlier_request(
        &self,
        keyed: &KeyedRequest,
        now: Timestamp,
    ) -> Result<Option<EarlierRequest>, HistoryError> {
        let reader = HistoryReader {
            connection: self.connection,
        };
        reader.earlier_request(&keyed.sender, &keyed.key, now)
    }

    /// Stores a key with its run, and removes keys that are no longer valid.
    pub(crate) fn add_key(
        &self,
        keyed: &KeyedRequest,
        run: RunId,
        now: Timestamp,
    ) -> Result<(), HistoryError> {
        let oldest = milliseconds(now - VALID);
        let mut delete =
            (self.connection).prepare_cached("DELETE FROM idempotency_key WHERE time <= ?1")?;
        delete.execute([oldest])?;
        let mut insert = self.connection.prepare_cached(
            "INSERT INTO idempotency_key (sender, key, request, run, time)
             VALUES (?1, ?2, ?3, ?4, ?5)",
        )?;
        insert.execute(params![
            keyed.sender,
            keyed.key,
            keyed.request,
            run.0,
            milliseconds(now)
        ])?;
        Ok(())
    }
}
