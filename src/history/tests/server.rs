//! The engines that the tests of the history run on.

use test_support::postgresql::PostgreSql;

use crate::history::StoreLocation;

/// An engine of tests.
#[derive(Clone, Copy, Debug)]
pub(super) enum TestEngine {
    Sqlite,
    Postgres(DatabaseServer),
}

/// A server for tests.
#[derive(Clone, Copy, Debug)]
pub(super) struct DatabaseServer(&'static PostgreSql);

impl DatabaseServer {
    /// `None`: there is none on this machine, and the test is skipped.
    pub(super) fn shared() -> Option<Self> {
        PostgreSql::shared().map(Self)
    }

    pub(super) fn new_database(self) -> StoreLocation {
        new_database(self.0).1
    }
}

/// A new database, for statements of the test itself, and its place.
pub(super) fn new_database(server: &PostgreSql) -> (String, StoreLocation) {
    let database = server.new_database();
    let location = location(&server.address(&database));
    (database, location)
}

/// The place of a store.
pub(super) fn location(address: &str) -> StoreLocation {
    StoreLocation::parse(address.as_ref(), "".as_ref()).unwrap()
}

/// Runs each test on each engine.
macro_rules! on_each_engine {
    ($($name:ident,)+) => {
        mod on_sqlite {
            use super::*;

            $(#[test]
            fn $name() {
                super::$name(TestEngine::Sqlite);
            })+
        }

        mod on_postgresql {
            use super::*;

            $(#[test]
            fn $name() {
                if let Some(server) = server::DatabaseServer::shared() {
                    super::$name(TestEngine::Postgres(server));
                }
            })+
        }
    };
}

pub(super) use on_each_engine;
