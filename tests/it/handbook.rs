//! README and the pages of the handbook: their examples run in the order of the page, against mock devices, and every
//! page is in the index. The mocks of a page are named by its comments.
//!
//! * `<!-- switch NAME ADDRESS [FAULT] -->` starts a mock switch. The page has the address of a real device: in commands
//!   and files it stands for the mock, in outputs for the address of the mock.
//! * `<!-- file PATH -->` before a block: the block is written to this file.
//! * `<!-- append PATH -->` before a block: the same at the end of the file.
//! * `<!-- copy FILE PATH -->` copies a file of the repository.
//! * A block `console` has commands after `$ ` and the output with `[..]` and `...`.
//! * `<!-- exit CODE… -->` before a block has the exit codes of its commands; those that are left out are 0.
//! * A block `sh` with `ssh-keyscan` adds the keys of the mocks to the known hosts.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use switchtender_mocks::{CliSwitch, Fault, RunningSwitch, SwitchOptions};
use tempfile::TempDir;
use tokio::process::Command;

use test_support::program;

/// Pages with examples that run here. `desired_state.rs` and `ci_examples.rs` run those of other pages.
const PAGES: [&str; 10] = [
    "README.md",
    "docs/validation.md",
    "docs/migrating-from-puppet-device.md",
    "docs/first-device.md",
    "docs/import.md",
    "docs/coverage.md",
    "docs/protected-changes.md",
    "docs/ci.md",
    "docs/security.md",
    "docs/troubleshooting.md",
];

/// The configuration of the mock switches before a page.
const CONFIG: &str = "\
hostname {name}
archive
 path flash:before
vlan 10
 name users
vlan 20
 name voice
interface GigabitEthernet1/0/1
 description desk 1
 switchport mode access
 switchport access vlan 10
 no shutdown
interface GigabitEthernet1/0/2
 shutdown
ntp server 192.0.2.10
";

/// Passwords of the mocks: words that no output has for another reason.
const PASSWORD: &str = "lab-login";
const ENABLE: &str = "lab-enable";

/// The longest protected change that a page shows: the timer of the device ends at once.
const TIMER: Duration = Duration::from_secs(300);

/// The home directory in outputs, and the directory of a Puppet agent.
const HOME: &str = "/home/ops";
const PUPPET: &str = "/opt/puppetlabs";

struct Site {
    directory: TempDir,
    switches: Vec<(String, RunningSwitch)>,
}

