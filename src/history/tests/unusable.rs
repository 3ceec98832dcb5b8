//! Databases that cannot be used, and what their errors say about it.

use test_support::postgresql::PostgreSql;

use super::*;
use crate::history::server_check;

#[test]
fn errors_of_a_database_have_hints() {
    let Some(server) = PostgreSql::shared() else {
        return;
    };
    let database = server.new_database();
    let address = server.address(&database);
    let opened = |address: &str| HistoryStore::open(server::location(address).into());
    let full = format!("full_{database}");
    server.execute(
        "postgres",
        &format!("CREATE ROLE {full} LOGIN CONNECTION LIMIT 0"),
    );
    let limited = format!("limited_{database}");
    server.execute("postgres", &format!("CREATE ROLE {limited} LOGIN"));
    let as_role = |role: &str| address.replace("owner@", &format!("{role}@"));
    let encoding = format!("latin_{database}");
    let create =
        format!("CREATE DATABASE {encoding} ENCODING LATIN1 LOCALE 'C' TEMPLATE template0");
    server.execute("postgres", &create);
    let port = server.port();
    for (address, text, hint) in [
        (
            server.address("missing"),
            "does not exist",
            "create the database",
        ),
        (
            as_role("nobody"),
            "does not exist",
            "correct the user of `store`",
        ),
        (
            as_role(&full),
            "too many connections",
            "raise `max_connections`",
        ),
        (
            as_role(&limited),
            "permission denied",
            "connect as the owner of the tables",
        ),
        (server.address(&encoding), "LATIN1; create it with", ""),
        (
            format!("postgresql://owner@db.test:{port}/{database}?hostaddr=127.0.0.1"),
            "does not support TLS",
            "set `ssl = on` on the server",
        ),
        (
            "postgresql://owner@127.0.0.1:1/x".to_owned(),
            "refused",
            "start the database",
        ),
    ] {
        let error = opened(&address).expect_err(&address);
        let text_of_error = crate::error_chain::chain(&error);
        assert!(text_of_error.contains(text), "{address}: {text_of_error}");
        let found = error.hint().unwrap_or_default();
        assert!(found.starts_with(hint), "{address}: {found}");
        assert_eq!(found.is_empty(), hint.is_empty(), "{address}: {found}");
    }
}

#[test]
fn database_without_tables_has_no_defects_but_an_error() {
    let Some(server) = server::DatabaseServer::shared() else {
        return;
    };
    let error = HistoryCheck::begin(&server.new_database()).err().unwrap();
    assert!(matches!(error, HistoryError::NoTables), "{error}");
    assert!(error.hint().is_some());
}

#[test]
fn database_of_a_later_program_is_refused_and_stays() {
    let Some(server) = PostgreSql::shared() else {
        return;
    };
    let (database, location) = server::new_database(server);
    drop(HistoryStore::open(location.clone().into()).unwrap());
    server.execute(
        &database,
        "UPDATE switchtender.schema_version SET version = 1000, oldest = 1000",
    );
    let error = HistoryStore::open(location.into())
        .err()
        .unwrap()
        .to_string();
    assert!(
        error.starts_with("it has version 1000, and this program reads version "),
        "{error}"
    );
    assert!(
        error.ends_with("or name another database in `store`"),
        "{error}"
    );
    let version = "SELECT version FROM switchtender.schema_version";
    assert_eq!(server.execute(&database, version), "1000");
}

#[test]
fn database_without_writes_is_read_and_reported() {
    let Some(server) = PostgreSql::shared() else {
        return;
    };
    let (database, location) = server::new_database(server);
    drop(HistoryStore::open(location.clone().into()).unwrap());
    let forbid = format!("ALTER DATABASE {database} SET default_transaction_read_only = on");
    server.execute(&database, &forbid);
    let history = HistoryStore::open(location.clone().into()).unwrap();
    let size = history.read(|reader| reader.fleet_size(&FleetFilter::default()));
    assert_eq!(size.unwrap(), 0);
    let run = new_run("sw1", RunKind::Apply, time(0));
    let error = history.write_and_wait(move |writer| writer.add_run(&run));
    let error = error.unwrap_err();
    assert!(matches!(error, HistoryError::ReadOnly), "{error}");
    let findings = server_check::check(&location).unwrap();
    let found = findings.iter().find(|finding| finding.aspect == "server");
    let found = found.expect("a finding");
    assert!(found.text.contains("permits no writes"), "{found:?}");
    assert!(found.hint.is_some());
}

/// It would not be stored later either.
#[test]
fn value_that_cannot_be_sent_is_an_error_of_the_data() {
    let Some(server) = server::DatabaseServer::shared() else {
        return;
    };
    let history = HistoryStore::open(server.new_database().into()).unwrap();
    let error = history.read(|reader| {
        let select = "SELECT CAST(?1 AS INTEGER)";
        let found: i64 = (reader.connection).query_row(select, [i64::MAX], |row| row.get(0))?;
        Ok(found)
    });
    let error = error.unwrap_err();
    assert!(
        error.is_of_the_data() && !error.is_of_the_store(),
        "{error:?}"
    );
}

/// A host that accepts connections and says nothing, as a server that is stopped does.
#[test]
fn silent_host_does_not_keep_the_next_one_from_being_used() {
    let Some(server) = PostgreSql::shared() else {
        return;
    };
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = silent.local_addr().unwrap().port();
    let database = server.new_database();
    let port = server.port();
    let both = format!("postgresql://owner@127.0.0.1:{silent},127.0.0.1:{port}/{database}");
    let history = HistoryStore::open(server::location(&both).into()).unwrap();
    let run = new_run("sw1", RunKind::Apply, time(0));
    history
        .write_and_wait(move |writer| writer.add_run(&run))
        .unwrap();
    let size = history.read(|reader| reader.fleet_size(&FleetFilter::default()));
    assert_eq!(size.unwrap(), 1);
    let alone = format!("postgresql://owner@127.0.0.1:{silent}/{database}");
    let error = HistoryStore::open(server::location(&alone).into())
        .err()
        .unwrap();
    assert!(
        error.is_of_the_store() && error.hint().is_some(),
        "{error:?}"
    );
}
