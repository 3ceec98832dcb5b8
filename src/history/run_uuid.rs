//! The key of a run in all stores: a UUID that begins with its time.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use serde::{Deserialize, Serialize};
use uuid::{Builder, Uuid};

/// The key of a run: a UUID of version 7. The process that adds a run makes it, so an insertion whose end is unknown
/// can be repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct RunUuid(Uuid);

impl RunUuid {
    pub(crate) fn new(time: Timestamp) -> Self {
        let milliseconds = u64::try_from(time.as_millisecond()).unwrap_or_default();
        let random: [u8; 10] = rand::random();
        Self(Builder::from_unix_timestamp_millis(milliseconds, &random).into_uuid())
    }

    /// The time at its beginning.
    pub(super) fn milliseconds(self) -> i64 {
        let bytes = self.0.as_bytes();
        let time = bytes[..6].iter();
        time.fold(0, |time, byte| time << 8 | i64::from(*byte))
    }

    /// The half without its time.
    pub(super) fn random_half(self) -> [u8; 8] {
        let (_, half) = self.0.as_u64_pair();
        half.to_be_bytes()
    }
}

impl TryFrom<String> for RunUuid {
    type Error = uuid::Error;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Uuid::try_parse(&text).map(Self)
    }
}

impl From<RunUuid> for String {
    fn from(uuid: RunUuid) -> Self {
        uuid.to_string()
    }
}

impl fmt::Display for RunUuid {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl FromStr for RunUuid {
    type Err = uuid::Error;

    fn from_str(text: &str) -> Result<Self, uuid::Error> {
        Uuid::try_parse(text).map(Self)
    }
}

impl ToSql for RunUuid {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.0.as_bytes().as_slice().into())
    }
}

impl FromSql for RunUuid {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let found = Uuid::from_slice(value.as_blob()?);
        found.map(Self).map_err(FromSqlError::other)
    }
}
