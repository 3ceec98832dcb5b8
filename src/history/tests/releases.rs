//! Releases: numbers, content, and which of them stay.

use super::*;
use crate::git::GitRevision;
use crate::history::releases::{NewRelease, Published, ReleaseNumber, content_digest};

fn release(minute: i64, files: &[(&str, &str)]) -> NewRelease {
    let files = files.iter();
    NewRelease {
        files: files
            .map(|(path, body)| ((*path).to_owned(), body.as_bytes().to_vec()))
            .collect(),
        publisher: "alice".to_owned(),
        revision: Some(GitRevision {
            commit: "0123".to_owned(),
            is_modified: true,
        }),
        published: time(minute),
    }
}

fn publish(sandbox: &Sandbox, release: NewRelease) -> Published {
    let published = sandbox
        .history
        .write_and_wait(move |writer| writer.publish(&release));
    published.unwrap()
}

fn same_content_is_one_release(engine: TestEngine) {
    let sandbox = Sandbox::on(engine);
    assert_eq!(sandbox.read(|reader| reader.newest_release()), None);
    let [one, two] = [ReleaseNumber(1), ReleaseNumber(2)];
    let files = [("fleet.toml", "keep = \"1d\"\n"), ("state/common.yaml", "")];
    assert_eq!(publish(&sandbox, release(0, &files)), Published::New(one));
    assert_eq!(publish(&sandbox, release(1, &files)), Published::Same(one));
    // The same contents at other paths.
    let moved = [("fleet.toml", "keep = \"1d\"\n"), ("state/core.yaml", "")];
    assert_eq!(publish(&sandbox, release(2, &moved)), Published::New(two));
    // An earlier content is a new release.
    let three = ReleaseNumber(3);
    assert_eq!(publish(&sandbox, release(3, &files)), Published::New(three));

    assert_eq!(sandbox.read(|reader| reader.newest_release()), Some(three));
    let stored = sandbox.read(|reader| reader.release(two)).unwrap();
    assert_eq!(stored.number, two);
    let paths: Vec<&str> = stored.files.keys().map(String::as_str).collect();
    assert_eq!(paths, ["fleet.toml", "state/core.yaml"]);
    let sha256 = stored.files["fleet.toml"].clone();
    assert_eq!(sha256, content_digest(b"keep = \"1d\"\n"));
    let body = sandbox.read(move |reader| reader.blob(&sha256));
    assert_eq!(body.as_deref(), Some(b"keep = \"1d\"\n".as_slice()));
    assert_eq!(sandbox.read(|reader| reader.blob("00")), None);
    let entries = sandbox.read(|reader| reader.releases());
    let entries = entries.iter().map(|one| {
        let revision = one.revision.as_ref().unwrap().to_string();
        (one.number.0, one.files, one.bytes, revision, one.published)
    });
    let modified = || "0123, modified".to_owned();
    assert_eq!(
        entries.collect::<Vec<_>>(),
        [
            (3, 2, 12, modified(), time(3)),
            (2, 2, 12, modified(), time(2)),
            (1, 2, 12, modified(), time(0))
        ]
    );
}

fn older_release_is_refused_by_a_device(engine: TestEngine) {
    let sandbox = Sandbox::on(engine);
    for minute in 0..3 {
        let files = [("fleet.toml", &*format!("# {minute}\n"))];
        publish(&sandbox, release(minute, &files));
    }
    sandbox.add("sw1", completed(RunKind::Plan, 0, &[]));
    let uses = |device: &'static str, number: Option<i64>| {
        let number = number.map(ReleaseNumber);
        let used = sandbox
            .history
            .write_and_wait(move |writer| writer.use_release(device, number));
        used.unwrap().map(|newer| newer.0)
    };
    assert_eq!(uses("sw1", None), None);
    assert_eq!(uses("sw1", Some(2)), None);
    assert_eq!(uses("sw1", Some(1)), Some(2));
    assert_eq!(uses("sw1", None), Some(2), "files of a process are older");
    assert_eq!(uses("sw1", Some(2)), None);
    assert_eq!(uses("sw1", Some(3)), None);
    assert_eq!(uses("sw1", Some(2)), Some(3));
    let devices = sandbox.read(|reader| reader.releases());
    let devices: Vec<u32> = devices.iter().map(|one| one.devices).collect();
    assert_eq!(devices, [1, 0, 0]);
}

fn releases_of_runs_and_devices_stay(engine: TestEngine) {
    let sandbox = Sandbox::on(engine);
    for minute in 0..5 {
        let own = format!("# {minute}\n");
        publish(
            &sandbox,
            release(minute, &[("fleet.toml", "# same\n"), ("own", &own)]),
        );
    }
    let (run, _) = sandbox.add("sw1", completed(RunKind::Plan, 0, &[]));
    let removed = sandbox.history.write_and_wait(move |writer| {
        writer.set_run_release(run, Some(ReleaseNumber(2)))?;
        writer.use_release("sw1", Some(ReleaseNumber(4)))?;
        writer.remove_unused_releases()
    });
    removed.unwrap();
    let left = sandbox.read(|reader| reader.releases());
    let left: Vec<i64> = left.iter().map(|one| one.number.0).collect();
    assert_eq!(left, [5, 4, 2]);
    let entry = sandbox.read(|reader| reader.run(run)).unwrap();
    assert_eq!(entry.release, Some(ReleaseNumber(2)));
    for (content, is_stored) in [("# same\n", true), ("# 1\n", true), ("# 2\n", false)] {
        let sha256 = content_digest(content.as_bytes());
        let body = sandbox.read(move |reader| reader.blob(&sha256));
        assert_eq!(body.is_some(), is_stored, "{content}");
    }
}

on_each_engine! {
    same_content_is_one_release,
    older_release_is_refused_by_a_device,
    releases_of_runs_and_devices_stay,
}
