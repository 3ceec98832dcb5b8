//! The first command and the example files of README.

use std::fs;
use std::path::Path;
use std::process::Command;

use test_support::program;

/// Runs the command of the README behind a comment, as it stands there.
fn run_command(comment: &str) -> String {
    let readme = fs::read_to_string("README.md").expect("the README is there");
    let block = readme.split(comment).nth(1).expect("the job is marked");
    let command = block
        .lines()
        .find(|line| line.starts_with("cargo run -- "))
        .expect("a command");
    let arguments = command
        .trim_start_matches("cargo run -- ")
        .split_whitespace();
    let output = program::run(&arguments.collect::<Vec<_>>());
    output.assert_code(0);
    output.stdout
}

#[test]
fn readme_first_command_runs_from_a_fresh_clone() {
    let text = run_command("<!-- main job -->");
    for device in ["sw1     changed ", "lb1     changed "] {
        assert!(text.contains(device), "{text}");
    }
}

/// The second command shows that a second run changes nothing.
#[test]
fn readme_second_command_applies_twice() {
    let text = run_command("<!-- second job -->");
    for device in ["sw1     unchanged ", "lb1     unchanged "] {
        assert!(text.contains(device), "{text}");
    }
}

/// The number of types of each platform in a folder.
fn platforms(folder: &str) -> Vec<(String, usize)> {
    let folders = fs::read_dir(folder).expect("the definitions are there");
    let mut platforms: Vec<(String, usize)> = folders
        .map(|entry| entry.expect("readable"))
        .filter(|entry| entry.path().join("platform.toml").exists())
        .map(|entry| {
            let files = fs::read_dir(entry.path()).expect("readable");
            let name = entry.file_name().into_string().expect("a name");
            (name, files.count() - 1)
        })
        .collect();
    platforms.sort_unstable();
    platforms
}

/// The README has every platform with the number of its types, and the programs with which it is tested.
#[test]
fn readme_lists_all_platforms() {
    let mut readme = fs::read_to_string("README.md").expect("the README is there");
    let updates = std::env::var_os("UPDATE_DOCS").is_some();
    for (name, types) in platforms("devices/definitions") {
        let start = format!("| `{name}` | ");
        let row = readme.lines().find(|line| line.starts_with(&start));
        let row = row
            .unwrap_or_else(|| panic!("the README has no row of {name}"))
            .to_owned();
        let cells: Vec<&str> = row.split(" | ").collect();
        assert_eq!(cells.len(), 4, "{row}");
        let tested = cells[3];
        assert!(
            tested.contains("mock ") || tested.contains("a real ") || tested.contains("the real "),
            "{row}"
        );
        for script in tested.split('`').skip(1).step_by(2) {
            assert!(Path::new(script).is_file(), "{script}");
        }
        let correct = [cells[0], cells[1], &types.to_string(), tested].join(" | ");
        readme = readme.replace(&row, &correct);
    }
    let list: Vec<String> = platforms("examples/definitions")
        .iter()
        .map(|(name, types)| format!("`{name}` {types}"))
        .collect();
    let start = "With their numbers of types:\n";
    let (before, rest) = readme.split_once(start).expect("the examples are listed");
    let (_, after) = rest.split_once(".\n").expect("the list ends");
    let mut lines = vec![String::new()];
    for item in list.join(", ").split(", ") {
        let last = lines.last_mut().expect("a line");
        if last.len() + item.len() > 145 {
            lines.push(format!("{item}, "));
        } else {
            last.push_str(&format!("{item}, "));
        }
    }
    let text: Vec<&str> = lines.iter().map(|line| line.trim_end()).collect();
    let text = text.join("\n");
    let correct = format!("{before}{start}{}.\n{after}", text.trim_end_matches(','));
    if updates {
        fs::write("README.md", &correct).expect("written");
    }
    let written = fs::read_to_string("README.md").expect("the README is there");
    assert!(
        written == correct,
        "the numbers of types in README.md are out of date: write them with UPDATE_DOCS=1"
    );
}

