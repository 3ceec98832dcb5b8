//! Reasons why a database of PostgreSQL takes no writes, though it answers.

/// A database without writes.
pub struct WriteFault {
    begin: &'static str,
    end: &'static str,
    /// What the program says then.
    pub reason: &'static str,
}

/// Its administrator permits no writes, or its disk is full.
pub const WRITE_FAULTS: [WriteFault; 2] = [
    WriteFault {
        begin: "ALTER DATABASE {} SET default_transaction_read_only = on",
        end: "ALTER DATABASE {} RESET default_transaction_read_only",
        reason: "the database permits no writes",
    },
    WriteFault {
        begin: "CREATE FUNCTION fail() RETURNS TRIGGER LANGUAGE plpgsql AS
             $$ BEGIN RAISE 'could not extend file' USING ERRCODE = 'disk_full'; END $$;
         CREATE TRIGGER fail BEFORE INSERT OR UPDATE ON switchtender.run EXECUTE FUNCTION fail()",
        end: "DROP TRIGGER fail ON switchtender.run",
        reason: "the store is full",
    },
];

impl WriteFault {
    /// Begins it for new connections: those of before are not affected by each fault.
    #[must_use]
    pub fn begin(&self, database: &str) -> String {
        self.begin.replace("{}", database)
    }

    /// Ends it for new connections.
    #[must_use]
    pub fn end(&self, database: &str) -> String {
        let end = self.end.replace("{}", database);
        format!("SET transaction_read_only = off; {end}")
    }
}
