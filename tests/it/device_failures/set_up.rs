//! Signals and `--runtimeout` while a certificate is set up: the run ends with its report.

use std::future::Future;
use std::time::Duration;

use tokio::net::TcpListener;

use super::*;
use test_support::interrupt::send;

/// Longer than any test.
const FOREVER: Duration = Duration::from_secs(24 * 3600);

/// Waits until a condition is true.
async fn until(condition: impl Fn() -> bool) {
    while !condition() {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// Runs the device, sends it a signal when `reached` ends, and checks the end of the run.
async fn stopped_when(host: &DeviceHost, arguments: &[&str], reached: impl Future) {
    let run = host.command(arguments).spawn().unwrap();
    let process = run.id().unwrap();
    let limit = Duration::from_secs(60);
    tokio::time::timeout(limit, reached)
        .await
        .expect("the program gets there");
    send(process, "-TERM");
    let ended = tokio::time::timeout(limit, run.wait_with_output());
    let (code, text) = outcome(&ended.await.expect("one signal ends it").unwrap());
    assert_stopped(host, code, &text);
}

fn assert_stopped(host: &DeviceHost, code: i32, text: &str) {
    assert_eq!(code, 1, "{text}");
    let message = "Cancelling startup: the run was stopped before the catalog was applied";
    assert!(text.contains(message), "{text}");
    let report = host.file("var/devices/sw1.lab.test/state/last_run_report.json");
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["status"], "failed", "{text}");
    let spooled = host.path("var/devices/sw1.lab.test/spool/000000000000.json");
    assert!(spooled.exists(), "the report waits for the server: {text}");
    assert_eq!(host.switches[0].log().connections(), 0, "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn signal_ends_the_wait_for_a_handshake() {
    let host = DeviceHost::new(1).await;
    let silent = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let port = format!("--serverport={}", silent.local_addr().unwrap().port());
    // The connection stays open without an answer.
    let mut connection = None;
    stopped_when(&host, &["--detailed-exitcodes", &port], async {
        connection = Some(silent.accept().await.unwrap());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn signal_ends_the_wait_for_an_answer_a_retry_and_a_signature() {
    let busy = ServerResponse::text(503, "busy").header("Retry-After", "1800");
    let cases = [
        vec![ServerResponse::text(200, "late").delay(FOREVER)],
        vec![busy; 200],
    ];
    for answers in cases {
        let host = DeviceHost::new(1).await;
        host.server.state().inject("/puppet-ca/", answers);
        let requested = until(|| !host.server.state().received.is_empty());
        stopped_when(&host, &["--detailed-exitcodes"], requested).await;
    }
    let host = DeviceHost::new(1).await;
    host.server.state().autosign = false;
    let arguments = ["--detailed-exitcodes", "--waitforcert=1h"];
    let requested = until(|| !host.server.state().certificate_requests.is_empty());
    stopped_when(&host, &arguments, requested).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn run_time_limit_includes_the_certificate() {
    let host = DeviceHost::new(1).await;
    let late = ServerResponse::text(200, "late").delay(FOREVER);
    host.server.state().inject("/puppet-ca/", [late]);
    let arguments = ["--detailed-exitcodes", "--runtimeout=1"];
    let ended = tokio::time::timeout(Duration::from_secs(60), host.run(&arguments));
    let (code, text) = ended.await.expect("the limit ends it");
    assert_stopped(&host, code, &text);
    let message = "The run did not end within 1 s (runtimeout) and was stopped";
    assert!(text.contains(message), "{text}");
}
