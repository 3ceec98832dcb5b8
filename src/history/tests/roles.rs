//! The roles of `store setup`, and what `doctor` says about a server.

use test_support::postgresql::PostgreSql;

use super::*;
use crate::history::roles::{HIDDEN_TABLES, setup_sql};
use crate::history::server_check::{self, ServerFinding, ServerState};

/// A server with the roles in a new database. Other tests share the server, and roles are those of all databases.
fn with_roles() -> Option<(&'static PostgreSql, String)> {
    let server = PostgreSql::shared()?;
    let database = server.new_database();
    set_up(server, &database);
    Some((server, database))
}

fn set_up(server: &PostgreSql, database: &str) {
    // A statement is no script: the first line is for psql itself.
    let sql = setup_sql().replace("\\set ON_ERROR_STOP on\n", "");
    server.execute(database, &sql);
}

fn location_of(server: &PostgreSql, role: &str, database: &str) -> StoreLocation {
    let address = server.address(database);
    server::location(&address.replace("owner@", &format!("{role}@")))
}

fn finding<'f>(findings: &'f [ServerFinding], aspect: &str) -> &'f ServerFinding {
    let mut found = findings.iter().filter(|finding| finding.aspect == aspect);
    found
        .next()
        .unwrap_or_else(|| panic!("{aspect}: {findings:?}"))
}

#[test]
fn roles_may_do_what_they_need_and_no_more() {
    let Some((server, database)) = with_roles() else {
        return;
    };
    let location = |role: &str| location_of(server, role, &database);
    let process = location("switchtender_process");
    assert!(
        HistoryStore::open(process.clone().into()).is_err(),
        "it creates no tables"
    );
    let tables = server_check::check(&process).unwrap();
    assert!(!server_check::has_tables(&tables));
    let owner = HistoryStore::open(location("switchtender_owner").into()).unwrap();
    let sandbox = Sandbox {
        history: HistoryStore::open(process.clone().into()).unwrap(),
        directory: tempfile::tempdir().unwrap(),
    };
    let resources = [("Vlan[1]", "changed")];
    let (run, _) = sandbox.add("sw1", completed(RunKind::Apply, 0, &resources));
    let seen = sandbox
        .history
        .read_visible(&|_| true, |reader| reader.run(run));
    assert!(seen.unwrap().is_some(), "pages for some devices");
    let reader = HistoryStore::open(location("switchtender_reader").into()).unwrap();
    assert!(reader.read(|reader| reader.run(run)).unwrap().is_some());
    let written =
        reader.write_and_wait(|writer| writer.add_run(&new_run("sw1", RunKind::Plan, time(1))));
    assert!(
        matches!(written, Err(HistoryError::Refused(_))),
        "{written:?}"
    );
    for table in HIDDEN_TABLES {
        let query = format!("SELECT count(*) FROM switchtender.{table}");
        let exists = format!("SELECT to_regclass('switchtender.{table}') IS NOT NULL");
        if server.execute(&database, &exists) == "f" {
            continue;
        }
        let read = |history: &HistoryStore| {
            history.read(|reader| {
                let rows: i64 = reader.connection.query_row(&query, [], |row| row.get(0))?;
                Ok(rows)
            })
        };
        assert!(
            matches!(read(&reader), Err(HistoryError::Refused(_))),
            "{table}"
        );
        assert!(read(&owner).is_ok(), "{table}");
    }
    let refused = sandbox.history.vacuum();
    assert!(
        matches!(refused, Err(HistoryError::NotOwner)),
        "{refused:?}"
    );
    owner.vacuum().unwrap();
    let findings = server_check::check(&location("switchtender_reader")).unwrap();
    assert_eq!(finding(&findings, "role").state, ServerState::Bad);
    let findings = server_check::check(&process).unwrap();
    assert_eq!(
        finding(&findings, "role").text,
        "switchtender_process reads and writes rows"
    );
    assert!(server_check::has_tables(&findings));
    // A store that another role has created gets the roles later.
    let other = server.new_database();
    let earlier = HistoryStore::open(location_of(server, "owner", &other).into()).unwrap();
    drop(earlier);
    set_up(server, &other);
    set_up(server, &other);
    let history = HistoryStore::open(location_of(server, "switchtender_process", &other).into());
    let sandbox = Sandbox {
        history: history.unwrap(),
        directory: tempfile::tempdir().unwrap(),
    };
    sandbox.add("sw1", completed(RunKind::Apply, 0, &resources));
}

#[test]
fn server_is_checked_with_hints() {
    let Some(server) = PostgreSql::shared() else {
        return;
    };
    let location = server::DatabaseServer::shared().unwrap().new_database();
    let findings = server_check::check(&location).unwrap();
    assert_eq!(finding(&findings, "tables").state, ServerState::Weak);
    assert_eq!(finding(&findings, "version").state, ServerState::Good);
    // The server of tests writes nothing durably, its user is a superuser, and it is alone.
    for (aspect, state, text) in [
        ("TLS", ServerState::Good, "does not leave this host"),
        ("role", ServerState::Weak, "owner is a superuser"),
        ("durability", ServerState::Bad, "fsync is off"),
        ("synchronous standby", ServerState::Weak, "there is none"),
    ] {
        let found = finding(&findings, aspect);
        assert!(found.text.contains(text), "{found:?}");
        assert_eq!(found.state, state, "{found:?}");
        assert_eq!(
            found.hint.is_some(),
            state != ServerState::Good,
            "{found:?}"
        );
    }
    drop(HistoryStore::open(location.clone().into()).unwrap());
    assert!(server_check::has_tables(
        &server_check::check(&location).unwrap()
    ));
    // Somebody gives all users of the database the state of devices.
    let StoreLocation::Server(address) = &location else {
        panic!("it is on the server");
    };
    let address = address.to_string();
    let database = address.rsplit('/').next().unwrap();
    server.execute(
        database,
        "GRANT SELECT ON switchtender.device_state TO PUBLIC",
    );
    let findings = server_check::check(&location).unwrap();
    let readers = finding(&findings, "readers");
    assert!(readers.text.starts_with("PUBLIC may read"), "{readers:?}");
}
