//! What a run leaves in the state directory, and what a killed one leaves.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

const VLANS: usize = 15;

/// A switch, two catalogs for it, and a state directory.
struct Lab {
    dir: tempfile::TempDir,
}

impl Lab {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let inventory = "[device.sw1]\nplatform = \"cisco_ios\"\ncertname = \"sw1.lab.test\"\n\
                         address = \"192.0.2.101\"\nuser = \"ops\"\npassword = { env = \"X\" }\n";
        fs::write(dir.path().join("inventory.toml"), inventory).unwrap();
        for (name, first) in [("a", 100), ("b", 200)] {
            let text = catalog(first).to_string();
            fs::write(dir.path().join(format!("{name}.json")), text).unwrap();
        }
        Self { dir }
    }

    fn apply(&self, catalog: &str, more: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_switchtender"));
        command
            .current_dir(self.dir.path())
            .args(["apply", "--mock", "--state-dir", "state", "--catalog"])
            .arg(format!("{catalog}.json"))
            .args(more)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    fn device(&self) -> PathBuf {
        self.dir.path().join("state/devices/sw1")
    }

    fn read(&self, file: &str) -> String {
        let path = self.device().join(file);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }
}

/// VLANs from a number on, the first of them requiring the last, in a class.
fn catalog(first: usize) -> Value {
    let mut resources = vec![
        json!({"type": "Stage", "title": "main", "tags": ["stage"], "kind": "compilable_type"}),
        json!({"type": "Class", "title": "Site::Vlans", "tags": ["class"], "kind": "class"}),
    ];
    let mut edges = vec![json!({"source": "Stage[main]", "target": "Class[Site::Vlans]"})];
    for id in first..first + VLANS {
        let mut parameters = json!({"ensure": "present", "vlan_name": format!("v{id}")});
        if id == first {
            parameters["require"] = json!([format!("Network_vlan[{}]", first + VLANS - 1)]);
        }
        resources.push(json!({
            "type": "Network_vlan", "title": id.to_string(), "tags": ["network_vlan"],
            "kind": "compilable_type", "parameters": parameters,
        }));
        edges.push(json!({
            "source": "Class[Site::Vlans]", "target": format!("Network_vlan[{id}]"),
        }));
    }
    json!({
        "name": "sw1.lab.test", "version": 1, "environment": "production", "catalog_format": 2,
        "classes": ["settings", "site::vlans"], "resources": resources, "edges": edges,
    })
}

/// `resources.txt` of a catalog.
fn managed(first: usize) -> String {
    (first..first + VLANS)
        .map(|id| format!("network_vlan[{id}]\n"))
        .collect()
}

