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

/// The scripts of the steps that check catalogs.
fn github_scripts() -> Vec<String> {
    let workflow = workflow("github.yml");
    let steps = workflow["jobs"]["catalogs"]["steps"].as_array();
    let steps = steps.expect("the job has steps").iter();
    let of_step = |name: &str| {
        let named = steps.clone().find(|step| step["name"] == name);
        let run = named.and_then(|step| step["run"].as_str());
        run.unwrap_or_else(|| panic!("no step {name}")).to_owned()
    };
    vec![
        of_step("Check the catalogs"),
        of_step("Apply the catalogs to mocks"),
    ]
}

fn gitlab_scripts() -> Vec<String> {
    let workflow = workflow("gitlab-ci.yml");
    let stages: Vec<&str> = texts(&workflow["stages"]).collect();
    assert_eq!(stages, ["compile", "check"]);
    texts(&workflow["check"]["script"])
        .map(str::to_owned)
        .collect()
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

#[test]
fn ci_examples_accept_good_catalogs_and_store_reports() {
    for scripts in [github_scripts(), gitlab_scripts()] {
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
    for (scripts, files) in [
        (github_scripts(), &["findings.sarif"][..]),
        (
            gitlab_scripts(),
            &["gl-code-quality-report.json", "findings.xml"],
        ),
    ] {
        let repository = repository("mixed");
        let output = run(&scripts[0], repository.path());
        assert_eq!(output.status.code(), Some(1), "{}", text_of(&output));
        assert!(text_of(&output).contains("host-resource"));
        for file in files {
            let text = fs::read_to_string(repository.path().join(file)).expect("findings");
            assert!(text.contains("host-resource"), "{file}");
        }
    }
}

/// Catalogs are compiled in both with the same commands; the real program of Puppet is tested by hand.
#[test]
fn ci_examples_compile_a_catalog_for_each_device() {
    let steps = workflow("github.yml");
    let steps = steps["jobs"]["catalogs"]["steps"].as_array();
    let steps = steps.expect("the job has steps").iter();
    let compile = steps
        .filter_map(|step| step["run"].as_str())
        .find(|run| run.contains("puppet catalog compile"));
    let compile = compile.expect("a step compiles").to_owned();
    let gitlab = workflow("gitlab-ci.yml");
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
