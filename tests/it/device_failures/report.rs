//! Faults while the report of a run is delivered or written: the verdict and the spool.

use std::net::TcpListener;

use test_support::program;

use super::*;

/// A host whose server gives this answer to the first report.
async fn host_with_answer(answer: Option<ServerResponse>) -> DeviceHost {
    let host = DeviceHost::new(1).await;
    host.server.state().inject("/puppet/v3/report", answer);
    host
}

fn spool(host: &DeviceHost) -> Vec<String> {
    let entries = std::fs::read_dir(host.path("var/devices/sw1.lab.test/spool"));
    let names = entries.into_iter().flatten().map(|entry| entry.unwrap());
    let mut names: Vec<String> = names
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// The changes are made, whatever becomes of the report; the next run delivers it.
#[tokio::test(flavor = "multi_thread")]
async fn report_that_the_server_does_not_take_is_spooled() {
    // It completes connections and never answers.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = format!("--report_port={}", listener.local_addr().unwrap().port());
    let silent = ["--report_server=localhost", &silent];
    let answer = |status, text| Some(ServerResponse::text(status, text));
    let cases = [
        (
            "cut",
            answer(200, "complete").map(|answer| answer.cut(3)),
            &[][..],
        ),
        ("busy", answer(503, "busy"), &[]),
        ("failing", answer(500, "Internal Server Error"), &[]),
        ("silent", None, &silent),
    ];
    for (case, answer, arguments) in cases {
        let host = host_with_answer(answer).await;
        let arguments = [&["--detailed-exitcodes"][..], arguments].concat();
        let (code, text) = host.run(&arguments).await;
        assert_eq!(code, 2, "{case}: {text}");
        let message = "Warning: sw1.lab.test: Could not send report, it is stored and sent later";
        assert!(text.contains(message), "{case}: {text}");
        assert_eq!(spool(&host), ["000000000000.json"], "{case}");
        assert!(host.server.state().reports.is_empty(), "{case}");

        let (code, text) = host.run(&["--detailed-exitcodes"]).await;
        assert_eq!(code, 0, "{case}: {text}");
        assert!(
            text.contains("Sent reports of earlier runs: 1"),
            "{case}: {text}"
        );
        assert_eq!(spool(&host), [""; 0], "{case}");
        let state = host.server.state();
        let statuses: Vec<_> = state
            .reports
            .iter()
            .map(|report| &report["status"])
            .collect();
        assert_eq!(statuses, ["changed", "unchanged"], "{case}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn report_that_the_server_refuses_is_stored() {
    let host = host_with_answer(Some(ServerResponse::text(400, "Bad Request"))).await;
    let (code, text) = host.run(&["--detailed-exitcodes"]).await;
    assert_eq!(code, 2, "{text}");
    assert!(
        text.contains("The server refused the report; it is in "),
        "{text}"
    );
    assert_eq!(spool(&host), ["000000000000.refused"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn report_that_cannot_be_written_fails_the_run() {
    for (path, message) in [
        ("spool", "cannot write the report: "),
        (
            "state/last_run_report.json",
            "cannot write the state of the device: ",
        ),
    ] {
        let host = DeviceHost::new(1).await;
        // A directory takes the place of a file, and a file that of a directory.
        let at = host.path("var/devices/sw1.lab.test").join(path);
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(true).mode(0o750);
        if path == "spool" {
            builder.create(at.parent().unwrap()).unwrap();
            write(&at, "", 0o600);
        } else {
            builder.create(&at).unwrap();
        }
        let (code, text) = host.run(&["--detailed-exitcodes"]).await;
        assert_eq!(code, 6, "{path}: {text}");
        assert!(text.contains(message), "{path}: {text}");
        assert!(host.switches[0].vlans().iter().any(|(id, ..)| *id == 10));
    }
}

/// The metrics have all resources, and so has the store: a resource without changes ends its drift, and is not removed.
#[tokio::test(flavor = "multi_thread")]
async fn report_leaves_out_unchanged_resources() {
    let host = DeviceHost::new(1).await;
    let vlan = |number: &'static str| ("Network_vlan", number, json!({"vlan_name": "one"}));
    let vlans = |report: &Value| -> Vec<String> {
        let statuses = report["resource_statuses"].as_object().unwrap();
        let names = statuses.keys().filter(|name| name.starts_with("Network_"));
        names.cloned().collect()
    };
    let store = host.path("history.db").display().to_string();
    let drift = || {
        let output = program::run(&["drift", "--all", "--store", &store, "--output", "json"]);
        serde_json::from_str::<Value>(&output.stdout).unwrap()
    };
    give(&host, 1, &[vlan("11")]);
    host.run(&["--noop", "--store", &store]).await;
    assert_eq!(drift()["resource"], "Network_vlan[11]");
    assert_eq!(drift()["end_reason"], Value::Null);
    host.run(&[]).await;
    assert_eq!(vlans(&host.report(&name(1))), ["Network_vlan[11]"]);

    give(&host, 1, &[vlan("11"), vlan("12")]);
    let (code, text) = host.run(&["--store", &store]).await;
    assert_eq!(code, 0, "{text}");
    let report = host.report(&name(1));
    assert_eq!(vlans(&report), ["Network_vlan[12]"]);
    let counts = report["metrics"]["resources"]["values"].as_array().unwrap();
    let total = counts.iter().find(|row| row[0] == "total").unwrap();
    let listed = report["resource_statuses"].as_object().unwrap().len();
    assert!(total[2].as_u64() > u64::try_from(listed).ok(), "{report}");
    assert_eq!(drift()["end_reason"], "gone");

    let (code, text) = host.run(&["--exclude_unchanged_resources=false"]).await;
    assert_eq!(code, 0, "{text}");
    let both = ["Network_vlan[11]", "Network_vlan[12]"];
    assert_eq!(vlans(&host.report(&name(1))), both);
}
