//! House rules that no compiler checks: which room may know what, and how files begin.

pub mod code;
mod names;

use std::fs;
use std::path::{Path, PathBuf};

use test_support::stderr_note;

/// (room, what its code must not name, why)
const MUST_NOT_KNOW: &[(&str, &[&str], &str)] = &[
    ("src/catalog", PURE, "a catalog is data"),
    ("src/graph", PURE, "a graph is data"),
    (
        "src/transaction",
        PURE,
        "the engine is given its clock, its state and its provider",
    ),
    (
        "src/route",
        PURE,
        "routing is a function of catalog and models",
    ),
    ("src/validate", PURE, "validation is offline"),
    ("src/report", PURE, "reports are folds of events"),
    ("devices/src/model", PURE, "models are data"),
    (
        "devices/src/driver",
        PURE,
        "drivers are functions from data to data",
    ),
    ("devices/src/read", PURE, "reading is parsing"),
    (
        "devices/src/dialogue",
        PURE,
        "the dialogue engine maps bytes to actions",
    ),
    (
        "src",
        &["russh::", "reqwest::"],
        "SSH lives in devices/src/session and in the mocks, and the agent's HTTP in one room",
    ),
    (
        "src/agent",
        &[
            "crate::cli",
            "crate::device_conf",
            "crate::fleet",
            "crate::inventory",
            "crate::transaction",
            "crate::report",
        ],
        "the client of a Puppet Server knows nothing of what is applied",
    ),
    (
        "src/device_conf",
        &[
            "crate::agent",
            "crate::cli",
            "crate::fleet",
            "crate::transaction",
        ],
        "dependencies point one way",
    ),
    ("src/fleet", &["crate::cli"], "dependencies point one way"),
    (
        "src/store",
        &["crate::cli", "crate::fleet", "crate::transaction"],
        "dependencies point one way",
    ),
    (
        "src/inventory",
        &[
            "crate::cli",
            "crate::fleet",
            "crate::transaction",
            "crate::validate",
        ],
        "dependencies point one way",
    ),
    (
        "src/transaction",
        &[
            "crate::cli",
            "crate::fleet",
            "crate::report",
            "crate::store",
        ],
        "dependencies point one way",
    ),
    (
        "src/graph",
        &["crate::transaction", "crate::report", "crate::fleet"],
        "dependencies point one way",
    ),
    (
        "src/catalog",
        &["crate::graph", "crate::transaction", "crate::fleet"],
        "dependencies point one way",
    ),
];

/// What a room without I/O does not name.
const PURE: &[&str] = &[
    "std::fs",
    "std::net::Tcp",
    "std::net::Udp",
    "std::net::ToSocketAddrs",
    "std::process",
    "tokio::net",
    "tokio::fs",
    "tokio::time",
    "tokio::process",
    "russh::",
    "reqwest::",
    "SystemTime::now",
    "Instant::now",
    "Timestamp::now",
    "Zoned::now",
];

/// (room, what it may name all the same, why)
const EXCEPT: &[(&str, &str, &str)] = &[(
    "src/agent/http",
    "reqwest::",
    "the Puppet Server client has TLS identities of its own, and one room knows the library",
)];

/// Where printing is the job.
const MAY_PRINT: &[&str] = &["src/cli"];

