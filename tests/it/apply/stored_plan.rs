//! Plans in files: an apply sends exactly what was planned, and nothing to a device that differs.

use serde_json::{Value, json};
use test_support::catalog::{example, resource, sensitive, vlan};
use test_support::lab::Lab;
use test_support::program;

use super::load_balancer_types;

/// Resources of a switch, with a secret.
fn switch(name: &str, password: &str) -> Vec<Value> {
    let key = json!({"ensure": "present", "algorithm": "md5", "mode": "0", "password": password});
    vec![
        vlan(10, name),
        sensitive(resource("Ntp_auth_key", "42", key), &["password"]),
    ]
}

fn timezone(name: &str) -> Vec<Value> {
    let ntp = json!({"timezone": name});
    vec![resource("F5_ntp", "/Common/ntp", ntp)]
}

/// A switch and a load balancer, and a plan for both.
async fn lab() -> Lab {
    let mut lab = Lab::new();
    lab.add_switch("sw1", &[]).await;
    lab.add_load_balancer("lb1", &[]).await;
    lab.write_resources("sw1", &switch("users", "s3cret-ntp"));
    lab.write_resources("lb1", &timezone("UTC"));
    lab.run(&["plan", "--save", "change.plan"])
        .await
        .assert_code(0);
    lab
}

/// The writes to both devices.
fn writes(lab: &Lab) -> Vec<String> {
    [
        lab.log("sw1").configuration_lines(),
        lab.log("lb1").writes(),
    ]
    .concat()
}

#[tokio::test(flavor = "multi_thread")]
async fn plan_has_what_is_sent_and_no_secrets() {
    let lab = lab().await;
    assert_eq!(writes(&lab), [""; 0]);
    let text = std::fs::read_to_string(lab.path("change.plan")).unwrap();
    assert!(!text.contains("s3cret"), "{text}");
    let file = lab.path("change.plan").display().to_string();
    let printed = program::run(&["plan", "show", &file]);
    printed.assert_code(0);
    for line in [
        "\nlb1 (f5_bigip), resources to change: 1\n  F5_ntp[/Common/ntp]\n",
        "\n    timezone will change from 'America/Los_Angeles' to 'UTC'\n",
        "\n    > PATCH /mgmt/tm/sys/ntp {\"timezone\":\"UTC\"}\n",
        "\nsw1 (cisco_ios), resources to change: 2\n  Network_vlan[10]\n",
        "\n    > vlan 10\n    >  name users\n",
        "\n    > ntp authentication-key 42 md5 •••• 0\n",
    ] {
        assert!(printed.stdout.contains(line), "{line}: {}", printed.stdout);
    }
    let json = program::run(&["plan", "show", &file, "--output", "json"]);
    let plan: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(
        plan["devices"]["sw1"]["resources"][0]["resource"],
        "Network_vlan[10]"
    );
    assert!(plan["author"].as_str().unwrap().contains('@'), "{plan}");

    lab.run(&["apply", "change.plan", "--max-age", "1h", "--all-or-none"])
        .await
        .assert_code(0);
    let sent = writes(&lab);
    for line in [
        "vlan 10",
        "name users",
        "ntp authentication-key 42 md5 s3cret-ntp 0",
    ] {
        assert!(sent.iter().any(|sent| sent == line), "{line}: {sent:?}");
    }
    // The plan was applied: now it differs.
    let again = lab.run(&["apply", "change.plan"]).await;
    again.assert_code(1);
    again.assert_contains("now: no change");
}

/// Equal changes are printed once, with their devices; a run lists ranges of devices.
#[tokio::test(flavor = "multi_thread")]
async fn plan_of_equal_devices_is_printed_once() {
    let mut lab = Lab::new();
    for name in ["sw1", "sw2"] {
        lab.add_switch(name, &[]).await;
        lab.write_resources(name, &switch("users", "s3cret-ntp"));
    }
    lab.run(&["plan", "--save", "change.plan"])
        .await
        .assert_code(0);
    let file = lab.path("change.plan").display().to_string();
    let printed = program::run(&["plan", "show", &file]);
    printed.assert_contains(
        "\nsw[1-2] (cisco_ios, 2 devices), resources to change: 2 each\n  Network_vlan[10]\n",
    );
    assert_eq!(
        printed.stdout.matches("Network_vlan[10]\n").count(),
        1,
        "{printed:?}"
    );
    // The time has whole seconds.
    let first = printed.stdout.lines().next().unwrap();
    assert!(first.contains("Z by ") && !first.contains('.'), "{first}");
    lab.run(&["apply", "change.plan"]).await.assert_code(0);
    lab.run(&["undo"])
        .await
        .assert_contains("  sw[1-2] (2 devices, 4 resources)\n");
}

