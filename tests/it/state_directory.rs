//! What a run leaves in the state directory, and what a killed one leaves.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use test_support::catalog::{CatalogBuilder, vlan};
use test_support::lab::Lab;

const VLANS: usize = 15;

/// A switch with two catalogs, `a` and `b`.
fn lab() -> Lab {
    let lab = Lab::with_devices(&[("sw1", "cisco_ios")]);
    for (name, first) in [("a", 100), ("b", 200)] {
        lab.write_catalog(name, &catalog(first));
    }
    lab
}

/// `apply` of one of the catalogs to a new mock.
fn apply(lab: &Lab, catalog: &str, more: &[&str]) -> Command {
    let catalog = format!("catalogs/{catalog}.json");
    let mut command =
        lab.blocking_command(&[&["apply", "--mock", "--catalog", &catalog], more].concat());
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn device(lab: &Lab) -> PathBuf {
    lab.path("state/devices/sw1")
}

fn read(lab: &Lab, file: &str) -> String {
    let path = device(lab).join(file);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// VLANs from a number on, the first of them requiring the last, in a class.
fn catalog(first: usize) -> Value {
    let vlans = (first..first + VLANS).map(|id| {
        let mut vlan = vlan(id.try_into().unwrap(), &format!("v{id}"));
        if id == first {
            let last = format!("Network_vlan[{}]", first + VLANS - 1);
            vlan["parameters"]["require"] = json!([last]);
        }
        vlan
    });
    CatalogBuilder::new("sw1.lab.test")
        .class("Site::Vlans", json!({}))
        .resources(vlans)
        .build()
}

/// `resources.txt` of a catalog.
fn managed(first: usize) -> String {
    (first..first + VLANS)
        .map(|id| format!("network_vlan[{id}]\n"))
        .collect()
}

#[test]
fn state_directory_has_results_managed_resources_and_graphs() {
    let lab = lab();
    let status = apply(&lab, "a", &["--graph", "graphs"]).status().unwrap();
    assert!(status.success());
    assert_eq!(read(&lab, "state/classes.txt"), "main\nsite::vlans\n");
    assert_eq!(read(&lab, "state/resources.txt"), managed(100));
    let summary = read(&lab, "state/last_run_summary.yaml");
    assert!(summary.contains("changed: 15"), "{summary}");
    let report: Value = serde_json::from_str(&read(&lab, "state/last_run_report.json")).unwrap();
    assert_eq!(report["host"], "sw1.lab.test");
    assert_eq!(report["status"], "changed");

    let graph =
        |file: &str| fs::read_to_string(lab.path("graphs/sw1").join(file)).expect("it was written");
    let cases = [
        (
            "resources.dot",
            "digraph Resources {",
            r#""Class[Site::Vlans]" -> "Network_vlan[100]""#,
        ),
        (
            "relationships.dot",
            "digraph Relationships {",
            r#""Network_vlan[114]" -> "Network_vlan[100]""#,
        ),
        (
            "expanded_relationships.dot",
            "digraph Expanded_relationships {",
            r#""Network_vlan[114]" -> "Network_vlan[100]""#,
        ),
    ];
    for (file, title, edge) in cases {
        let text = graph(file);
        assert!(text.starts_with(title), "{file}: {text}");
        assert!(text.contains(edge), "{file}: {text}");
    }
}

#[test]
fn evaltrace_logs_each_resource_with_its_duration() {
    let lab = lab();
    let output = apply(&lab, "a", &["--evaltrace", "-v"])
        .stdout(Stdio::piped())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    for desired in ["Starting to evaluate the resource (", "Evaluated in "] {
        assert!(text.matches(desired).count() >= VLANS, "{desired}: {text}");
    }
}

/// A plan leaves nothing behind that an apply would read.
#[test]
fn plan_writes_no_state() {
    let lab = lab();
    let status = apply(&lab, "a", &["--noop"])
        .status()
        .expect("the program starts");
    assert!(status.success());
    let noop = read(&lab, "state/last_run_report.json");
    let status = lab
        .blocking_command(&["plan", "--mock", "--catalog", "catalogs/b.json"])
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
    assert_eq!(read(&lab, "state/last_run_report.json"), noop);
}

/// The numbers of a run, in the form that monitoring reads from Puppet's agents.
#[test]
fn run_summary_has_the_fields_of_puppet() {
    let lab = lab();
    let started = switchtender::clock::timestamp().as_second();
    assert!(apply(&lab, "a", &[]).status().unwrap().success());
    let summary: Value =
        serde_saphyr::from_str(&read(&lab, "state/last_run_summary.yaml")).unwrap();
    let keys =
        |value: &Value| -> Vec<String> { value.as_object().unwrap().keys().cloned().collect() };
    let categories = [
        "version",
        "application",
        "resources",
        "time",
        "changes",
        "events",
    ];
    assert_eq!(keys(&summary), categories);
    assert_eq!(
        summary["version"],
        json!({"config": 1, "puppet": env!("CARGO_PKG_VERSION")})
    );
    assert_eq!(
        summary["application"],
        json!({
            "run_mode": "agent", "initial_environment": "production",
            "converged_environment": "production",
        })
    );
    // Of the schedules and the file bucket that every run has, only the latter is for hosts alone.
    assert_eq!(
        summary["resources"],
        json!({
            "total": VLANS + 7, "skipped": 1, "failed": 0, "failed_to_restart": 0, "restarted": 0,
            "changed": VLANS, "out_of_sync": VLANS, "scheduled": 0, "corrective_change": 0,
        })
    );
    assert_eq!(summary["changes"], json!({"total": VLANS}));
    assert_eq!(
        summary["events"],
        json!({"total": VLANS, "failure": 0, "success": VLANS})
    );
    let time = &summary["time"];
    for name in ["network_vlan", "total"] {
        assert!(
            time[name].as_f64().is_some_and(|seconds| seconds > 0.0),
            "{name}: {time}"
        );
    }
    assert!(time["last_run"].as_i64().unwrap() >= started, "{time}");
}

/// Runs are killed while they write: after each number of replaced files. Whatever is found then is
/// the complete old or new version, and the next run reads it.
#[test]
fn state_files_are_old_or_new_after_a_killed_run() {
    let lab = lab();
    assert!(apply(&lab, "a", &[]).status().unwrap().success());
    let count = files(&device(&lab)).len();
    for round in 0..count {
        let (name, first) = [("b", 200), ("a", 100)][round % 2];
        let before = files(&device(&lab));
        let mut run = apply(&lab, name, &[]).spawn().unwrap();
        loop {
            let has_ended = run.try_wait().unwrap().is_some();
            let now = files(&device(&lab));
            assert_old_or_new(&before, &now, first);
            let replaced = before
                .iter()
                .filter(|(file, old)| now[*file].inode != old.inode)
                .count();
            if replaced > round || has_ended {
                // A run that ended by itself has written.
                assert!(replaced > 0, "round {round}: the run wrote nothing");
                break;
            }
        }
        // An error says that the run has ended.
        let _ = run.kill();
        run.wait().unwrap();
        assert_old_or_new(&before, &files(&device(&lab)), first);
    }
    // What was being written when a run was killed is gone when the next one begins.
    fs::write(device(&lab).join("state/.unfinished-12345-x"), "{\"half").unwrap();
    for lock in fs::read_dir(lab.path("state/locks")).unwrap() {
        fs::write(lock.unwrap().path(), "12345     ").unwrap();
    }
    assert!(apply(&lab, "a", &[]).status().unwrap().success());
    assert_eq!(read(&lab, "state/resources.txt"), managed(100));
    for dir in [device(&lab), device(&lab).join("state")] {
        for entry in fs::read_dir(dir).unwrap() {
            let name = entry.unwrap().file_name().to_string_lossy().into_owned();
            assert!(!name.starts_with(".unfinished"), "{name} was left");
        }
    }
}

/// The test above would see it: whatever is missing at the end of a file, it is not taken for whole.
#[test]
fn state_file_that_is_truncated_is_rejected() {
    let lab = lab();
    assert!(apply(&lab, "a", &[]).status().unwrap().success());
    let found = files(&device(&lab));
    assert_eq!(found.len(), 8, "{:?}", found.keys());
    for (file, Found { text, .. }) in &found {
        assert_eq!(check_complete(file, text, 100), Ok(()));
        for length in (0..text.len()).step_by(text.len() / 1000 + 1) {
            // Written through the same file, the beginning is all that a reader finds.
            if check_complete(file, &text[..length], 100).is_ok() {
                panic!(
                    "{file} is taken for whole after {length} of {} bytes",
                    text.len()
                );
            }
        }
    }
}

fn assert_old_or_new(
    before: &BTreeMap<String, Found>,
    now: &BTreeMap<String, Found>,
    first: usize,
) {
    for (file, old) in before {
        let new = now.get(file).unwrap_or_else(|| panic!("{file} is gone"));
        if new.text != old.text
            && let Err(why) = check_complete(file, &new.text, first)
        {
            panic!("{file}: {why}: {}", new.text);
        }
    }
}

/// A file as it is found.
struct Found {
    inode: u64,
    text: String,
}

/// The files of a device by name, without what is being written beside them, and without locks.
fn files(dir: &Path) -> BTreeMap<String, Found> {
    let mut found = BTreeMap::new();
    for dir in [dir.to_owned(), dir.join("state")] {
        for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_stored = [".json", ".yaml", ".txt"]
                .iter()
                .any(|end| name.ends_with(end));
            if is_stored && let Ok(meta) = entry.metadata() {
                let text = fs::read_to_string(entry.path()).expect("it is text");
                let inode = meta.ino();
                found.insert(name, Found { inode, text });
            }
        }
    }
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn run_without_changes_does_not_write_the_state_for_the_next_run() {
    let mut lab = Lab::new();
    lab.add_switch("sw1", &[]).await;
    lab.write_resources("sw1", &[vlan(10, "users")]);
    lab.apply().await.assert_code(2);
    let inode = |file: &str| device(&lab).join(file).metadata().unwrap().ino();
    let before = ["memory.json", "state/last_run_report.json"].map(inode);
    lab.apply().await.assert_code(0);
    // A replaced file is another inode.
    assert_eq!(inode("memory.json"), before[0]);
    assert_ne!(inode("state/last_run_report.json"), before[1]);
}

/// Whether a new version is complete; what is missing if not.
fn check_complete(file: &str, text: &str, first: usize) -> Result<(), String> {
    let json = || serde_json::from_str::<Value>(text).map_err(|error| error.to_string());
    let same = |expected: &str| {
        if text == expected {
            Ok(())
        } else {
            Err(format!("{expected:?} is expected"))
        }
    };
    let has = |value: &Value, name: &str| match value.get(name) {
        Some(_) => Ok(()),
        None => Err(format!("{name} is missing")),
    };
    match file {
        "memory.json" => {
            let memory = json()?;
            (first..first + VLANS)
                .map(|id| format!("Network_vlan[{id}]"))
                .try_for_each(|name| has(&memory["content"][name]["history"], "ensure"))
        }
        "identity.json" => has(&json()?["content"]["identity"], "serials"),
        "facts.json" => has(&json()?["content"], "operatingsystem"),
        "last_run_report.json" => has(
            &json()?["resource_statuses"],
            &format!("Network_vlan[{first}]"),
        ),
        "resources.txt" => same(&managed(first)),
        "classes.txt" => same("main\nsite::vlans\n"),
        // Its last line; a line alone does not tell whether there are more.
        "last_run_summary.yaml" => match text.lines().last() {
            Some(last) if last.starts_with("  success: ") && text.ends_with('\n') => Ok(()),
            last => Err(format!("it ends with {last:?}")),
        },
        "secret-digests.json" => json().map(drop),
        other => Err(format!("an unknown file: {other}")),
    }
}
