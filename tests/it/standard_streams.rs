//! Standard streams that are closed or full: a message, an exit code, and the files of the run.

use std::fs::File;
use std::process::{Command, Output, Stdio};

use switchtender_mocks::puppet_server::PuppetServer;
use test_support::catalog::vlan;
use test_support::device_host::{DeviceHost, name};
use test_support::lab::Lab;
use test_support::program;

fn full() -> Stdio {
    let device = File::options().write(true).open("/dev/full");
    device.expect("Linux has /dev/full").into()
}

/// The command with standard output closed.
fn closed_output(command: &Command) -> Command {
    let mut shell = Command::new("sh");
    shell
        .args(["-c", "exec \"$0\" \"$@\" >&-"])
        .arg(command.get_program())
        .args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    if let Some(dir) = command.get_current_dir() {
        shell.current_dir(dir);
    }
    shell.stdin(Stdio::null()).stderr(Stdio::piped());
    shell
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn full_standard_error_keeps_the_exit_code() {
    let mut failing = program::switchtender(&["explain", "no-such-code"]);
    let output = failing.stderr(full()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    // The log writes, too.
    let mut logging = program::switchtender(&["explain", "host-resource"]);
    logging.env("SWITCHTENDER_LOG", "switchtender=loud");
    let output = logging.stderr(full()).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&output.stdout).contains("host-resource"));
}

#[test]
fn full_standard_output_is_an_error() {
    for arguments in [
        &["explain", "host-resource"] as &[&str],
        &["completions", "bash"],
        &["type"],
    ] {
        let mut command = program::switchtender(arguments);
        let output = command.stdout(full()).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        assert_eq!(
            stderr(&output),
            "error: cannot write the complete output: No space left on device (os error 28)\n",
            "{arguments:?}"
        );
    }
}

#[test]
fn closed_standard_output_is_a_warning() {
    let command = program::switchtender(&["explain", "host-resource"]);
    let output = closed_output(&command).output().unwrap();
    let lost = "warning: standard output is closed or the null device: its text is lost\n";
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(stderr(&output), lost);
    // The null device of a supervisor cannot be told from a closed stream; that of a shell can.
    for (reads, notice) in [(false, ""), (true, lost)] {
        let mut discarded = program::switchtender(&["explain", "host-resource"]);
        let null = File::options().read(reads).write(true).open("/dev/null");
        let output = discarded.stdout(null.unwrap()).output().unwrap();
        assert_eq!(
            (output.status.code(), stderr(&output).as_str()),
            (Some(0), notice),
            "{reads}"
        );
    }
}

/// A run completes the device, its state and its report, whatever happens to its output.
#[tokio::test(flavor = "multi_thread")]
async fn run_without_usable_streams_is_complete() {
    type Change = fn(Command) -> Command;
    let cases: [(&str, Change, i32, &str); 3] = [
        (
            "full output",
            |mut command| {
                command.stdout(full());
                command
            },
            1,
            "cannot write the complete output",
        ),
        (
            "full error output",
            |mut command| {
                command.stderr(full());
                command
            },
            2,
            "",
        ),
        (
            "closed output",
            |command| closed_output(&command),
            2,
            "standard output is closed",
        ),
    ];
    for (case, change, code, message) in cases {
        let mut lab = Lab::new();
        lab.add_switch("sw1", &[]).await;
        lab.write_resources("sw1", &[vlan(40, "guests")]);
        let mut command = change(lab.blocking_command(&["apply", "--detailed-exitcodes"]));
        let output = tokio::task::spawn_blocking(move || command.output());
        let output = output.await.unwrap().unwrap();
        assert_eq!(
            output.status.code(),
            Some(code),
            "{case}: {}",
            stderr(&output)
        );
        assert!(
            stderr(&output).contains(message),
            "{case}: {}",
            stderr(&output)
        );
        let lines = lab.log("sw1").configuration_lines();
        assert!(lines.contains(&"vlan 40".to_owned()), "{case}: {lines:?}");
        assert_eq!(lab.report("sw1")["status"], "changed", "{case}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn transcript_and_log_on_a_full_disk_are_reported() {
    let host = DeviceHost::with_server(PuppetServer::start().await, 1, &[]).await;
    let file = format!("{}.conf", name(1));
    let mut credentials: serde_json::Value = serde_json::from_str(&host.file(&file)).unwrap();
    credentials["ssh_logging"] = true.into();
    credentials["ssh_log_file"] = "/dev/full".into();
    host.write(&file, &credentials.to_string(), 0o640);
    let (code, text) = host
        .run(&[
            "--verbose",
            "--logdest",
            "/dev/full",
            "--detailed-exitcodes",
        ])
        .await;
    assert_eq!(code, 2, "{text}");
    for expected in [
        "the transcript is incomplete: cannot write /dev/full: No space left on device",
        "warning: cannot write all messages to /dev/full: No space left on device",
    ] {
        assert_eq!(text.matches(expected).count(), 1, "{text}");
    }
    assert_eq!(host.report(&name(1))["status"], "changed");
}
