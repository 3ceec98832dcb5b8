//! The PostgreSQL of a fleet, and what it needs.

use std::time::Duration;

use test_support::postgresql::PostgreSql;

use super::process;

pub(crate) struct Database {
    server: PostgreSql,
    name: String,
    /// The server. Its connections are its children.
    process: u32,
}

impl Database {
    /// `None`: there is no PostgreSQL.
    pub(crate) fn start() -> Option<Self> {
        let server = PostgreSql::start(None)?;
        // The tests write nothing durably.
        server.execute("postgres", "ALTER SYSTEM SET fsync = on");
        server.execute("postgres", "SELECT pg_reload_conf()");
        let file = server.execute("postgres", "SELECT pg_read_file('postmaster.pid')");
        let process = file.lines().next().and_then(|line| line.parse().ok());
        let name = server.new_database();
        let search = format!("ALTER DATABASE {name} SET search_path = switchtender");
        server.execute("postgres", &search);
        Some(Self {
            server,
            name,
            process: process.expect("the file begins with the process"),
        })
    }

    pub(crate) fn address(&self) -> String {
        self.server.address(&self.name)
    }

    pub(crate) fn execute(&self, statement: &str) -> String {
        self.server.execute(&self.name, statement)
    }

    /// The number that a statement returns; 0 for NULL.
    pub(crate) fn number(&self, statement: &str) -> f64 {
        self.execute(statement).parse().unwrap_or_default()
    }

    /// Processors' time until now.
    pub(crate) fn cpu(&self) -> Duration {
        process::cpu_with_children(self.process)
    }

    /// The bytes of all tables and indexes, when dead rows can be overwritten.
    pub(crate) fn bytes(&self) -> f64 {
        self.execute("VACUUM");
        self.number("SELECT pg_database_size(current_database())")
    }

    /// The bytes of the write-ahead log until now.
    pub(crate) fn log_bytes(&self) -> f64 {
        self.number("SELECT pg_current_wal_lsn() - '0/0'")
    }
}