impl Site {
    async fn new(page: &str) -> Self {
        let mut switches = Vec::new();
        for line in page.lines() {
            let Some(comment) = comment(line, "switch") else {
                continue;
            };
            let mut words = comment.splitn(3, ' ');
            let (name, address) = (words.next().unwrap(), words.next().unwrap());
            let options = SwitchOptions {
                name: name.to_owned(),
                hostname: name.to_owned(),
                password: PASSWORD.to_owned(),
                enable_password: Some(ENABLE.to_owned()),
                config: Some(CONFIG.replace("{name}", name)),
                faults: words.map(|fault| fault.parse::<Fault>().unwrap()).collect(),
                ..SwitchOptions::default()
            };
            let switch = CliSwitch::start(options, 0).await.unwrap();
            switches.push((address.to_owned(), switch));
        }
        let directory = TempDir::new().unwrap();
        let examples = fs::canonicalize("examples").unwrap();
        std::os::unix::fs::symlink(examples, directory.path().join("examples")).unwrap();
        Self {
            directory,
            switches,
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// The inventory with the addresses of the mocks.
    fn redirect(&self) {
        let Ok(mut text) = fs::read_to_string(self.path("inventory.toml")) else {
            return;
        };
        for (address, switch) in &self.switches {
            let mock = format!("\"127.0.0.1\"\nport = {}\n#", switch.address().port());
            text = text.replace(&format!("\"{address}\""), &mock);
        }
        fs::write(self.path("inventory.toml"), text).unwrap();
    }

    /// Adds the host keys of the mocks to the known hosts of the user.
    fn know_hosts(&self) {
        let mut text = String::new();
        for (_, switch) in &self.switches {
            let key = switch.host_key().public_key;
            let _ = writeln!(text, "[127.0.0.1]:{} {key}", switch.address().port());
        }
        self.write(".ssh/known_hosts", &text);
    }

    /// Runs a command of the page: its output, after the exit code if that is another one.
    async fn run(&self, command: &str, expected_code: i32) -> String {
        self.redirect();
        let directory = self.directory.path().display();
        let mut script = command.replace(PUPPET, &format!("{directory}{PUPPET}"));
        for (address, switch) in &self.switches {
            script = script.replace(address, &switch.address().to_string());
        }
        let programs = program::path().parent().unwrap().to_owned();
        let path = std::env::var("PATH").unwrap();
        let mut process = Command::new("bash");
        process
            .args(["-c", &format!("exec 2>&1; {script}")])
            .current_dir(self.directory.path())
            .env("PATH", format!("{}:{path}", programs.display()))
            .env("HOME", self.directory.path())
            .env("SWITCHTENDER_STATE", self.path(".local/state/switchtender"))
            .env("DEVICE_PASSWORD", PASSWORD)
            .env("ENABLE_PASSWORD", ENABLE)
            .env_remove("COLUMNS")
            .env_remove("SSH_AUTH_SOCK")
            .kill_on_drop(true);
        let run = process.output();
        // The timer of a device ends after the first attempt to connect again.
        let refused = async {
            match self.switches.first() {
                Some((_, switch)) => switch.wait_for_refused_connection().await,
                None => std::future::pending().await,
            }
        };
        tokio::pin!(run, refused);
        let output = tokio::select! {
            output = &mut run => output,
            () = refused => {
                self.switches[0].1.advance_clock(TIMER);
                run.await
            }
        }
        .unwrap();
        let mut text = match output.status.code() {
            Some(code) if code == expected_code => String::new(),
            code => format!("exit code {}\n", code.unwrap()),
        };
        text.push_str(&String::from_utf8(output.stdout).unwrap());
        self.documented(text)
    }

    /// The text with the addresses of the page.
    fn documented(&self, mut text: String) -> String {
        for (address, switch) in &self.switches {
            let port = switch.address().port();
            for mock in [
                format!("[127.0.0.1]:{port}"),
                format!("127.0.0.1:{port}"),
                format!("-p {port} 127.0.0.1"),
            ] {
                text = text.replace(&mock, address);
            }
        }
        let directory = self.directory.path().display();
        text.replace(&format!("{directory}{PUPPET}"), PUPPET)
            .replace(&directory.to_string(), HOME)
    }
}

/// The words of a comment `<!-- WORD … -->`.
fn comment<'a>(line: &'a str, word: &str) -> Option<&'a str> {
    let inner = line.strip_prefix("<!-- ")?.strip_suffix(" -->")?;
    inner.strip_prefix(word)?.strip_prefix(' ')
}

/// Runs a page and returns it as it should be: with what the commands printed, where that does not match the page.
async fn run(page: &str) -> String {
    let site = Site::new(page).await;
    let mut actual = String::new();
    let mut lines = page.lines();
    let mut file = None;
    let mut codes = Vec::new();
    while let Some(line) = lines.next() {
        actual.push_str(line);
        actual.push('\n');
        if let Some(name) = comment(line, "file") {
            file = Some((name, false));
        } else if let Some(words) = comment(line, "exit") {
            codes = words.split(' ').map(|code| code.parse().unwrap()).collect();
        } else if let Some(name) = comment(line, "append") {
            file = Some((name, true));
        } else if let Some((from, to)) = comment(line, "copy").and_then(|copy| copy.split_once(' '))
        {
            site.write(to, &fs::read_to_string(from).unwrap());
        }
        let Some(language) = line.strip_prefix("```") else {
            continue;
        };
        let block: String = lines
            .by_ref()
            .take_while(|line| *line != "```")
            .fold(String::new(), |block, line| block + line + "\n");
        if let Some((name, append)) = file.take() {
            let before = append.then(|| fs::read_to_string(site.path(name)).unwrap());
            site.write(name, &(before.unwrap_or_default() + &block));
        }
        match language {
            "console" => {
                let codes = std::mem::take(&mut codes).into_iter();
                let codes = codes.chain(std::iter::repeat(0));
                for ((command, expected), code) in steps(&block).into_iter().zip(codes) {
                    let printed = site.run(command, code).await;
                    let _ = writeln!(actual, "$ {command}");
                    let is_expected = matches(&printed, &expected);
                    actual.push_str(if is_expected { &expected } else { &printed });
                }
            }
            _ => {
                if block.contains("ssh-keyscan") {
                    site.know_hosts();
                }
                actual.push_str(&block);
            }
        }
        actual.push_str("```\n");
    }
    actual
}

