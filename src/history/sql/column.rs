//! Columns of PostgreSQL as the values that SQLite has.

use std::error::Error;

use rusqlite::types::{FromSql, FromSqlError, ValueRef};
use tokio_postgres::Row;
use tokio_postgres::types::{FromSql as FromPostgres, Type};

/// A column by its number or name.
pub(in crate::history) trait ColumnIndex:
    rusqlite::RowIndex + tokio_postgres::row::RowIndex + std::fmt::Display + Copy
{
}

impl ColumnIndex for usize {}
impl ColumnIndex for &str {}

/// A value as SQLite has it: booleans are numbers.
struct PostgresColumn<'r>(ValueRef<'r>);

impl<'r> FromPostgres<'r> for PostgresColumn<'r> {
    fn from_sql(kind: &Type, raw: &'r [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(match *kind {
            Type::BOOL => ValueRef::Integer(bool::from_sql(kind, raw)?.into()),
            Type::INT2 => ValueRef::Integer(i16::from_sql(kind, raw)?.into()),
            Type::INT4 => ValueRef::Integer(i32::from_sql(kind, raw)?.into()),
            Type::INT8 => ValueRef::Integer(i64::from_sql(kind, raw)?),
            Type::BYTEA => ValueRef::Blob(raw),
            Type::TEXT | Type::VARCHAR | Type::NAME => ValueRef::Text(raw),
            _ => return Err(format!("the store has no columns of the type {kind}").into()),
        }))
    }

    fn from_sql_null(_: &Type) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(ValueRef::Null))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

/// The value of a column, with the errors that SQLite has for it.
pub(super) fn get<I: ColumnIndex, T: FromSql>(row: &Row, index: I) -> rusqlite::Result<T> {
    let name = index.to_string();
    let column: PostgresColumn<'_> = row
        .try_get(index)
        .map_err(|_| rusqlite::Error::InvalidColumnName(name.clone()))?;
    let kind = column.0.data_type();
    T::column_result(column.0).map_err(|error| match error {
        FromSqlError::OutOfRange(value) => rusqlite::Error::IntegralValueOutOfRange(0, value),
        FromSqlError::InvalidType => rusqlite::Error::InvalidColumnType(0, name, kind),
        other => rusqlite::Error::FromSqlConversionFailure(0, kind, Box::new(other)),
    })
}
