//! The running process and its log.

use std::collections::VecDeque;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use test_support::interrupt;
use test_support::lab::Lab;
use test_support::program::{self, ProgramOutput};
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStderr, Command};

/// A limit that only a defect exceeds.
const LIMIT: Duration = Duration::from_secs(120);

/// Writes `serve.toml` and the inventory of a lab.
pub(super) fn configure(lab: &Lab, settings: &str) {
    lab.write_inventory();
    let own = "listen = \"127.0.0.1:0\"\nstate_dir = \"state\"\nstore = \"history.db\"\n";
    // The process must not read half a file.
    let new = lab.path("serve.toml.new");
    std::fs::write(&new, format!("{own}{settings}")).unwrap();
    std::fs::rename(new, lab.path("serve.toml")).unwrap();
}

pub(super) async fn within_limit<T>(what: &str, work: impl Future<Output = T>) -> T {
    let ended = tokio::time::timeout(LIMIT, work).await;
    ended.unwrap_or_else(|_| panic!("no end: {what}"))
}

/// Runs a command in the directory of a lab to its end.
pub(super) async fn run(lab: &Lab, arguments: &[&str]) -> ProgramOutput {
    let output = command(lab, arguments).output().await.unwrap();
    let output = ProgramOutput::from(output);
    output.assert_no_secrets();
    output.assert_printable();
    output
}

fn command(lab: &Lab, arguments: &[&str]) -> Command {
    command_of(&program::path(), lab, arguments)
}

fn command_of(program: &Path, lab: &Lab, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .envs(&lab.environment)
        // Help is as wide as without a terminal.
        .env_remove("COLUMNS")
        .env_remove("SSH_AUTH_SOCK")
        .env_remove("SWITCHTENDER_STATE")
        .env("HOME", lab.path(""))
        .current_dir(lab.path(""))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    command
}

/// `switchtender serve -v`.
pub(super) struct ServeProcess {
    pub(super) child: Child,
    log: Lines<BufReader<ChildStderr>>,
    printed: String,
    /// Stored runs that no test has waited for yet: device, status and number.
    stored: VecDeque<(String, String, i64)>,
}

impl ServeProcess {
    /// Starts the process and waits until it is ready.
    pub(super) async fn start(lab: &Lab, environment: &[(&str, &str)]) -> Self {
        let mut command = command(lab, &["serve", "-v"]);
        command.envs(environment.iter().copied());
        Self::of(command).await
    }

    /// Starts a program of another protocol. It is not ready yet.
    pub(super) fn of_program(
        (program, arguments): (&Path, &[&str]),
        lab: &Lab,
        environment: &[(&str, &str)],
    ) -> Self {
        let mut all = vec!["serve", "-v"];
        all.extend(arguments);
        let mut command = command_of(program, lab, &all);
        command.envs(environment.iter().copied());
        Self::spawn(command)
    }

    pub(super) async fn demo(lab: &Lab) -> Self {
        Self::of(command(lab, &["serve", "-v", "--demo"])).await
    }

    async fn of(command: Command) -> Self {
        let mut process = Self::spawn(command);
        process.line("serving ").await;
        process
    }

    fn spawn(mut command: Command) -> Self {
        let mut child = command.spawn().unwrap();
        let log = BufReader::new(child.stderr.take().unwrap()).lines();
        Self {
            child,
            log,
            printed: String::new(),
            stored: VecDeque::new(),
        }
    }

    /// The address of the pages, from the first message.
    pub(super) fn url(&self) -> String {
        let rest = self.printed.split("pages http://").nth(1);
        let address = rest.and_then(|rest| rest.split_whitespace().next());
        format!(
            "http://{}",
            address.expect("the process prints its address")
        )
    }

    pub(super) fn id(&self) -> u32 {
        self.child.id().expect("it runs")
    }

    /// Waits for a line with a text.
    pub(super) async fn line(&mut self, text: &str) -> String {
        within_limit(text, async {
            loop {
                let line = self.next().await;
                let line = line.unwrap_or_else(|| panic!("no `{text}`: {}", self.printed));
                if line.contains(text) {
                    return line;
                }
            }
        })
        .await
    }

    /// Waits until a run of a device with this status is stored. Returns its number.
    pub(super) async fn stored(&mut self, device: &str, status: &str) -> i64 {
        let what = format!("{device} {status}");
        within_limit(&what, async {
            loop {
                let is_it = |one: &(String, String, i64)| one.0 == device && one.1 == status;
                if let Some(at) = self.stored.iter().position(is_it) {
                    return self.stored.remove(at).unwrap().2;
                }
                let line = self.next().await;
                assert!(line.is_some(), "no run `{what}`: {}", self.printed);
            }
        })
        .await
    }

    /// The next line. Runs in it are remembered.
    async fn next(&mut self) -> Option<String> {
        let line = self.log.next_line().await.unwrap()?;
        self.printed.push_str(&line);
        self.printed.push('\n');
        self.stored.extend(stored_run(&line));
        Some(line)
    }

    /// The next stored run: device, status and number.
    pub(super) async fn next_stored(&mut self) -> (String, String, i64) {
        within_limit("a stored run", async {
            loop {
                if let Some(run) = self.stored.pop_front() {
                    return run;
                }
                let line = self.next().await;
                assert!(line.is_some(), "no run: {}", self.printed);
            }
        })
        .await
    }

    /// Stops the process in order. Returns what it printed.
    pub(super) async fn stop(mut self) -> String {
        interrupt::send(self.id(), "-TERM");
        within_limit("the end of the process", async {
            while self.next().await.is_some() {}
            let status = self.child.wait().await.unwrap();
            assert_eq!(status.code(), Some(0), "{}", self.printed);
        })
        .await;
        assert!(!self.printed.contains(program::PLANTED), "{}", self.printed);
        self.printed
    }

    /// Kills the process, and reads the rest of its log. Returns the runs that it had stored.
    pub(super) async fn kill(mut self) -> Vec<(String, String, i64)> {
        self.child.kill().await.unwrap();
        within_limit("the rest of the log", async {
            while self.next().await.is_some() {}
        })
        .await;
        self.stored.into()
    }
}

/// The run in a line of the log, such as `device{name="sw1"}: the run is stored run=7 status=changed`.
fn stored_run(line: &str) -> Option<(String, String, i64)> {
    let (before, after) = line.split_once("the run is stored run=")?;
    let device = before.split_once("name=\"")?.1.split_once('"')?.0;
    let (number, status) = after.split_once(" status=")?;
    Some((device.to_owned(), status.to_owned(), number.parse().ok()?))
}