/// Automation and people run the same tests. A shell function named `cargo` prints its arguments.
#[test]
fn ci_run_calls_the_test_command_of_the_readme() {
    let readme = fs::read_to_string("README.md").expect("the README is there");
    let command = readme
        .split("<!-- test command -->\n```sh\n")
        .nth(1)
        .and_then(|block| block.lines().next())
        .expect("the test command is marked");
    let output = Command::new(".ci/run")
        .arg("tests")
        .env("BASH_FUNC_cargo%%", "() { echo \"called: cargo $*\"; }")
        .output()
        .expect("it starts");
    assert!(output.status.success(), "{output:?}");
    let called = String::from_utf8_lossy(&output.stdout)
        .lines()
        .filter_map(|line| line.strip_prefix("called: ").map(str::to_owned))
        .collect::<Vec<_>>();
    assert_eq!(called, [command]);
}

/// Writes the files of a page, each behind a comment with its path. Returns their number.
fn write_files(page: &str, directory: &Path) -> usize {
    let mut files = 0;
    for part in page.split("<!-- file: ").skip(1) {
        let (name, rest) = part.split_once(" -->\n```").expect("a file follows");
        let (_, rest) = rest.split_once('\n').expect("its kind");
        let (text, _) = rest.split_once("```").expect("it ends");
        let path = directory.join(name);
        fs::create_dir_all(path.parent().expect("a directory")).expect("it can be made");
        fs::write(path, text).expect("it can be written");
        files += 1;
    }
    files
}

/// The platform of the tutorial is valid, passes its tests, and is applied to its structural mock.
#[test]
fn platform_of_the_tutorial_works() {
    let page = fs::read_to_string("docs/platform-tutorial.md").expect("the page is there");
    let directory = tempfile::tempdir().expect("a directory");
    let path = |name: &str| directory.path().join(name).display().to_string();
    let definitions = path("definitions");
    let (of_definitions, of_trial): (Vec<_>, Vec<_>) = page
        .split_inclusive("\n```\n")
        .partition(|part| part.contains("fastiron/") || part.contains("models/"));
    let written = write_files(&of_definitions.concat(), Path::new(&definitions));
    assert_eq!(written, 4, "a platform, two types and a model");
    assert_eq!(write_files(&of_trial.concat(), directory.path()), 3);
    let validated = program::run(&["driver", "validate", &definitions]);
    validated.assert_code(0);
    validated.assert_contains("no findings");
    let tested = program::run(&["driver", "test", &definitions]);
    tested.assert_contains("own: 11 passed, 0 failed");
    let (running, state, inventory) = (path("running"), path("state"), path("inventory.toml"));
    let options = [
        "--state",
        &state,
        "--inventory",
        &inventory,
        "--definitions",
        &definitions,
    ];
    let planned = program::run(&[&["plan", "--running", &running][..], &options].concat());
    planned.assert_contains("port-name Uplink to spine 1");
    planned.assert_contains("ip route 10.0.0.0/8 192.0.2.2 distance 5 name core");
    let mock = ["apply", "--mock", "--mock-config", &running];
    let applied = program::run(&[&mock[..], &options].concat());
    applied.assert_code(0);
    applied.assert_contains("changed");
}

/// The type that the page about definitions makes from nothing.
#[test]
fn readme_example_of_a_user_type_works() {
    let page = fs::read_to_string("docs/definitions.md").expect("the page is there");
    let directory = tempfile::tempdir().expect("a directory");
    let files = write_files(&page, directory.path());
    assert_eq!(files, 2, "a model and how a platform says it");
    let own = directory.path().display().to_string();
    let run = |arguments: &[&str]| {
        let output = program::run(arguments);
        output.assert_code(0);
        output.stdout
    };
    let checked = run(&["driver", "validate", &own]);
    assert!(checked.ends_with("no findings\n"), "{checked}");
    let tested = run(&["driver", "test", &own]);
    let counts: Vec<&str> = tested.lines().collect();
    assert_eq!(counts[0], "own: 3 passed, 0 failed");
    assert!(
        counts[1].starts_with("built in: ") && counts[1].ends_with(" passed, 0 failed"),
        "{tested}"
    );
    let tested = run(&["driver", "test", &own, "--type", "site_spanning_tree"]);
    assert_eq!(
        tested,
        "own: 3 passed, 0 failed\nbuilt in: 0 passed, 0 failed\n"
    );
    let options = [
        "--definitions",
        &own,
        "--inventory",
        "examples/inventory.toml",
    ];
    let read = run(&[
        &["resource", "sw1", "site_spanning_tree", "--mock"],
        &options[..],
    ]
    .concat());
    assert!(read.contains("mode     => 'rapid_pvst'"), "{read}");
}