/// The sources of the plan are those of the apply.
#[tokio::test(flavor = "multi_thread")]
async fn plan_names_its_catalogs() {
    let lab = lab().await;
    // The lab adds its catalogs to each command that has no other source.
    let mut command = program::switchtender(&["apply", "change.plan", "--state-dir", "state"]);
    let ran = command
        .current_dir(lab.path(""))
        .envs(&lab.environment)
        .output()
        .unwrap();
    assert!(
        ran.status.success(),
        "{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    assert!(writes(&lab).iter().any(|line| line == "name users"));
}

/// Paths of the sources may be relative, and are not a part of what is compared.
#[tokio::test(flavor = "multi_thread")]
async fn plan_of_a_relative_state_directory_is_applied() {
    let mut lab = Lab::new();
    lab.add_switch("sw1", &[]).await;
    std::fs::create_dir(lab.path("desired")).unwrap();
    let state = "network_vlan:\n  20: { vlan_name: users }\n";
    std::fs::write(lab.path("desired/common.yaml"), state).unwrap();
    let plan = ["plan", "--state", "desired", "--save", "change.plan"];
    lab.run(&plan).await.assert_code(0);
    let state = ["apply", "change.plan", "--state", "desired"];
    let state = [&state[..], &["--state-dir", "other"]].concat();
    let mut command = program::switchtender(&state);
    command.current_dir(lab.path("")).envs(&lab.environment);
    let other = command.output().unwrap();
    let printed = String::from_utf8_lossy(&other.stdout);
    assert!(
        printed.contains("error[plan-changed]: the plan was made with another state directory"),
        "{printed}"
    );
    let sent = |lab: &Lab| {
        lab.log("sw1")
            .received()
            .iter()
            .any(|line| line == "name users")
    };
    assert!(!sent(&lab));
    let applied = ["apply", "change.plan", "--state", "./desired"];
    lab.run(&applied).await.assert_code(0);
    assert!(sent(&lab));
}

#[tokio::test(flavor = "multi_thread")]
async fn apply_of_a_plan_has_the_result_of_an_apply() {
    let mut results = Vec::new();
    for arguments in [&["apply"][..], &["apply", "change.plan"]] {
        let mut lab = load_balancer_types::lab().await;
        lab.add_switch("sw1", &[]).await;
        lab.write_catalog("sw1", &example("sw1"));
        let all = [
            load_balancer_types::secrets(),
            load_balancer_types::others(),
        ];
        lab.write_resources("lb1", &all.concat());
        lab.run(&["plan", "--save", "change.plan"])
            .await
            .assert_code(0);
        let ran = lab.run(arguments).await;
        ran.assert_code(0);
        let sent = writes(&lab);
        assert!(sent.len() > 30, "{sent:#?}");
        results.push((sent, lab.switches["sw1"].running_config()));
    }
    assert_eq!(results[0], results[1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn device_that_changed_since_the_plan_is_refused() {
    for all_or_none in [false, true] {
        let lab = lab().await;
        // Another run in between.
        lab.write_resources("sw1", &[vlan(10, "other")]);
        lab.run(&["apply", "--target", "sw1"]).await.assert_code(0);
        lab.write_resources("sw1", &switch("users", "s3cret-ntp"));
        lab.log("sw1").clear();
        let mut arguments = vec!["apply", "change.plan"];
        arguments.extend(all_or_none.then_some("--all-or-none"));
        let refused = lab.run(&arguments).await;
        refused.assert_code(1);
        refused.assert_contains("sw1: nothing was changed: the run differs from the plan");
        refused.assert_contains(
            "Network_vlan[10]: planned: ensure from 'absent' to 'present', `vlan 10`, `vlan 10;  name users`; \
             now: vlan_name from 'other' to 'users', `vlan 10;  name users`",
        );
        assert_eq!(lab.log("sw1").configuration_lines(), [""; 0]);
        // The other device is as planned.
        assert_eq!(lab.log("lb1").writes().is_empty(), all_or_none);
    }
}

/// An attribute that the catalog does not set is a part of the resource, too.
#[tokio::test(flavor = "multi_thread")]
async fn attribute_that_changed_since_the_plan_is_refused() {
    let mut lab = Lab::new();
    lab.add_load_balancer("lb1", &[]).await;
    lab.write_resources("lb1", &timezone("UTC"));
    lab.run(&["plan", "--save", "change.plan"])
        .await
        .assert_code(0);
    let servers = json!({"servers": ["192.0.2.10"]});
    lab.write_resources("lb1", &[resource("F5_ntp", "/Common/ntp", servers)]);
    lab.run(&["apply"]).await.assert_code(0);
    lab.write_resources("lb1", &timezone("UTC"));
    lab.log("lb1").clear();
    let refused = lab.run(&["apply", "change.plan"]).await;
    refused.assert_code(1);
    refused.assert_contains("F5_ntp[/Common/ntp]: servers changed on the device");
    assert_eq!(lab.log("lb1").writes(), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn catalog_that_changed_since_the_plan_is_refused() {
    for (resources, expected) in [
        (
            switch("staff", "s3cret-ntp"),
            "the catalog changed since the plan",
        ),
        (
            switch("users", "s3cret-two"),
            "Ntp_auth_key[42]: a secret changed",
        ),
    ] {
        let lab = lab().await;
        lab.write_resources("sw1", &resources);
        let refused = lab.run(&["apply", "change.plan"]).await;
        refused.assert_code(1);
        refused.assert_contains(expected);
        assert_eq!(lab.log("sw1").configuration_lines(), [""; 0]);
        assert_eq!(lab.log("lb1").writes().len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn definitions_that_changed_since_the_plan_are_refused() {
    let lab = lab().await;
    let file = lab.path("own/cisco_ios/platform.toml");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    let text = "schema = 1\nplatform = \"cisco_ios\"\nextends = \"shipped\"\n";
    std::fs::write(&file, text).unwrap();
    let plan = ["plan", "--save", "change.plan", "--definitions", "own"];
    lab.run(&plan).await.assert_code(0);
    std::fs::write(&file, format!("{text}doc = \"Switches.\"\n")).unwrap();
    let refused = lab.run(&["apply", "change.plan"]).await;
    refused.assert_code(1);
    refused.assert_contains("the definitions changed since the plan");
    assert_eq!(writes(&lab), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn plan_that_is_edited_old_or_for_other_devices_is_refused() {
    let lab = lab().await;
    let old = lab.run(&["apply", "change.plan", "--max-age", "1ms"]).await;
    old.assert_code(1);
    old.assert_contains("is older than 1ms");
    let text = std::fs::read_to_string(lab.path("change.plan")).unwrap();
    std::fs::write(
        lab.path("edited.plan"),
        text.replace("name users", "name staff"),
    )
    .unwrap();
    let edited = lab.run(&["apply", "edited.plan"]).await;
    edited.assert_code(1);
    edited.assert_contains("edited.plan was edited");
    // A plan of one device says nothing about the other one.
    let one = ["plan", "--save", "one.plan", "--target", "lb1"];
    lab.run(&one).await.assert_code(0);
    let mut smaller = Lab::new();
    smaller
        .devices
        .insert("sw1".to_owned(), lab.devices["sw1"].clone());
    std::fs::copy(lab.path("one.plan"), smaller.path("one.plan")).unwrap();
    let unknown = smaller.run(&["apply", "one.plan"]).await;
    unknown.assert_code(1);
    unknown.assert_contains("the inventory does not have lb1 of the plan");
    assert_eq!(writes(&lab), [""; 0]);
    lab.run(&["apply", "one.plan"]).await.assert_code(0);
    assert_eq!(lab.log("sw1").configuration_lines(), [""; 0]);
    assert_eq!(lab.log("lb1").writes().len(), 1);
}

/// A device that cannot be planned completely is not in the plan.
#[tokio::test(flavor = "multi_thread")]
async fn device_that_fails_is_not_in_the_plan() {
    let mut lab = Lab::new();
    lab.add_switch("sw1", &["refuse=^show vlan brief$ => show: I/O failure"])
        .await;
    lab.write_resources("sw1", &switch("users", "s3cret-ntp"));
    let planned = lab.run(&["plan", "--save", "change.plan"]).await;
    planned.assert_code(1);
    planned.assert_contains("sw1: not in the plan: it could not be planned completely");
    assert_eq!(lab.log("sw1").configuration_lines(), [""; 0]);
}
