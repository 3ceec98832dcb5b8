//! The workflows in `examples/ci`: their steps run as they stand, with the examples' inventory and
//! catalogs. Only the steps that install programs and compile catalogs are left out.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use test_support::{program, stderr_note};

fn workflow(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("examples/ci")
        .join(name);
    let text = fs::read_to_string(path).expect("the workflow");
    serde_saphyr::from_str(&text).expect("a workflow is YAML")
}

fn texts(list: &Value) -> impl Iterator<Item = &str> {
    let list = list.as_array().expect("a list").iter();
    list.map(|text| text.as_str().expect("a text"))
}

/// The scripts of these steps of a job.
fn github_scripts(name: &str, job: &str, steps: [&str; 2]) -> Vec<String> {
    let workflow = workflow(name);
    let all = workflow["jobs"][job]["steps"].as_array();
    let all = all.expect("the job has steps").iter();
    let of_step = |name: &str| {
        let named = all.clone().find(|step| step["name"] == name);
        let run = named.and_then(|step| step["run"].as_str());
        run.unwrap_or_else(|| panic!("no step {name}")).to_owned()
    };
    steps.map(of_step).to_vec()
}

fn gitlab_scripts(name: &str, all_stages: &[&str]) -> Vec<String> {
    let workflow = workflow(name);
    let stages: Vec<&str> = texts(&workflow["stages"]).collect();
    assert_eq!(stages, all_stages);
    texts(&workflow["check"]["script"])
        .map(str::to_owned)
        .collect()
}

/// The scripts that check catalogs of Puppet.
fn puppet_scripts() -> [Vec<String>; 2] {
    let steps = ["Check the catalogs", "Apply the catalogs to mocks"];
    [
        github_scripts("github-puppet.yml", "catalogs", steps),
        gitlab_scripts("gitlab-puppet.yml", &["compile", "check"]),
    ]
}

/// The scripts that check desired state in YAML.
fn state_scripts() -> [Vec<String>; 2] {
    let steps = [
        "Check the desired state",
        "Apply the desired state to mocks",
    ];
    [
        github_scripts("github.yml", "state", steps),
        gitlab_scripts("gitlab-ci.yml", &["check"]),
    ]
}

/// A control repository with an inventory and catalogs.
fn repository(catalogs: &str) -> tempfile::TempDir {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let directory = tempfile::tempdir().expect("a directory");
    fs::copy(
        examples.join("inventory.toml"),
        directory.path().join("inventory.toml"),
    )
    .expect("the inventory can be copied");
    let target = directory.path().join("catalogs");
    fs::create_dir(&target).expect("it can be made");
    for entry in fs::read_dir(examples.join(catalogs)).expect("catalogs") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name");
        fs::copy(&path, target.join(name)).expect("a catalog can be copied");
    }
    directory
}

/// Runs a script as a runner does: it ends at the first error.
fn run(script: &str, directory: &Path) -> Output {
    let programs = program::path().parent().expect("a directory").to_owned();
    let path = std::env::var("PATH").expect("there is a PATH");
    Command::new("bash")
        .args(["-e", "-o", "pipefail", "-c", script])
        .current_dir(directory)
        .env("PATH", format!("{}:{path}", programs.display()))
        .output()
        .expect("there is a shell")
}

fn text_of(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    format!("{}{}", text(&output.stdout), text(&output.stderr))
}

/// The files with findings of GitHub and of GitLab.
const FINDINGS: &[&[&str]] = &[
    &["findings.sarif"],
    &["gl-code-quality-report.json", "findings.xml"],
];

/// A repository with an inventory and desired state, which uses a fact.
fn state_repository() -> tempfile::TempDir {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let directory = tempfile::tempdir().expect("a directory");
    let write = |name: &str, text: String| {
        let path = directory.path().join(name);
        fs::create_dir_all(path.parent().expect("a directory")).expect("it can be made");
        fs::write(path, text).expect("a file can be written");
    };
    let read = |name: &str| fs::read_to_string(examples.join(name)).expect("an example");
    write("inventory.toml", read("inventory.toml"));
    for file in ["label/role/access.yaml", "device/lb1.yaml"] {
        write(&format!("state/{file}"), read(&format!("state/{file}")));
    }
    let device = read("state/device/sw1.yaml");
    let device = device.replace("desk 1", "\"{{ facts.hardwaremodel }}\"");
    assert!(device.contains("facts."), "{device}");
    write("state/device/sw1.yaml", device);
    let facts = r#"{"hardwaremodel": "WS-C3850-48T", "operatingsystemrelease": "16.12"}"#;
    write("facts/sw1.lab.test.json", facts.to_owned());
    directory
}

