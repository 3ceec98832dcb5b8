//! The roles of a store in PostgreSQL: owner, process and reader.

/// The statements that create them, and give them what they may do.
const ROLES: &str = include_str!("roles_postgres.sql");
pub(super) const GRANTS: &str = include_str!("grants_postgres.sql");

/// Tables that the reader does not see: logins, the sealed state of devices, and the files of releases.
pub(super) const HIDDEN_TABLES: [&str; 7] = [
    "access_key",
    "blob",
    "browser_session",
    "device_state",
    "live_event",
    "once_secret",
    "state_key",
];

/// The SQL for a superuser.
pub(crate) fn setup_sql() -> String {
    format!("{ROLES}{GRANTS}\nCOMMIT;\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rights_name_all_hidden_tables() {
        for table in HIDDEN_TABLES {
            assert!(GRANTS.contains(&format!("'{table}'")), "{table}");
        }
    }
}
