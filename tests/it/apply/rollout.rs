//! Batches of devices, what stops them, and how a stopped rollout continues.

use serde_json::json;
use switchtender_mocks::SwitchOptions;
use test_support::catalog::{resource, vlan};
use test_support::lab::{Lab, parsed, switch_options};
use test_support::program::ProgramOutput;

/// Switches that shall have one VLAN; `failing` refuse its name.
async fn lab(names: &[&str], failing: &[&str]) -> Lab {
    let mut lab = Lab::new();
    for name in names {
        let faults: &[&str] = if failing.contains(name) {
            &["refuse=^name two => % Rejected"]
        } else {
            &[]
        };
        lab.add_switch(name, faults).await;
        lab.write_resources(name, &[vlan(20, "two")]);
    }
    lab
}

/// The devices that were connected to since the last call, sorted.
fn connected(lab: &Lab, seen: &mut Vec<usize>) -> Vec<String> {
    let counts: Vec<usize> = lab
        .switches
        .keys()
        .map(|name| lab.log(name).received().len())
        .collect();
    seen.resize(counts.len(), 0);
    let names = lab.switches.keys().zip(&counts).zip(seen.iter());
    let names = names.filter(|((_, count), seen)| count > seen);
    let names = names.map(|((name, _), _)| name.clone()).collect();
    *seen = counts;
    names
}

/// The name after `--resume` in a hint.
fn run_name(output: &ProgramOutput) -> String {
    let (_, rest) = output
        .stderr
        .split_once("--resume ")
        .unwrap_or_else(|| panic!("no --resume in\n{}", output.text()));
    rest.split_whitespace().next().unwrap().to_owned()
}

