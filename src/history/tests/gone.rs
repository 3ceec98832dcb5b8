//! What is gone is removed, and what another node needs stays.

use rusqlite::params;

use super::*;
use crate::history::audit_copies::{AuditCopyFilter, AuditLine};
use crate::history::leases::NodeRecord;
use crate::history::maintenance::Retention;
use crate::history::time_column::milliseconds;
use crate::store::state_table::{StateChange, StateTable as _};

fn write<T: Send + 'static>(
    sandbox: &Sandbox,
    write: impl FnOnce(&HistoryWriter<'_>) -> Result<T, HistoryError> + Send + 'static,
) -> T {
    sandbox.history.write_and_wait(write).unwrap()
}

fn known(name: &str) -> KnownDevice {
    KnownDevice {
        name: name.to_owned(),
        platform: "ios".to_owned(),
        site: None,
        labels: BTreeMap::new(),
        address: String::new(),
        guarantee: None,
    }
}

fn node(writer: &HistoryWriter<'_>, name: &str, record: &NodeRecord, seen: Timestamp) {
    let record = serde_json::to_string(record).unwrap();
    let insert = "INSERT INTO node (name, record, beat, seen) VALUES (?1, ?2, 1, ?3)";
    let seen = milliseconds(seen);
    (writer.connection)
        .execute(insert, params![name, record, seen])
        .unwrap();
}

fn gone_nodes_and_sites_are_removed(engine: TestEngine) {
    const DAY: i64 = 24 * 60;
    let sandbox = Sandbox::on(engine);
    let record = |is_stopped, sites: &[&str]| NodeRecord {
        is_stopped,
        sites: sites.iter().map(|site| (*site).to_owned()).collect(),
        ..NodeRecord::default()
    };
    let device = |name: &str, site: Option<&str>| KnownDevice {
        site: site.map(str::to_owned),
        ..known(name)
    };
    let devices = [device("sw1", None), device("sw2", Some("berlin"))];
    write(&sandbox, move |writer| {
        writer.update_devices(&devices, true, time(0))?;
        node(writer, "pod", &record(true, &[]), time(0));
        node(writer, "new", &record(true, &[]), time(DAY));
        node(writer, "lost", &record(false, &[]), time(0));
        node(writer, "site", &record(true, &["berlin"]), time(0));
        for site in ["berlin", "default", "misspelled"] {
            let insert = "INSERT INTO site (name, shards) VALUES (?1, 1)";
            writer.connection.execute(insert, [site])?;
            let insert = "INSERT INTO lease (name, holder, boot, epoch, since, beat)
                VALUES ('shard:' || CAST(?1 AS TEXT) || '/0', 'a', 'a', 1, 1, 1)";
            writer.connection.execute(insert, [site])?;
        }
        let insert = "INSERT INTO lease (name, owner, holder, boot, epoch, since, beat)
            VALUES ('shard:misspelled/1', 'lost', 'lost', 'a', 1, 1, 1)";
        writer.connection.execute(insert, [])?;
        writer.remove_gone_nodes(time(DAY + 1))
    });
    let names = |query: &'static str| {
        let read = move |reader: &HistoryReader<'_>| {
            let mut select = reader.connection.prepare_cached(query)?;
            select.query_all([], |row| row.get::<_, String>(0))
        };
        sandbox.read(read)
    };
    let nodes: Vec<String> = names("SELECT name FROM node ORDER BY name");
    assert_eq!(nodes, ["lost", "new", "site"]);
    let sites: Vec<String> = names("SELECT name FROM site ORDER BY name");
    assert_eq!(sites, ["berlin", "default"]);
    let leases = || -> Vec<String> { names("SELECT name FROM lease ORDER BY name") };
    assert_eq!(
        leases(),
        ["shard:berlin/0", "shard:default/0", "shard:misspelled/1"]
    );
    // Its owner releases it later.
    write(&sandbox, |writer| {
        (writer.connection).execute("UPDATE lease SET owner = NULL", [])?;
        writer.remove_gone_nodes(time(DAY + 2))
    });
    assert_eq!(leases(), ["shard:berlin/0", "shard:default/0"]);
}