#[test]
fn ci_examples_check_desired_state_with_facts_and_mocks() {
    for (scripts, files) in state_scripts().into_iter().zip(FINDINGS) {
        let repository = state_repository();
        for script in &scripts {
            let output = run(script, repository.path());
            assert!(output.status.success(), "{script}\n{}", text_of(&output));
        }
        let plan = fs::read_to_string(repository.path().join("plan.html")).expect("a page");
        assert!(plan.contains("</html>"), "{plan}");
        for device in ["sw1", "lb1"] {
            let report = repository.path().join(format!("reports/{device}.json"));
            assert!(report.exists(), "{}", report.display());
        }

        let state = repository.path().join("state/device/lb1.yaml");
        let text = fs::read_to_string(&state).expect("a file");
        fs::write(
            &state,
            text.replace("load_balancing_method", "load_balancing"),
        )
        .expect("a file");
        let output = run(&scripts[0], repository.path());
        assert_eq!(output.status.code(), Some(1), "{}", text_of(&output));
        assert!(text_of(&output).contains("unknown attribute"));
        for file in *files {
            let text = fs::read_to_string(repository.path().join(file)).expect("findings");
            assert!(text.contains("unknown attribute"), "{file}: {text}");
        }
    }
}

#[test]
fn ci_examples_accept_good_catalogs_and_store_reports() {
    for scripts in puppet_scripts() {
        let repository = repository("catalogs");
        for script in scripts {
            let output = run(&script, repository.path());
            assert!(output.status.success(), "{script}\n{}", text_of(&output));
        }
        let plan = fs::read_to_string(repository.path().join("plan.html")).expect("a page");
        assert!(plan.contains("</html>"), "{plan}");
        for device in ["sw1", "lb1"] {
            let report = repository.path().join(format!("reports/{device}.json"));
            assert!(report.exists(), "{}", report.display());
        }
    }
}

#[test]
fn ci_examples_refuse_host_resources_and_store_findings() {
    for (scripts, files) in puppet_scripts().into_iter().zip(FINDINGS) {
        let repository = repository("mixed");
        let output = run(&scripts[0], repository.path());
        assert_eq!(output.status.code(), Some(1), "{}", text_of(&output));
        assert!(text_of(&output).contains("host-resource"));
        for file in *files {
            let text = fs::read_to_string(repository.path().join(file)).expect("findings");
            assert!(text.contains("host-resource"), "{file}");
        }
    }
}

/// Catalogs are compiled in both with the same commands; the real program of Puppet is tested by hand.
#[test]
fn ci_examples_compile_a_catalog_for_each_device() {
    let steps = workflow("github-puppet.yml");
    let steps = steps["jobs"]["catalogs"]["steps"].as_array();
    let steps = steps.expect("the job has steps").iter();
    let compile = steps
        .filter_map(|step| step["run"].as_str())
        .find(|run| run.contains("puppet catalog compile"));
    let compile = compile.expect("a step compiles").to_owned();
    let gitlab = workflow("gitlab-puppet.yml");
    let lines = |text: &str| -> Vec<String> {
        let lines = text.lines().map(|line| line.trim().to_owned());
        lines.filter(|line| !line.starts_with("mkdir")).collect()
    };
    let last = texts(&gitlab["compile"]["script"]).last();
    assert_eq!(lines(last.expect("a script")), lines(&compile));

    let Ok(jq) = Command::new("jq").arg("--version").output() else {
        stderr_note::print("skipped: there is no jq");
        return;
    };
    assert!(jq.status.success());
    // A program that prints its arguments takes the place of Puppet.
    let repository = repository("catalogs");
    let script = format!("puppet() {{ echo \"$*\"; }}\n{compile}");
    let output = run(&script, repository.path());
    assert!(output.status.success(), "{}", text_of(&output));
    for device in ["sw1", "lb1"] {
        let path = repository.path().join(format!("catalogs/{device}.json"));
        let text = fs::read_to_string(path).expect("a catalog");
        assert!(
            text.starts_with(&format!("catalog compile {device}.lab.test ")),
            "{text}"
        );
    }
}
