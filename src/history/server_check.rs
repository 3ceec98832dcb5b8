//! Checks of a PostgreSQL server for `doctor`: what a store needs of it, and what protects its results.

use super::engine::Engine;
use super::roles::HIDDEN_TABLES;
use super::sql::Connection;
use super::{HistoryError, StoreLocation, schema};

/// The oldest version that the statements run on.
const OLDEST_VERSION: i64 = 13;

/// The aspect of the finding about the tables.
const TABLES: &str = "tables";

/// How good a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServerState {
    Good,
    /// It works, and less is protected than could be.
    Weak,
    /// Results can be lost, or no process can work.
    Bad,
}

/// A finding about a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServerFinding {
    /// What was checked.
    pub(crate) aspect: &'static str,
    pub(crate) state: ServerState,
    pub(crate) text: String,
    pub(crate) hint: Option<String>,
}

impl ServerFinding {
    fn new(aspect: &'static str, state: ServerState, text: impl Into<String>) -> Self {
        Self {
            aspect,
            state,
            text: text.into(),
            hint: None,
        }
    }

    fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// Checks the server of a store. A file has none.
///
/// # Errors
/// The server cannot be reached, or refuses a statement.
pub(crate) fn check(location: &StoreLocation) -> Result<Vec<ServerFinding>, HistoryError> {
    if location.file().is_some() {
        return Ok(Vec::new());
    }
    let connection = Engine::at(location)?.connect_reader()?;
    let server = CheckedServer {
        connection: &connection,
    };
    let mut findings = vec![server.version()?, server.encryption()?];
    findings.extend(server.writes()?);
    findings.push(server.tables()?);
    findings.extend(server.rights()?);
    findings.extend(server.readers_of_secrets()?);
    findings.extend(server.durability()?);
    findings.push(server.synchronous_standby()?);
    Ok(findings)
}

/// Whether the database has the tables of this program.
pub(crate) fn has_tables(findings: &[ServerFinding]) -> bool {
    let mut tables = findings.iter().filter(|finding| finding.aspect == TABLES);
    tables.all(|finding| finding.state == ServerState::Good)
}

struct CheckedServer<'c> {
    connection: &'c Connection,
}