fn webhooks_of_other_nodes_stay(engine: TestEngine) {
    let sandbox = Sandbox::on(engine);
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let (both, none, chat): (Vec<String>, Vec<String>, Vec<String>) =
        (names(&["chat", "gone"]), names(&[]), names(&["chat"]));
    write(&sandbox, move |writer| writer.set_webhooks(&both));
    sandbox.add("sw1", completed(RunKind::Plan, 1, &[]));
    write(&sandbox, move |writer| {
        let record = NodeRecord {
            webhooks: chat,
            ..NodeRecord::default()
        };
        node(writer, "hub1", &record, time(0));
        // Another hub has none.
        writer.set_webhooks(&none)
    });
    let unsent = |name: &'static str| {
        let ended = sandbox.read(move |reader| reader.ended_runs(name, 10));
        ended.map(|ended| ended.len())
    };
    assert_eq!((unsent("chat"), unsent("gone")), (Some(1), None));
    write(&sandbox, |writer| writer.add_webhook("gone"));
    assert_eq!((unsent("chat"), unsent("gone")), (Some(1), Some(0)));
}

fn copies_of_logs_and_states_of_removed_devices_are_removed(engine: TestEngine) {
    const DAY: i64 = 24 * 60;
    let sandbox = Sandbox::on(engine);
    let devices = [known("sw1"), known("sw2")];
    write(&sandbox, move |writer| {
        writer.update_devices(&devices, true, time(0))?;
        let line = |minute| AuditLine {
            time: time(minute),
            entry: "{}".to_owned(),
        };
        writer.add_audit_lines("a", &[line(0), line(1)], 10)?;
        writer.add_audit_lines("b", &[line(0)], 7)
    });
    for day in 0..10 {
        sandbox.add("sw1", completed(RunKind::Plan, day * DAY, &[]));
    }
    sandbox.add("sw2", completed(RunKind::Plan, 0, &[]));
    for device in ["sw1", "sw2"] {
        let change = StateChange {
            device: device.to_owned(),
            file: "memory.json".to_owned(),
            body: Some(vec![1]),
            epoch: Some(1),
        };
        sandbox.history.change(&change).unwrap();
    }
    let left = [known("sw1")];
    write(&sandbox, move |writer| {
        writer.update_devices(&left, true, time(9 * DAY))
    });
    let retention = Retention {
        age: Duration::from_secs(5 * 24 * 60 * 60),
        size: None,
    };
    limits::retain(&sandbox, retention, time(9 * DAY));
    let filter = AuditCopyFilter {
        count: 10,
        ..AuditCopyFilter::default()
    };
    let copies = sandbox.read(|reader| reader.audit_copies(&filter));
    assert_eq!(copies.len(), 2, "the last one of each node");
    assert_eq!(sandbox.read(|reader| reader.audit_end("a")), 10);
    assert_eq!(sandbox.history.devices().unwrap(), ["sw1"]);
}

fn paused_devices_are_found(engine: TestEngine) {
    let sandbox = Sandbox::on(engine);
    let pause = Pause {
        since: time(1),
        reason: "works".to_owned(),
        by: Requester::schedule(),
    };
    write(&sandbox, move |writer| {
        writer.set_pause("sw1", Some(&pause), time(1))?;
        writer.set_due("sw2", Some(time(2)), 0, time(1))
    });
    let paused = sandbox.read(|reader| reader.paused_devices());
    assert_eq!(paused, ["sw1".to_owned()].into());
}

on_each_engine! {
    copies_of_logs_and_states_of_removed_devices_are_removed,
    gone_nodes_and_sites_are_removed,
    paused_devices_are_found,
    webhooks_of_other_nodes_stay,
}
