//! Standard output that is open and not read: signals end the run with its report.

use std::io::{PipeReader, PipeWriter, Write as _};
use std::time::Duration;

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, BufReader};

use super::interrupt::wait_for_line;
use test_support::catalog::{resource, vlan};
use test_support::interrupt::{FIRST_NOTICE, SECOND_NOTICE, interrupt, send};
use test_support::lab::Lab;

/// A pipe whose next write blocks until somebody reads.
pub(super) fn full_pipe() -> (PipeReader, PipeWriter) {
    let (reader, mut writer) = std::io::pipe().unwrap();
    let flags = fcntl_getfl(&writer).unwrap();
    fcntl_setfl(&writer, flags | OFlags::NONBLOCK).unwrap();
    while writer.write(b"x").is_ok() {}
    fcntl_setfl(&writer, flags).unwrap();
    (reader, writer)
}

/// A switch, and a catalog with more messages than the program queues.
async fn talkative_lab() -> Lab {
    let mut lab = Lab::new();
    lab.add_switch("sw1", &[]).await;
    let notice = |number: usize| resource("Notify", &format!("n{number}"), json!({}));
    let notices: Vec<_> = (0..5000).map(notice).collect();
    lab.write_resources("sw1", &notices);
    lab
}

#[tokio::test(flavor = "multi_thread")]
async fn blocked_output_does_not_delay_signals() {
    for output in ["human", "json"] {
        let lab = talkative_lab().await;
        let mut command = lab.command(&["apply", "--output", output, "--report", "reports"]);
        let (_unread, writer) = full_pipe();
        command.env("TOKIO_WORKER_THREADS", "1").stdout(writer);
        let mut child = command.spawn().unwrap();
        wait_for_line(&lab, "show version").await;
        let mut notices = BufReader::new(child.stderr.take().unwrap()).lines();
        interrupt(&child, "-INT", &mut notices, FIRST_NOTICE).await;
        interrupt(&child, "-INT", &mut notices, SECOND_NOTICE).await;
        let status = tokio::time::timeout(Duration::from_secs(60), child.wait()).await;
        assert_eq!(status.expect("it ends").unwrap().code(), Some(1));
        let mut last = None;
        while let Some(line) = notices.next_line().await.unwrap() {
            last = Some(line);
        }
        assert_eq!(
            last.as_deref(),
            Some("warning: the output is incomplete: standard output was blocked")
        );
        let [(_, report)] = &lab.files("reports")[..] else {
            panic!("{output}: one report for one device");
        };
        let report: serde_json::Value = serde_json::from_str(report).unwrap();
        assert_eq!(report["status"], "failed", "{output}");
    }
}

/// Without a stream for notices, each signal is handled.
#[tokio::test(flavor = "multi_thread")]
async fn signals_end_a_run_whose_streams_are_blocked() {
    let lab = talkative_lab().await;
    let mut command = lab.command(&["apply"]);
    let (_unread, writer) = full_pipe();
    let (_unread_too, errors) = full_pipe();
    command.stdout(writer).stderr(errors);
    let mut child = command.spawn().unwrap();
    wait_for_line(&lab, "show version").await;
    let ended = async {
        loop {
            send(child.id().unwrap(), "-INT");
            let pause = Duration::from_millis(100);
            if let Ok(status) = tokio::time::timeout(pause, child.wait()).await {
                return status.unwrap();
            }
        }
    };
    let status = tokio::time::timeout(Duration::from_secs(60), ended).await;
    let code = status.expect("signals end it").code();
    assert!(matches!(code, Some(1 | 130)), "{code:?}");
}

/// More log lines than a pipe takes, and nobody reads them.
#[tokio::test(flavor = "multi_thread")]
async fn unread_log_lines_delay_no_run() {
    let mut lab = Lab::new();
    lab.add_switch("sw1", &[]).await;
    lab.write_resources("sw1", &[vlan(40, "guests")]);
    let mut command = lab.command(&["apply", "-vvv", "--report", "reports"]);
    let (_unread, errors) = full_pipe();
    command.env("TOKIO_WORKER_THREADS", "1").stderr(errors);
    let output = tokio::time::timeout(Duration::from_secs(60), command.output()).await;
    let output = output.expect("it ends").unwrap();
    assert_eq!(output.status.code(), Some(0));
    let lines = lab.log("sw1").configuration_lines();
    assert_eq!(lines, ["vlan 40", "name guests"]);
    assert_eq!(lab.files("reports").len(), 1);
}
