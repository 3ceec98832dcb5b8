//! Locks of devices for commands, and the begins of nodes beside them.

use test_support::postgresql::PostgreSql;

use super::*;
use crate::history::run::RunRight;
use crate::store::host_locks::{HostLockError, HostLocks as _};

fn holder(history: &HistoryStore, device: &str) -> Option<String> {
    match history.lock(device) {
        Ok(_) => None,
        Err(HostLockError::Held { holder }) => Some(holder),
        Err(error) => panic!("{error}"),
    }
}

/// Why a run of the node `ber-1` does not begin. If it does, it goes on.
fn begin(history: &HistoryStore, kind: RunKind) -> Option<String> {
    let started = history.write_and_wait(move |writer| {
        let right = RunRight {
            node: "ber-1".to_owned(),
            shard: "default/0".to_owned(),
            epoch: 1,
        };
        let reason = writer.runs_elsewhere("sw1", kind, Some(&right))?;
        if reason.is_none() {
            let run = writer.add_run(&new_run("sw1", kind, time(0)))?;
            writer.set_right(run, Some(&right))?;
        }
        Ok(reason)
    });
    started.unwrap()
}

#[test]
fn a_device_is_locked_for_one_process() {
    let Some(server) = server::DatabaseServer::shared() else {
        return;
    };
    let location = server.new_database();
    let open = || HistoryStore::open(location.clone().into()).unwrap();
    let (first, second) = (open(), open());
    let lock = first.lock("sw1").unwrap();
    let other = first.lock("sw2").unwrap();
    assert_eq!(lock.check(), Ok(()));
    let named = format!("process {} on ", std::process::id());
    let found = holder(&second, "sw1").expect("it is locked");
    assert!(found.starts_with(&named), "{found}");
    assert_eq!(holder(&second, "sw3"), None);
    drop(lock);
    assert_eq!(holder(&second, "sw1"), None);
    assert!(holder(&second, "sw2").is_some());
    drop(other);
    assert_eq!(holder(&second, "sw2"), None);
}

#[test]
fn a_command_and_a_node_do_not_change_a_device_at_once() {
    let Some(server) = PostgreSql::shared() else {
        return;
    };
    let (database, location) = server::new_database(server);
    let open = || HistoryStore::open(location.clone().into()).unwrap();
    let (node, command) = (open(), open());
    let lease = "INSERT INTO switchtender.lease (name, owner, holder, boot, epoch, since, beat)
        VALUES ('shard:default/0', 'ber-1', 'ber-1', 'b', 1, 1, 1)";
    server.execute(&database, lease);
    let lock = command.lock("sw1").unwrap();
    let reason = begin(&node, RunKind::Apply).expect("it is locked");
    let expected = format!(
        "a command changes the device: process {} on ",
        std::process::id()
    );
    assert!(reason.starts_with(&expected), "{reason}");
    assert_eq!(begin(&node, RunKind::Plan), None);
    drop(lock);
    assert_eq!(begin(&node, RunKind::Apply), None);
    assert_eq!(
        holder(&command, "sw1").as_deref(),
        Some("on the node ber-1")
    );
    // `fleet evict` confirms that the node is off.
    server.execute(&database, "UPDATE switchtender.lease SET owner = NULL");
    assert_eq!(holder(&command, "sw1"), None);
}

/// What begins for the device in a shard that the node has. `Err`: the index of the table refuses it.
fn begin_in(sandbox: &Sandbox, shard: &str, kind: RunKind) -> Result<RunId, HistoryError> {
    let right = RunRight {
        node: format!("node of {shard}"),
        shard: shard.to_owned(),
        epoch: 1,
    };
    sandbox.history.write_and_wait(move |writer| {
        let run = writer.add_run(&new_run("sw1", kind, time(0)))?;
        writer.set_right(run, Some(&right))?;
        Ok(run)
    })
}

fn an_open_apply_of_another_shard_prevents_applies_only(engine: TestEngine) {
    let sandbox = Sandbox::on(engine);
    let elsewhere = |kind| {
        let requested = sandbox.history.write_and_wait(move |writer| {
            let right = RunRight {
                node: "node of munich/0".to_owned(),
                shard: "munich/0".to_owned(),
                epoch: 1,
            };
            writer.runs_elsewhere("sw1", kind, Some(&right))
        });
        requested.unwrap()
    };
    let leases = sandbox.history.write_and_wait(|writer| {
        for shard in ["berlin/0", "munich/0"] {
            let insert = "INSERT INTO lease (name, owner, holder, boot, epoch, since, beat)
                VALUES ('shard:' || CAST(?1 AS TEXT), 'node of ' || CAST(?1 AS TEXT),
                    'node of ' || CAST(?1 AS TEXT), 'b', 1, 1, 1)";
            writer.connection.execute(insert, [shard])?;
        }
        Ok(())
    });
    leases.unwrap();
    assert_eq!(elsewhere(RunKind::Apply), None);
    let first = begin_in(&sandbox, "berlin/0", RunKind::Apply).unwrap();
    assert_eq!(
        elsewhere(RunKind::Apply).as_deref(),
        Some("device runs elsewhere: on the node node of berlin/0")
    );
    assert_eq!(elsewhere(RunKind::Plan), None);
    // A process that does not ask is refused, too.
    begin_in(&sandbox, "munich/0", RunKind::Apply).unwrap_err();
    begin_in(&sandbox, "munich/0", RunKind::Plan).unwrap();
    let ended = completed(RunKind::Apply, 1, &[]);
    let ended = sandbox
        .history
        .write_and_wait(move |writer| writer.finish_run(first, &ended));
    ended.unwrap();
    assert_eq!(elsewhere(RunKind::Apply), None);
    begin_in(&sandbox, "munich/0", RunKind::Apply).unwrap();
}

on_each_engine! {
    an_open_apply_of_another_shard_prevents_applies_only,
}

#[test]
fn a_lost_connection_loses_its_locks() {
    if PostgreSql::shared().is_none() {
        return;
    }
    let server = PostgreSql::start(None).unwrap();
    let (_, location) = server::new_database(&server);
    let history = HistoryStore::open(location.into()).unwrap();
    let lock = history.lock("sw1").unwrap();
    server.kill_and_wait();
    // The client reads the end of its connection meanwhile.
    let lost = (0..1000).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        lock.check().is_err()
    });
    assert!(lost);
    let reason = lock.check().unwrap_err().reason;
    assert_eq!(
        reason,
        "the connection to the database was lost, and with it the lock of sw1"
    );
    drop(lock);
    let again = history.lock("sw1").unwrap();
    assert_eq!(again.check(), Ok(()));
}