/// The commands of a block, each with the output that follows.
fn steps(block: &str) -> Vec<(&str, String)> {
    let mut steps: Vec<(&str, String)> = Vec::new();
    for line in block.lines() {
        if let Some(command) = line.strip_prefix("$ ") {
            steps.push((command, String::new()));
        } else {
            let (_, output) = steps.last_mut().expect("a block begins with `$ `");
            output.push_str(line);
            output.push('\n');
        }
    }
    steps
}

fn matches(actual: &str, expected: &str) -> bool {
    let expected = snapbox::Data::text(expected.trim_end().to_owned());
    let actual = snapbox::Data::text(actual.trim_end().to_owned());
    snapbox::Assert::new()
        .action(snapbox::assert::Action::Verify)
        .try_eq(None, actual, expected)
        .is_ok()
}

#[tokio::test(flavor = "multi_thread")]
async fn handbook_examples_print_the_documented_output() {
    let mut differing = Vec::new();
    for name in PAGES {
        let page = fs::read_to_string(name).unwrap();
        assert!(page.contains("```console\n$ "), "{name} has no example");
        let actual = run(&page).await;
        if actual != page {
            if std::env::var_os("UPDATE_DOCS").is_some() {
                fs::write(name, &actual).unwrap();
            }
            differing.push(similar(&page, &actual));
        }
    }
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}

/// Every page below `docs`, relative to it.
fn pages() -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    let mut open = vec![PathBuf::from("docs")];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                found.insert(path.strip_prefix("docs").unwrap().to_owned());
            }
        }
    }
    found
}

/// The targets of the links of a page that are files.
fn links(text: &str) -> impl Iterator<Item = &str> {
    let targets = text.split("](").skip(1);
    let targets = targets.filter_map(|rest| rest.split([')', '#']).next());
    targets.filter(|target| !target.is_empty() && !target.contains("://"))
}

#[test]
fn handbook_index_has_every_page_once() {
    let index = fs::read_to_string("docs/README.md").unwrap();
    let mut expected = pages();
    assert!(expected.remove(Path::new("README.md")));
    let pages = links(&index).filter(|target| target.ends_with(".md"));
    let listed: Vec<PathBuf> = pages.map(PathBuf::from).collect();
    let listed_once: BTreeSet<PathBuf> = listed.iter().cloned().collect();
    assert_eq!(listed.len(), listed_once.len(), "a page is listed twice");
    assert_eq!(listed_once, expected);
}

#[test]
fn handbook_links_lead_to_files() {
    let mut count = 0;
    let types = fs::read_to_string("docs/reference/types.md").unwrap();
    // `packages/handbook.sh` makes a page of each type of the index, and checks the links of all pages.
    let is_type = |target: &str| {
        let name = target
            .strip_prefix("types/")
            .and_then(|name| name.strip_suffix(".md"));
        name.is_some_and(|name| types.contains(&format!("| [`{name}`](")))
    };
    for page in pages() {
        let path = Path::new("docs").join(&page);
        let text = fs::read_to_string(&path).unwrap();
        // Patterns and code contain the same characters.
        let prose = text.split("```").step_by(2);
        for target in prose.flat_map(links).filter(|target| target.contains('.')) {
            let target_path = path.parent().unwrap().join(target);
            let exists = target_path.exists() || is_type(target);
            assert!(exists, "{}: {target}", page.display());
            count += 1;
        }
    }
    assert!(count > 30, "{count}");
}

#[test]
fn handbook_glossary_is_short() {
    let glossary = fs::read_to_string("docs/glossary.md").unwrap();
    let terms = glossary.matches("**").count() / 2;
    assert!((10..=40).contains(&terms), "{terms} terms");
}

/// The lines of two texts that differ.
fn similar(page: &str, actual: &str) -> String {
    let lines = |text: &str| -> BTreeSet<String> { text.lines().map(str::to_owned).collect() };
    let (page, actual) = (lines(page), lines(actual));
    let removed = page.difference(&actual).map(|line| format!("- {line}\n"));
    let added = actual.difference(&page).map(|line| format!("+ {line}\n"));
    removed.chain(added).collect()
}
