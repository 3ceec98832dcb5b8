//! What all processes with one store must agree about senders: sessions of browsers, secrets that are valid once, and
//! the key of CSRF tokens. Sessions and secrets are here by their digests only.

use jiff::Timestamp;
use rusqlite::params;

use super::sql::OptionalRow as _;
use super::time_column::{milliseconds, time};
use super::{HistoryError, HistoryReader, HistoryWriter};

/// A session of a browser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BrowserSession {
    /// The user, as JSON.
    pub(crate) account: String,
    pub(crate) created: Timestamp,
    pub(crate) used: Timestamp,
}

/// The bounds of sessions: older ones end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SessionBounds {
    pub(crate) oldest_created: Timestamp,
    pub(crate) oldest_used: Timestamp,
    /// Those that were idle for the longest time end first.
    pub(crate) count: u32,
}

/// A secret that is valid once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OnceSecret {
    /// What it is for.
    pub(crate) purpose: &'static str,
    pub(crate) digest: String,
    /// What belongs to it, for who presents it.
    pub(crate) body: String,
    pub(crate) expires: Timestamp,
}

impl HistoryReader<'_> {
    /// A session, which can have ended.
    pub(crate) fn browser_session(
        &self,
        digest: &str,
    ) -> Result<Option<BrowserSession>, HistoryError> {
        let mut select = self.connection.prepare_cached(
            "SELECT account, created, used FROM browser_session WHERE digest = ?1",
        )?;
        let found = select.query_row([digest], |row| {
            Ok(BrowserSession {
                account: row.get("account")?,
                created: time(row, "created")?,
                used: time(row, "used")?,
            })
        });
        found.optional()
    }
}

impl HistoryWriter<'_> {
    /// Adds a session, and removes those that have ended.
    pub(crate) fn add_browser_session(
        &self,
        digest: &str,
        session: &BrowserSession,
        bounds: SessionBounds,
    ) -> Result<(), HistoryError> {
        let mut remove = self.connection.prepare_cached(
            "DELETE FROM browser_session WHERE created < ?1 OR used < ?2 OR digest IN
                 (SELECT digest FROM browser_session ORDER BY used DESC, digest LIMIT 1000000 OFFSET ?3)",
        )?;
        remove.execute(params![
            milliseconds(bounds.oldest_created),
            milliseconds(bounds.oldest_used),
            i64::from(bounds.count.saturating_sub(1)),
        ])?;
        let mut insert = self.connection.prepare_cached(
            "INSERT INTO browser_session (digest, account, created, used) VALUES (?1, ?2, ?3, ?4)",
        )?;
        insert.execute(params![
            digest,
            session.account,
            milliseconds(session.created),
            milliseconds(session.used),
        ])?;
        Ok(())
    }

    /// A session is used.
    pub(crate) fn use_browser_session(
        &self,
        digest: &str,
        now: Timestamp,
    ) -> Result<(), HistoryError> {
        let mut update = (self.connection)
            .prepare_cached("UPDATE browser_session SET used = ?2 WHERE digest = ?1")?;
        update.execute(params![digest, milliseconds(now)])?;
        Ok(())
    }

    /// Ends a session.
    pub(crate) fn remove_browser_session(&self, digest: &str) -> Result<(), HistoryError> {
        let mut remove =
            (self.connection).prepare_cached("DELETE FROM browser_session WHERE digest = ?1")?;
        remove.execute([digest])?;
        Ok(())
    }

    /// Adds a secret. Of its purpose, the newest `count` stay.
    pub(crate) fn add_once_secret(
        &self,
        secret: &OnceSecret,
        count: u32,
        now: Timestamp,
    ) -> Result<(), HistoryError> {
        let mut remove = self.connection.prepare_cached(
            "DELETE FROM once_secret WHERE expires < ?1 OR digest IN
                 (SELECT digest FROM once_secret WHERE purpose = ?2
                  ORDER BY expires DESC, digest LIMIT 1000000 OFFSET ?3)",
        )?;
        remove.execute(params![
            milliseconds(now),
            secret.purpose,
            i64::from(count.saturating_sub(1)),
        ])?;
        let mut insert = self.connection.prepare_cached(
            "INSERT INTO once_secret (digest, purpose, body, expires) VALUES (?1, ?2, ?3, ?4)",
        )?;
        insert.execute(params![
            secret.digest,
            secret.purpose,
            secret.body,
            milliseconds(secret.expires),
        ])?;
        Ok(())
    }

    /// Takes what belongs to a valid secret: of two processes, one gets it.
    pub(crate) fn take_once_secret(
        &self,
        purpose: &str,
        digest: &str,
        now: Timestamp,
    ) -> Result<Option<String>, HistoryError> {
        let mut select = self.connection.prepare_cached(
            "SELECT body FROM once_secret WHERE digest = ?1 AND purpose = ?2 AND expires >= ?3",
        )?;
        let found: Option<String> = select
            .query_row(params![digest, purpose, milliseconds(now)], |row| {
                row.get(0)
            })
            .optional()?;
        if found.is_some() {
            let mut remove =
                (self.connection).prepare_cached("DELETE FROM once_secret WHERE digest = ?1")?;
            remove.execute([digest])?;
        }
        Ok(found)
    }

    /// The key of a name: this one, unless the store has one already.
    pub(crate) fn access_key(&self, name: &str, new: &[u8]) -> Result<Vec<u8>, HistoryError> {
        let mut insert = self.connection.prepare_cached(
            "INSERT INTO access_key (name, body) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
        )?;
        insert.execute(params![name, new])?;
        let mut select =
            (self.connection).prepare_cached("SELECT body FROM access_key WHERE name = ?1")?;
        select.query_row([name], |row| row.get(0))
    }
}