#[test]
fn a_run_leaves_its_results_and_what_it_manages_and_graphs_where_they_are_wanted() {
    let lab = Lab::new();
    let status = lab.apply("a", &["--graph", "graphs"]).status().unwrap();
    assert!(status.success());
    assert_eq!(lab.read("state/classes.txt"), "settings\nsite::vlans\n");
    assert_eq!(lab.read("state/resources.txt"), managed(100));
    let summary = lab.read("state/last_run_summary.yaml");
    assert!(summary.contains("changed: 15"), "{summary}");
    let report: Value = serde_json::from_str(&lab.read("state/last_run_report.json")).unwrap();
    assert_eq!(report["host"], "sw1.lab.test");
    assert_eq!(report["status"], "changed");

    let graph = |file: &str| {
        fs::read_to_string(lab.dir.path().join("graphs/sw1").join(file)).expect("it was written")
    };
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
fn each_resource_is_told_with_its_time_when_that_is_wanted() {
    let lab = Lab::new();
    let output = lab
        .apply("a", &["--evaltrace", "-v"])
        .stdout(Stdio::piped())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    for wanted in ["Starting to evaluate the resource (", "Evaluated in "] {
        assert!(text.matches(wanted).count() >= VLANS, "{wanted}: {text}");
    }
}

/// A plan leaves nothing behind that an apply would read.
#[test]
fn a_plan_writes_no_results() {
    let lab = Lab::new();
    let status = lab
        .apply("a", &["--noop"])
        .status()
        .expect("the program starts");
    assert!(status.success());
    let noop = lab.read("state/last_run_report.json");
    let status = Command::new(env!("CARGO_BIN_EXE_switchtender"))
        .current_dir(lab.dir.path())
        .args([
            "plan",
            "--mock",
            "--state-dir",
            "state",
            "--catalog",
            "b.json",
        ])
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
    assert_eq!(lab.read("state/last_run_report.json"), noop);
}

/// Runs are killed at random moments, every other one while it writes. Whatever is found after
/// that is the old or the new version as a whole, and the next run takes it up.
#[test]
fn a_run_killed_at_any_moment_leaves_old_or_new_files_and_never_half() {
    let lab = Lab::new();
    let began = Instant::now();
    assert!(lab.apply("a", &[]).status().unwrap().success());
    let whole = began.elapsed();
    let mut random = Random(0x5eed);
    let mut killed_while_writing = 0;
    for round in 0..10 {
        let (name, first) = [("b", 200), ("a", 100)][round % 2];
        let before = files(&lab.device());
        let mut run = lab.apply(name, &[]).spawn().unwrap();
        if round % 4 < 2 {
            // Killing at a moment is what this is about, not waiting for something.
            std::thread::sleep(whole.mul_f64(random.fraction()));
        } else {
            killed_while_writing += usize::from(wait_for_change(&lab.device(), &before, &mut run));
            std::thread::sleep(Duration::from_millis(8).mul_f64(random.fraction()));
        }
        // It may have ended by itself; that is a moment, too.
        let _ = run.kill();
        run.wait().unwrap();
        let after = files(&lab.device());
        for (file, old) in &before {
            let new = after.get(file).unwrap_or_else(|| panic!("{file} is gone"));
            if new.text != old.text {
                assert_whole(file, &new.text, first);
            }
        }
    }
    assert!(killed_while_writing > 0, "no run was seen to write");
    assert!(lab.apply("a", &[]).status().unwrap().success());
    assert_eq!(lab.read("state/resources.txt"), managed(100));
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
            let kept = [".json", ".yaml", ".txt"]
                .iter()
                .any(|end| name.ends_with(end));
            if kept && let Ok(meta) = entry.metadata() {
                let text = fs::read_to_string(entry.path()).expect("it is text");
                let inode = meta.ino();
                found.insert(name, Found { inode, text });
            }
        }
    }
    found
}

/// Waits until a file was replaced; whether that happened before the run ended.
fn wait_for_change(dir: &Path, before: &BTreeMap<String, Found>, run: &mut Child) -> bool {
    loop {
        let now = files(dir);
        let changed = |(name, old): (&String, &Found)| {
            now.get(name).is_some_and(|new| new.inode != old.inode)
        };
        if before.iter().any(changed) {
            return true;
        }
        if run.try_wait().unwrap().is_some() {
            return false;
        }
        std::thread::yield_now();
    }
}

/// A new version is complete.
fn assert_whole(file: &str, text: &str, first: usize) {
    let json = || serde_json::from_str::<Value>(text).unwrap_or_else(|e| panic!("{file}: {e}"));
    match file {
        "memory.json" => {
            let memory = json();
            for id in first..first + VLANS {
                let reference = format!("Network_vlan[{id}]");
                assert!(
                    memory["content"]["history"][&reference].is_object(),
                    "{file}: {reference} is missing"
                );
            }
        }
        "last_run_report.json" => {
            let report = json();
            let statuses = report["resource_statuses"].as_object().expect("statuses");
            assert!(statuses.contains_key(&format!("Network_vlan[{first}]")));
        }
        "resources.txt" => assert_eq!(text, managed(first)),
        "classes.txt" => assert_eq!(text, "settings\nsite::vlans\n"),
        "last_run_summary.yaml" => assert!(text.contains("last_run:"), "{file}: {text}"),
        "remembered-secrets.json" => {
            json();
        }
        other => panic!("an unknown file: {other}"),
    }
}

/// A small generator (xorshift), so that a failure can be repeated.
struct Random(u64);

impl Random {
    fn fraction(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % 10_000) as f64 / 10_000.0
    }
}
