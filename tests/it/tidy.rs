//! Rules that no compiler checks: what modules must not use, how files begin, who prints.

pub(crate) mod code;
mod layers;
mod names;

use std::fs;
use std::path::{Path, PathBuf};

use test_support::stderr_note;

/// (module, what its code must not use, why)
const FORBIDDEN_USES: &[(&str, &[&str], &str)] = &[
    ("src/catalog", PURE, "a catalog is data"),
    ("src/graph", PURE, "a graph is data"),
    (
        "src/transaction",
        PURE,
        "the engine gets clock, state and provider as arguments",
    ),
    (
        "src/route",
        PURE,
        "routing is a function of catalog and models",
    ),
    ("src/validate", PURE, "validation is offline"),
    ("src/report", PURE, "reports are folds of events"),
    (
        "src/import",
        PURE,
        "the caller reads devices and writes files",
    ),
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
        "SSH lives in devices/src/session and in the mocks, and HTTP in devices/src/http",
    ),
    (
        "devices/src/session",
        &["reqwest::"],
        "HTTP lives in devices/src/http",
    ),
    (
        "src/agent",
        &["crate::device_conf", "crate::inventory"],
        "the client of a Puppet Server is independent of the devices",
    ),
];

/// What a module without I/O does not use.
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
    "clock::instant",
    "clock::timestamp",
];

/// Where printing is the job: there everything is escaped.
const MAY_PRINT: &[&str] = &["src/cli/exit.rs"];

#[test]
fn modules_use_only_what_is_below_them() {
    let mut broken = Vec::new();
    for (module, forbidden, why) in FORBIDDEN_USES {
        for (path, text) in sources(module) {
            let is_test = path.ends_with("tests.rs") || path.iter().any(|name| name == "tests");
            if is_test {
                continue;
            }
            for (number, line) in product_lines(&text) {
                if let Some(word) = forbidden.iter().find(|word| line.contains(**word)) {
                    broken.push(format!(
                        "{}:{number}: uses `{word}`, but {why}",
                        path.display()
                    ));
                }
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn module_files_begin_with_their_purpose() {
    let mut silent = Vec::new();
    for module in ["src", "devices/src", "mocks/src", "outline/src"] {
        for (path, text) in sources(module) {
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
fn printing_is_left_to_one_file() {
    let mut printing = Vec::new();
    for module in ["src", "devices/src", "mocks/src", "outline/src"] {
        for (path, text) in sources(module) {
            if MAY_PRINT.iter().any(|module| path.starts_with(module)) {
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

/// The harness hides the output of passing tests; notes on standard error are always printed.
#[test]
fn notes_of_passing_tests_are_printed() {
    let mut silent = Vec::new();
    for module in ["tests", "devices/tests", "mocks/tests"] {
        for (path, text) in sources(module) {
            let prints = |line: &str| line.trim_start().starts_with("eprintln!(");
            if text.lines().any(prints) {
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
        .args(["--ignored", "--exact", "tidy::prints_a_note"])
        .output()
        .expect("it starts again");
    assert!(harness.status.success());
    let heard = String::from_utf8_lossy(&harness.stderr);
    assert!(heard.ends_with(": skipped: nothing\n"), "{heard}");
}

#[test]
#[ignore = "notes_of_passing_tests_are_printed runs it"]
fn prints_a_note() {
    stderr_note::print("skipped: nothing");
}

/// Reads the Rust files of a folder.
pub(crate) fn for_each_source(folder: &Path, read: &mut impl FnMut(&str)) {
    let mut found = Vec::new();
    collect(folder, &mut found);
    for path in found {
        read(&fs::read_to_string(path).expect("readable source"));
    }
}

/// The Rust files of a module: the folder and the file with its name.
fn sources(module: &str) -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    collect(&root.join(module), &mut found);
    let module = root.join(format!("{module}.rs"));
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
fn product_lines_include_those_below_a_tests_declaration() {
    let text = "//! Module.\n#[cfg(test)]\nmod tests;\n// reqwest::\nuse reqwest::Url;\n\
                #[cfg(test)]\nmod tests {\n    use reqwest::Body;\n}\n";
    let found = product_lines(text).filter(|(_, line)| line.contains("reqwest::"));
    assert_eq!(found.collect::<Vec<_>>(), [(5, "use reqwest::Url;")]);
}
