//! A server that is killed, stopped, or not the one that the address names.

use std::sync::atomic::{AtomicBool, Ordering};

use test_support::postgresql::PostgreSql;

use super::*;

/// A server that only this test ends. `None`: there is none, and the test is skipped.
fn own_server() -> Option<(PostgreSql, StoreLocation)> {
    server::DatabaseServer::shared()?;
    let own = PostgreSql::start(None)?;
    let database = server::location(&own.address(&own.new_database()));
    Some((own, database))
}

#[test]
fn no_result_is_lost_or_stored_twice_when_the_server_is_killed() {
    const WRITERS: i64 = 4;
    let Some((own, location)) = own_server() else {
        return;
    };
    let history = HistoryStore::open(location.into()).unwrap();
    let ends = AtomicBool::new(false);
    // As `serve`: a result is written until it is stored.
    let store = |writer: i64, minute: i64| {
        let device = format!("sw{writer}");
        let new = new_run(&device, RunKind::Apply, time(minute));
        loop {
            let (new, result) = (new.clone(), completed(RunKind::Apply, minute, &[]));
            let stored = history.write_and_wait(move |writer| {
                let run = writer.add_run(&new)?;
                if writer.has_result(run)? {
                    return Ok(());
                }
                writer.finish_run(run, &result).map(|_| ())
            });
            match stored {
                Ok(()) => return,
                Err(HistoryError::Unreachable(_) | HistoryError::Lost) => {
                    std::thread::sleep(std::time::Duration::from_millis(20));
                }
                Err(other) => panic!("{other:?}"),
            }
        }
    };
    let written: i64 = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let (ends, store) = (&ends, &store);
                scope.spawn(move || {
                    let mut minute = 0;
                    while !ends.load(Ordering::Relaxed) {
                        store(writer, minute);
                        minute += 1;
                    }
                    minute
                })
            })
            .collect();
        for _ in 0..3 {
            let before = own.execute("test0", "SELECT count(*) FROM switchtender.run");
            while own.execute("test0", "SELECT count(*) FROM switchtender.run") == before {}
            own.kill_and_wait();
        }
        ends.store(true, Ordering::Relaxed);
        writers.into_iter().map(|one| one.join().unwrap()).sum()
    });
    let all = history.read(|reader| reader.total_counts()).unwrap();
    let written = u64::try_from(written).unwrap();
    assert_eq!(all, BTreeMap::from([("unchanged".to_owned(), written)]));
    let ended = "SELECT count(*) FROM switchtender.run WHERE ended IS NOT NULL";
    assert_eq!(own.execute("test0", ended), written.to_string());
}

#[test]
fn a_stopped_server_is_an_error_until_it_starts_again() {
    let Some((own, location)) = own_server() else {
        return;
    };
    let history = HistoryStore::open(location.into()).unwrap();
    own.leave();
    let add = || {
        let run = new_run("sw1", RunKind::Apply, time(0));
        history.write_and_wait(move |writer| writer.add_run(&run))
    };
    let count = || history.read(|reader| reader.fleet_size(&FleetFilter::default()));
    for error in [
        add().map(|_| ()).unwrap_err(),
        count().map(|_| ()).unwrap_err(),
    ] {
        let text = error.to_string();
        assert!(text.contains("database"), "{text}");
        assert!(error.hint().is_some(), "{text}");
    }
    own.come_back();
    add().unwrap();
    assert_eq!(count().unwrap(), 1);
}

#[test]
fn the_server_must_have_the_certificate_of_its_name() {
    if server::DatabaseServer::shared().is_none() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let made = rcgen::generate_simple_self_signed(["db.test".to_owned()]).unwrap();
    let (certificate, key) = (made.cert.pem(), made.signing_key.serialize_pem());
    let own = PostgreSql::start(Some((&certificate, &key))).unwrap();
    let database = own.new_database();
    let other = rcgen::generate_simple_self_signed(["db.test".to_owned()]).unwrap();
    let file = |name: &str, text: &str| {
        let path = directory.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let right = file("right.pem", &certificate);
    let wrong = file("wrong.pem", &other.cert.pem());
    for (host, authorities, works) in [
        ("db.test", &right, true),
        ("db.test", &wrong, false),
        ("other.test", &right, false),
    ] {
        let port = own.port();
        let address = format!(
            "postgresql://owner@{host}:{port}/{database}?hostaddr=127.0.0.1&sslrootcert={authorities}"
        );
        let opened = HistoryStore::open(server::location(&address).into());
        assert_eq!(opened.is_ok(), works, "{address}");
        if opened.is_ok() {
            let encrypted =
                "SELECT bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
                WHERE application_name = 'switchtender'";
            assert_eq!(own.execute(&database, encrypted), "t");
        }
    }
    // A server without a certificate gets no password and no statement.
    let plain = PostgreSql::start(None).unwrap();
    let address = format!(
        "postgresql://owner@db.test:{}/postgres?hostaddr=127.0.0.1",
        plain.port()
    );
    assert!(HistoryStore::open(server::location(&address).into()).is_err());
}

#[test]
fn writes_go_on_after_one_that_waited_in_vain() {
    let Some((own, location)) = own_server() else {
        return;
    };
    let [first, second] =
        [location.clone(), location].map(|location| HistoryStore::open(location.into()).unwrap());
    let waiting = "SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity
        WHERE wait_event_type = 'Lock'";
    std::thread::scope(|scope| {
        let (started, begins) = std::sync::mpsc::channel();
        let (end, ends) = std::sync::mpsc::channel::<()>();
        let holder = scope.spawn(move || {
            first.write_and_wait(move |_| {
                started.send(()).unwrap();
                ends.recv().unwrap();
                Ok(())
            })
        });
        begins.recv().unwrap();
        let waits = scope.spawn(|| second.write_and_wait(|_| Ok(())));
        // As a limit of the time of a lock does.
        while own.execute("postgres", waiting) == "0" {}
        assert!(waits.join().unwrap().is_err());
        end.send(()).unwrap();
        holder.join().unwrap().unwrap();
    });
    second.write_and_wait(|_| Ok(())).unwrap();
}