#[test]
fn no_room_knows_what_it_must_not_know() {
    let mut broken = Vec::new();
    for (room, forbidden, why) in MUST_NOT_KNOW {
        for (path, text) in sources(room) {
            if path.ends_with("tests.rs") {
                continue;
            }
            let allowed = |word: &str| {
                EXCEPT
                    .iter()
                    .any(|(room, except, _)| is_in(&path, room) && *except == word)
            };
            for (number, line) in product_lines(&text) {
                if let Some(word) = forbidden
                    .iter()
                    .find(|word| line.contains(**word) && !allowed(word))
                {
                    broken.push(format!(
                        "{}:{number}: names `{word}`, but {why}",
                        path.display()
                    ));
                }
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn every_module_says_what_it_is_responsible_for() {
    let mut silent = Vec::new();
    for room in ["src", "devices/src", "mocks/src"] {
        for (path, text) in sources(room) {
            if !text.starts_with("//! ") {
                silent.push(path.display().to_string());
            }
        }
    }
    assert!(
        silent.is_empty(),
        "these begin without `//! `: {}",
        silent.join(", ")
    );
}

#[test]
fn only_the_command_line_prints() {
    let mut printing = Vec::new();
    for room in ["src", "devices/src", "mocks/src"] {
        for (path, text) in sources(room) {
            if MAY_PRINT.iter().any(|room| path.starts_with(room)) {
                continue;
            }
            for (number, line) in product_lines(&text) {
                if ["println!(", "eprintln!(", "print!(", "dbg!("]
                    .iter()
                    .any(|word| line.contains(word))
                {
                    printing.push(format!("{}:{number}: {}", path.display(), line.trim()));
                }
            }
        }
    }
    assert!(printing.is_empty(), "{}", printing.join("\n"));
}

/// Whether a file is one of a room's.
fn is_in(path: &Path, room: &str) -> bool {
    path.starts_with(room) || path.with_extension("") == Path::new(room)
}

/// What a test prints is shown only when it fails; what it says aloud is always heard.
#[test]
fn what_a_passing_test_says_is_heard() {
    let mut silent = Vec::new();
    for room in ["tests", "devices/tests", "mocks/tests"] {
        for (path, text) in sources(room) {
            let said = |line: &str| line.trim_start().starts_with("eprintln!(");
            if text.lines().any(said) {
                silent.push(path.display().to_string());
            }
        }
    }
    assert!(
        silent.is_empty(),
        "use `test_support::stderr_note`: {}",
        silent.join(", ")
    );
    let harness = std::process::Command::new(std::env::current_exe().expect("a test is a program"))
        .args(["--ignored", "--exact", "tidy::one_that_says_something"])
        .output()
        .expect("it starts again");
    assert!(harness.status.success());
    let heard = String::from_utf8_lossy(&harness.stderr);
    assert!(heard.ends_with(": skipped: nothing\n"), "{heard}");
}

#[test]
#[ignore = "what_a_passing_test_says_is_heard runs it"]
fn one_that_says_something() {
    stderr_note::print("skipped: nothing");
}

/// Reads the Rust files of a folder.
pub fn for_each_source(folder: &Path, read: &mut impl FnMut(&str)) {
    let mut found = Vec::new();
    collect(folder, &mut found);
    for path in found {
        read(&fs::read_to_string(path).expect("readable source"));
    }
}

/// The Rust files of a module: the folder and the file beside it.
fn sources(room: &str) -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    collect(&root.join(room), &mut found);
    let module = root.join(format!("{room}.rs"));
    if module.is_file() {
        found.push(module);
    }
    found.sort();
    found
        .into_iter()
        .map(|path| {
            let text = fs::read_to_string(&path).expect("readable source");
            (
                path.strip_prefix(root)
                    .expect("inside the project")
                    .to_owned(),
                text,
            )
        })
        .collect()
}

fn collect(dir: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(dir) else {
        return;
    };
    for entry in entries {
        let path = entry.expect("readable directory").path();
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The numbered lines before the file's own tests, comments left out. Tests in a file of their own
/// (`mod tests;`) end nothing: what stands below their name is product.
fn product_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines()
        .enumerate()
        .map(|(index, line)| (index + 1, line))
        .take_while(|(_, line)| !line.starts_with("mod tests {"))
        .filter(|(_, line)| !line.trim_start().starts_with("//"))
}

#[test]
fn what_stands_below_the_name_of_the_tests_is_product_too() {
    let text = "//! Room.\n#[cfg(test)]\nmod tests;\n// reqwest::\nuse reqwest::Url;\n\
                #[cfg(test)]\nmod tests {\n    use reqwest::Body;\n}\n";
    let found = product_lines(text).filter(|(_, line)| line.contains("reqwest::"));
    assert_eq!(found.collect::<Vec<_>>(), [(5, "use reqwest::Url;")]);
}