impl CheckedServer<'_> {
    fn text(&self, query: &str) -> Result<String, HistoryError> {
        let text: Option<String> = self.connection.query_row(query, [], |row| row.get(0))?;
        Ok(text.unwrap_or_default())
    }

    fn number(&self, query: &str) -> Result<i64, HistoryError> {
        self.connection.query_row(query, [], |row| row.get(0))
    }

    fn is_true(&self, query: &str) -> Result<bool, HistoryError> {
        self.connection.query_row(query, [], |row| row.get(0))
    }

    fn setting(&self, name: &str) -> Result<String, HistoryError> {
        self.text(&format!("SELECT current_setting('{name}')"))
    }

    fn version(&self) -> Result<ServerFinding, HistoryError> {
        let version = self.setting("server_version")?;
        let major =
            self.number("SELECT CAST(current_setting('server_version_num') AS BIGINT) / 10000")?;
        let text = format!("PostgreSQL {version}");
        Ok(if major >= OLDEST_VERSION {
            ServerFinding::new("version", ServerState::Good, text)
        } else {
            ServerFinding::new("version", ServerState::Bad, text)
                .hint(format!("update it to version {OLDEST_VERSION} or later"))
        })
    }

    fn encryption(&self) -> Result<ServerFinding, HistoryError> {
        let query = "SELECT CASE WHEN ssl THEN version || ', ' || cipher END FROM pg_stat_ssl
             WHERE pid = pg_backend_pid()";
        let encryption = self.text(query)?;
        Ok(if encryption.is_empty() {
            // The address permits it only on this host.
            let text = "no encryption: the connection does not leave this host";
            ServerFinding::new("TLS", ServerState::Good, text)
        } else {
            let text = format!("{encryption}; the certificate of the server is verified");
            ServerFinding::new("TLS", ServerState::Good, text)
        })
    }

    /// A standby permits no writes, and an administrator can forbid them.
    fn writes(&self) -> Result<Option<ServerFinding>, HistoryError> {
        let (text, hint) = if self.is_true("SELECT pg_is_in_recovery()")? {
            (
                "the server is a standby and permits no writes",
                "name the primary server in `store`, or all servers with `target_session_attrs=read-write`",
            )
        } else if self.setting("default_transaction_read_only")? == "on" {
            (
                "default_transaction_read_only is on: the database permits no writes",
                "reset it for the server, the database or the role",
            )
        } else {
            return Ok(None);
        };
        let finding = ServerFinding::new("server", ServerState::Bad, text);
        Ok(Some(finding.hint(hint)))
    }

    fn has_tables(&self) -> Result<bool, HistoryError> {
        self.is_true("SELECT to_regclass('switchtender.schema_version') IS NOT NULL")
    }

    fn tables(&self) -> Result<ServerFinding, HistoryError> {
        if !self.has_tables()? {
            let text = "the database has no tables yet";
            return Ok(ServerFinding::new(TABLES, ServerState::Weak, text).hint(
                "run `switchtender store vacuum` as the owner, or start `switchtender serve` as the owner",
            ));
        }
        let version = "SELECT 'version ' || version FROM schema_version";
        Ok(match (schema::check(self.connection), self.text(version)) {
            (Ok(()), Ok(version)) => ServerFinding::new(TABLES, ServerState::Good, version),
            (Err(error), _) | (_, Err(error)) => {
                let text = crate::error_chain::chain(&error);
                ServerFinding::new(TABLES, ServerState::Bad, text)
            }
        })
    }

    /// What the user of the connection may do.
    fn rights(&self) -> Result<Vec<ServerFinding>, HistoryError> {
        let user = self.text("SELECT CAST(current_user AS TEXT)")?;
        let mut findings = Vec::new();
        let superuser = "SELECT rolsuper FROM pg_roles WHERE rolname = current_user";
        if self.is_true(superuser)? {
            let text = format!("{user} is a superuser");
            findings.push(
                ServerFinding::new("role", ServerState::Weak, text)
                    .hint("use a role of `switchtender store setup`"),
            );
            return Ok(findings);
        }
        let missing = "SELECT string_agg(CAST(relname AS TEXT), ', ' ORDER BY relname) FROM pg_class
             WHERE relnamespace = to_regnamespace('switchtender') AND relkind = 'r'
                 AND relname <> 'schema_version'
                 AND NOT (has_table_privilege(oid, 'SELECT') AND has_table_privilege(oid, 'INSERT')
                     AND has_table_privilege(oid, 'UPDATE') AND has_table_privilege(oid, 'DELETE'))";
        let missing = self.text(missing)?;
        let owner = "SELECT coalesce((SELECT pg_has_role(current_user, nspowner, 'USAGE')
             FROM pg_namespace WHERE nspname = 'switchtender'), FALSE)";
        findings.push(if !missing.is_empty() {
            let text = format!("{user} may not read and write the tables {missing}");
            ServerFinding::new("role", ServerState::Bad, text).hint(
                "connect as `switchtender_process`, or run the SQL of `switchtender store setup` again",
            )
        } else if self.is_true(owner)? {
            let text = format!("{user} owns the tables");
            ServerFinding::new("role", ServerState::Good, text)
                .hint("`switchtender store setup` has roles with fewer rights for processes and readers")
        } else {
            let text = format!("{user} reads and writes rows");
            ServerFinding::new("role", ServerState::Good, text)
        });
        let database = "SELECT has_database_privilege(current_database(), 'TEMPORARY')";
        if !self.is_true(database)? {
            let text = format!("{user} may not create temporary tables");
            findings.push(
                ServerFinding::new("role", ServerState::Bad, text)
                    .hint("GRANT TEMPORARY ON DATABASE … TO …: pages for some devices need it"),
            );
        }
        Ok(findings)
    }

    /// Roles that read the state of devices or logins without a need.
    fn readers_of_secrets(&self) -> Result<Option<ServerFinding>, HistoryError> {
        if !self.has_tables()? {
            return Ok(None);
        }
        let hidden = HIDDEN_TABLES.map(|table| format!("'{table}'")).join(", ");
        let query = format!(
            "SELECT string_agg(DISTINCT coalesce(CAST(rolname AS TEXT), 'PUBLIC'), ', ')
             FROM pg_class CROSS JOIN LATERAL aclexplode(relacl) AS granted
                 LEFT JOIN pg_roles ON pg_roles.oid = granted.grantee
             WHERE relnamespace = to_regnamespace('switchtender') AND relname IN ({hidden})
                 AND granted.privilege_type = 'SELECT' AND NOT EXISTS (
                     SELECT 1 FROM aclexplode(relacl) AS other
                     WHERE other.grantee = granted.grantee AND other.privilege_type = 'INSERT')"
        );
        let readers = self.text(&query)?;
        Ok((!readers.is_empty()).then(|| {
            let text = format!("{readers} may read tables with logins and the state of devices");
            ServerFinding::new("readers", ServerState::Weak, text)
                .hint("run the SQL of `switchtender store setup` again, or revoke it")
        }))
    }

    /// Whether a commit is on the disk.
    fn durability(&self) -> Result<Vec<ServerFinding>, HistoryError> {
        let mut findings = Vec::new();
        for (name, consequence) in [
            ("fsync", "a crash of the host can destroy the database"),
            (
                "full_page_writes",
                "a crash of the host can destroy pages of the database",
            ),
            (
                "synchronous_commit",
                "a crash of the server can lose results that were acknowledged",
            ),
        ] {
            let value = self.setting(name)?;
            findings.push(if value == "off" {
                let text = format!("{name} is off: {consequence}");
                ServerFinding::new("durability", ServerState::Bad, text)
                    .hint(format!("set `{name} = on` on the server"))
            } else {
                let text = format!("{name} is {value}");
                ServerFinding::new("durability", ServerState::Good, text)
            });
        }
        Ok(findings)
    }

    /// Whether a second server has each commit.
    fn synchronous_standby(&self) -> Result<ServerFinding, HistoryError> {
        let aspect = "synchronous standby";
        let names = self.setting("synchronous_standby_names")?;
        if names.is_empty() {
            let text = "there is none: a failover can lose results and rights of processes";
            return Ok(ServerFinding::new(aspect, ServerState::Weak, text)
                .hint("set `synchronous_standby_names` on the server; a single server loses nothing when it restarts"));
        }
        if self.setting("synchronous_commit")? == "local" {
            let text = "synchronous_commit is local: a commit does not wait for it";
            return Ok(ServerFinding::new(aspect, ServerState::Weak, text)
                .hint("set `synchronous_commit = on` on the server"));
        }
        let count = |condition: &str| {
            self.number(&format!(
                "SELECT count(*) FROM pg_stat_replication WHERE {condition}"
            ))
        };
        let connected = count("sync_state IN ('sync', 'quorum')")?;
        let unknown = count("sync_state IS NULL")?;
        Ok(if connected > 0 {
            let text = format!("`{names}`: {connected} connected");
            ServerFinding::new(aspect, ServerState::Good, text)
        } else if unknown > 0 {
            let text = format!("`{names}`: the role cannot read whether one is connected");
            ServerFinding::new(aspect, ServerState::Weak, text)
                .hint("GRANT pg_read_all_stats TO the role")
        } else {
            let text = format!("`{names}`: none is connected, so writes wait");
            ServerFinding::new(aspect, ServerState::Bad, text)
                .hint("start the standby, or correct `synchronous_standby_names`")
        })
    }
}