/// The batches of a run with `--output json`, each as its devices.
fn batches(output: &ProgramOutput) -> Vec<String> {
    let objects = output.objects().into_iter();
    let batches = objects.filter(|object| object["kind"] == "batch");
    let names = batches.map(|batch| {
        let names = batch["devices"].as_array().unwrap().iter();
        let names: Vec<&str> = names.map(|name| name.as_str().unwrap()).collect();
        names.join(" ")
    });
    names.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn rollout_stops_after_a_failed_batch_and_resumes() {
    let lab = lab(&["sw1", "sw2", "sw3", "sw4"], &["sw2"]).await;
    let mut seen = Vec::new();
    let stopped = lab
        .run(&["apply", "--batch", "1,1,100%", "--output", "json"])
        .await;
    stopped.assert_code(1);
    assert_eq!(batches(&stopped), ["sw1", "sw2"]);
    assert_eq!(connected(&lab, &mut seen), ["sw1", "sw2"]);
    stopped.assert_contains("error: the rollout stopped: 1 device failed, the limit is 0");
    assert_eq!(stopped.device("sw3")["status"], "not run");
    assert_eq!(
        stopped.device("sw4")["error"],
        "not started: the rollout stopped: 1 device failed, the limit is 0"
    );

    // The cause remains: the rollout stops again at the same device.
    let resume = ["apply", "--output", "json", "--resume", &run_name(&stopped)];
    let again = lab.run(&resume).await;
    again.assert_code(1);
    assert_eq!(connected(&lab, &mut seen), ["sw2"]);

    lab.write_resources("sw2", &[vlan(20, "new")]);
    let resumed = lab.run(&resume).await;
    resumed.assert_code(0);
    assert_eq!(batches(&resumed), ["sw2", "sw3 sw4"]);
    assert_eq!(connected(&lab, &mut seen), ["sw2", "sw3", "sw4"]);

    let nothing = lab.run(&resume).await;
    nothing.assert_code(0);
    nothing.assert_contains("all selected devices of the rollout have succeeded");
    assert!(connected(&lab, &mut seen).is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn rollout_continues_up_to_max_failures() {
    for (limit, code, run) in [
        ("1", 1, &["sw1", "sw2", "sw3"][..]),
        ("2", 1, &["sw1", "sw2", "sw3", "sw4"]),
        ("50%", 1, &["sw1", "sw2", "sw3", "sw4"]),
    ] {
        let lab = lab(&["sw1", "sw2", "sw3", "sw4"], &["sw2", "sw3"]).await;
        let arguments = ["apply", "--batch", "1", "--max-failures", limit];
        let output = lab.run(&arguments).await;
        output.assert_code(code);
        assert_eq!(connected(&lab, &mut Vec::new()), run, "{limit}");
        assert_eq!(
            output.text().contains("the rollout stopped"),
            run.len() < 4,
            "{}",
            output.text()
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rollout_runs_the_check_after_each_batch_and_stops_if_it_fails() {
    let lab = lab(&["sw1", "sw2", "sw3"], &[]).await;
    let check = "echo measured; echo $SWITCHTENDER_BATCH/$SWITCHTENDER_BATCHES $(cat $SWITCHTENDER_DEVICES) >>checks; \
                 test $SWITCHTENDER_BATCH = 1 || { echo 'no answer from www' >&2; exit 7; }";
    let output = lab.run(&["apply", "--batch", "1", "--check", check]).await;
    output.assert_code(1);
    output.assert_contains(
        "error: the rollout stopped: the check failed after batch 2 of 3: exit status: 7: no answer from www",
    );
    let checks = std::fs::read_to_string(lab.path("checks")).unwrap();
    assert_eq!(checks, "1/3 sw1\n2/3 sw2\n");
    // All of its output is shown, in the batch that it belongs to.
    let printed: Vec<&str> = output.stdout.lines().collect();
    let printed: Vec<&&str> = printed
        .iter()
        .filter(|line| line.starts_with("check: ") || line.starts_with("Batch "))
        .collect();
    assert_eq!(
        printed,
        [
            &"Batch 1 of 3: sw1",
            &"check: measured",
            &"Batch 2 of 3: sw2",
            &"check: measured",
            &"check: no answer from www",
        ]
    );
    assert_eq!(connected(&lab, &mut Vec::new()), ["sw1", "sw2"]);

    // The check of the rollout is part of its log; another one replaces it.
    let run = run_name(&output);
    let late = [
        "apply",
        "--resume",
        &run,
        "--check",
        "sleep 60",
        "--check-timeout",
        "1ms",
    ];
    let output = lab.run(&late).await;
    output.assert_code(1);
    output.assert_contains(
        "the check failed after batch 1 of 1: cannot run the command: timeout after 0 s",
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn rollout_has_all_devices_of_a_label_in_one_batch() {
    let mut lab = lab(&["sw1", "sw2", "sw3"], &[]).await;
    for (name, site) in [("sw1", "a"), ("sw2", "b"), ("sw3", "a")] {
        lab.configure(name, &format!("labels = {{ building = \"{site}\" }}"));
    }
    let arguments = ["apply", "--output", "json", "--batch", "1", "--batch-label"];
    let output = lab.run(&[&arguments[..], &["building"]].concat()).await;
    output.assert_code(0);
    assert_eq!(batches(&output), ["sw1 sw3", "sw2"]);
    let output = lab.run(&[&arguments[..], &["floor"]].concat()).await;
    output.assert_code(1);
    output.assert_contains("error: sw1 has no label `floor`");
}

#[tokio::test(flavor = "multi_thread")]
async fn after_starts_a_device_only_after_the_others_have_succeeded() {
    let mut lab = lab(&["sw1", "sw2", "sw3"], &["sw2"]).await;
    lab.configure("sw1", "after = [\"sw2\", \"sw3\"]");
    let failed = lab.apply().await;
    failed.assert_code(1);
    assert_eq!(
        failed.device("sw1")["error"],
        "not started: sw2 did not succeed, and this device comes after it"
    );
    assert_eq!(connected(&lab, &mut Vec::new()), ["sw2", "sw3"]);

    lab.write_resources("sw2", &[vlan(20, "new")]);
    let succeeded = lab.apply().await;
    succeeded.assert_code(2);
    let objects = succeeded.objects().into_iter();
    let mut ended = objects.filter(|object| object["kind"] == "device");
    let last = ended.next_back().unwrap();
    assert_eq!(last["device"], "sw1");

    // A device that is not selected is not waited for, and a plan waits for none.
    lab.write_resources("sw1", &[vlan(30, "three")]);
    let alone = lab.run(&["apply", "--target", "sw1"]).await;
    alone.assert_code(0);
    let batched = lab
        .run(&["apply", "--output", "json", "--batch", "1"])
        .await;
    assert_eq!(batches(&batched), ["sw2", "sw3", "sw1"]);

    // The second run has the same order.
    let arguments = ["apply", "--output", "json", "--check-idempotence"];
    let twice = lab.run(&arguments).await;
    twice.assert_code(0);
    let objects = twice.objects();
    let ended: Vec<_> = objects
        .iter()
        .filter(|object| object["kind"] == "device")
        .map(|object| &object["device"])
        .collect();
    assert_eq!(ended.len(), 6, "{ended:?}");
    assert_eq!([ended[2], ended[5]], ["sw1", "sw1"], "{ended:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn rollout_refuses_arguments_that_make_no_sense() {
    let lab = lab(&["sw1"], &[]).await;
    for (arguments, message) in [
        (
            &["--batch", "x"][..],
            "`x` is neither a number nor a percentage such as 10%",
        ),
        (&["--batch", "1", "--noop"], "cannot be used with"),
        (&["--batch-label", "site"], "--batch <SIZE,…>"),
        (
            &["--resume", "20260101T000000Z"],
            "there is no rollout `20260101T000000Z` in",
        ),
        (
            &["--check", "true", "--check-timeout", "5"],
            "write a number with its unit",
        ),
    ] {
        let output = lab.run(&[&["apply"], arguments].concat()).await;
        output.assert_code(1);
        output.assert_contains(message);
    }
    assert!(connected(&lab, &mut Vec::new()).is_empty());
}

/// The change cannot be confirmed: the switch refuses the second login, and reverts the change.
#[tokio::test(flavor = "multi_thread")]
async fn rollout_stops_at_the_first_device_that_reverts() {
    let mut lab = Lab::new();
    for (name, faults) in [("sw1", &["login-refused-at=2"][..]), ("sw2", &[])] {
        let options = SwitchOptions {
            faults: parsed(faults),
            config: Some("archive\n path flash:before\n".to_owned()),
            ..switch_options(name)
        };
        lab.add_switch_with(options).await;
        let port = json!({"description": "desk"});
        let port = resource("Network_interface", "GigabitEthernet1/0/1", port);
        lab.write_resources(name, &[port]);
    }
    let arguments = [
        "--batch",
        "1",
        "--max-failures",
        "5",
        "--protect",
        "required",
    ];
    let output = lab.run(&[&["apply"], &arguments[..]].concat()).await;
    output.assert_code(1);
    output.assert_contains("error: the rollout stopped: sw1 has reverted its changes");
    assert_eq!(connected(&lab, &mut Vec::new()), ["sw1"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn rollout_log_is_removed_with_old_reports() {
    let lab = lab(&["sw1", "sw2"], &["sw1"]).await;
    let stopped = lab.run(&["apply", "--batch", "1"]).await;
    let run = run_name(&stopped);
    let state = lab.path("state");
    let prune = ["state-dir", "prune", "--state-dir", state.to_str().unwrap()];
    for (arguments, expected) in [
        (&["--reports-older-than", "1"][..], "nothing to remove"),
        (&["--reports-older-than", "0"], ".jsonl: log of a rollout"),
        (&["--reports-older-than", "0", "--yes"], "removed"),
    ] {
        let output = lab.run(&[&prune[..], arguments].concat()).await;
        output.assert_code(0);
        output.assert_contains(expected);
    }
    let resumed = lab.run(&["apply", "--resume", &run]).await;
    resumed.assert_code(1);
    resumed.assert_contains("there is no rollout");
}
