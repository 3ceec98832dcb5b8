//! Values of statements in the type that PostgreSQL expects at their place.

use std::error::Error;

use rusqlite::types::{ToSql, ToSqlOutput, Value, ValueRef};
use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{IsNull, ToSql as ToPostgres, Type, to_sql_checked};

use crate::history::HistoryError;

/// A value, as SQLite has it.
#[derive(Debug)]
pub(super) struct PostgresValue(Value);

impl PostgresValue {
    pub(super) fn all(values: &[&dyn ToSql]) -> Result<Vec<Self>, HistoryError> {
        let values = values.iter().map(|value| Self::of(*value));
        values.collect()
    }

    fn of(value: &dyn ToSql) -> Result<Self, HistoryError> {
        Ok(Self(match value.to_sql()? {
            ToSqlOutput::Owned(value) => without_nul(value),
            ToSqlOutput::Borrowed(value) => without_nul(owned(value)?),
            _ => return Err(HistoryError::Invalid("a value without a type".to_owned())),
        }))
    }
}

fn owned(value: ValueRef<'_>) -> Result<Value, HistoryError> {
    let found = Value::try_from(value);
    found.map_err(|error| HistoryError::Invalid(error.to_string()))
}

/// Texts of PostgreSQL have no NUL; devices and errors can have one.
fn without_nul(value: Value) -> Value {
    match value {
        Value::Text(text) if text.contains('\0') => Value::Text(text.replace('\0', "\u{fffd}")),
        other => other,
    }
}

impl ToPostgres for PostgresValue {
    fn to_sql(
        &self,
        kind: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match (&self.0, kind) {
            (Value::Null, _) => Ok(IsNull::Yes),
            (Value::Integer(number), &Type::BOOL) => ToPostgres::to_sql(&(*number != 0), kind, out),
            (Value::Integer(number), &Type::INT8) => ToPostgres::to_sql(number, kind, out),
            (Value::Integer(number), &Type::INT4) => {
                ToPostgres::to_sql(&i32::try_from(*number)?, kind, out)
            }
            (Value::Text(text), &Type::TEXT) => ToPostgres::to_sql(text, kind, out),
            (Value::Blob(bytes), &Type::BYTEA) => ToPostgres::to_sql(bytes, kind, out),
            (value, _) => Err(format!("{:?} for {kind}", value.data_type()).into()),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}
