//! Plans in files: an apply sends exactly what was planned, and nothing to a device that differs.

use serde_json::{Value, json};
use switchtender_mocks::SwitchOptions;
use test_support::catalog::{example, resource, sensitive, vlan};
use test_support::lab::{Lab, switch_options};
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
        "\nlb1 (f5_bigip)\n  F5_ntp[/Common/ntp]  (/manifests/site.pp:1)\n",
        "\n    timezone will change from 'America/Los_Angeles' to 'UTC'\n",
        "\n    > PATCH /mgmt/tm/sys/ntp {\"timezone\":\"UTC\"}\n",
        "\nsw1 (cisco_ios)\n  Network_vlan[10]  (/manifests/site.pp:1)\n",
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

/// `$USER` is not the effective user.
#[tokio::test(flavor = "multi_thread")]
async fn plan_has_the_name_of_the_effective_user() {
    let lab = lab().await;
    let id = std::process::Command::new("id").arg("-un").output();
    let user = String::from_utf8(id.unwrap().stdout).unwrap();
    for variable in [Some("other"), None] {
        let mut command = lab.command(&["plan", "--save", "user.plan"]);
        command.env_remove("USER").env_remove("LOGNAME");
        command.envs(variable.map(|name| ("USER", name)));
        let ran = program::ProgramOutput::from(command.output().await.unwrap());
        ran.assert_contains("saved the plan in user.plan, devices: 2");
        let file = lab.path("user.plan").display().to_string();
        let json = program::run(&["plan", "show", &file, "--output", "json"]);
        let plan: Value = serde_json::from_str(&json.stdout).unwrap();
        let author = plan["author"].as_str().unwrap();
        let (name, _) = author.split_once('@').unwrap();
        assert_eq!(name, user.trim());
        // A review needs no fractions of seconds.
        let created = plan["created"].as_str().unwrap();
        assert_eq!(created.len(), "2026-11-24T19:46:28Z".len(), "{created}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn plan_show_has_equal_devices_once() {
    let mut lab = Lab::new();
    for name in ["sw1", "sw2", "sw3"] {
        lab.add_switch(name, &[]).await;
        let text = if name == "sw3" { "voice" } else { "users" };
        lab.write_resources(name, &[vlan(10, text)]);
    }
    lab.run(&["plan", "--save", "change.plan"])
        .await
        .assert_code(0);
    let file = lab.path("change.plan").display().to_string();
    let printed = program::run(&["plan", "show", &file]);
    printed.assert_contains("\nsw[1-2] (cisco_ios, 2 devices)\n");
    printed.assert_contains("\nsw3 (cisco_ios)\n");
    assert_eq!(printed.stdout.matches("    >  name users\n").count(), 1);
}

/// Equal differences are one for their devices. A refusal has its reason.
#[tokio::test(flavor = "multi_thread")]
async fn differences_from_the_plan_name_their_devices() {
    let mut lab = Lab::new();
    let port = |description: &str| {
        let desired = json!({"description": description});
        resource("Network_interface", "GigabitEthernet1/0/1", desired)
    };
    for name in ["sw1", "sw2", "sw3"] {
        let config = "interface Vlan10\n ip address 127.0.0.1 255.0.0.0\n no shutdown\n";
        lab.add_switch_with(SwitchOptions {
            config: Some(config.to_owned()),
            ..switch_options(name)
        })
        .await;
        lab.write_resources(name, &[port("planned")]);
    }
    let own = json!({"enable": false});
    lab.write_resources("sw3", &[resource("Network_interface", "Vlan10", own)]);
    let plan = ["plan", "--save", "change.plan", "--allow", "own-path"];
    lab.run(&plan).await.assert_code(0);
    for name in ["sw1", "sw2"] {
        lab.write_resources(name, &[port("other")]);
        let apply = ["apply", "--target", name];
        lab.run(&apply).await.assert_code(0);
        lab.write_resources(name, &[port("planned")]);
    }
    let refused = lab.run(&["apply", "change.plan"]).await;
    refused.assert_code(1);
    refused.assert_contains(
        "sw[1-2]: Error: nothing was changed: the run differs from the plan\n  \
         Network_interface[GigabitEthernet1/0/1]: planned: description from 'unset' to 'planned'; now: ",
    );
    refused.assert_contains(
        "sw3: Error: nothing was changed: the run differs from the plan\n  \
         Network_interface[Vlan10]: cannot change it: ",
    );
    refused.assert_contains("`--allow own-path` permits it");
    assert!(
        !refused
            .text()
            .contains("Network_interface[Vlan10]: planned")
    );
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
    assert!(
        other.status.success(),
        "{}",
        String::from_utf8_lossy(&other.stdout)
    );
    let sent = lab.log("sw1").received();
    assert!(sent.iter().any(|line| line == "name users"), "{sent:?}");
}

/// Runs `apply change.plan` with another state directory.
fn apply_elsewhere(lab: &Lab) -> program::ProgramOutput {
    let state = lab.path("elsewhere").display().to_string();
    let mut command = program::switchtender(&["apply", "change.plan", "--state-dir", &state]);
    command.current_dir(lab.path("")).envs(&lab.environment);
    program::ProgramOutput::from(command.output().unwrap())
}

/// Only digests of secrets need the key of the state directory.
#[tokio::test(flavor = "multi_thread")]
async fn plan_with_secrets_needs_its_state_directory() {
    for (name, resources, is_accepted) in [
        ("none", vec![vlan(10, "users")], true),
        ("sent", switch("users", "s3cret-ntp"), false),
    ] {
        let mut lab = Lab::new();
        lab.add_switch("sw1", &[]).await;
        lab.write_resources("sw1", &resources);
        let saved = lab.run(&["plan", "--save", "change.plan"]).await;
        saved.assert_code(0);
        let text = std::fs::read_to_string(lab.path("change.plan")).unwrap();
        assert_eq!(text.contains("\"key\""), !is_accepted, "{name}: {text}");
        let ran = apply_elsewhere(&lab);
        ran.assert_code(i32::from(!is_accepted));
        if !is_accepted {
            ran.assert_contains(
                "sw1: the plan was made with another state directory, and compares secrets by its key",
            );
            assert_eq!(lab.log("sw1").configuration_lines(), [""; 0]);
            lab.run(&["apply", "change.plan"]).await.assert_code(0);
        }
    }
    // One device with a secret does not refuse the others.
    let lab = lab().await;
    let ran = apply_elsewhere(&lab);
    ran.assert_code(1);
    assert_eq!(lab.log("sw1").configuration_lines(), [""; 0]);
    assert_eq!(lab.log("lb1").writes().len(), 1);
}

/// The same name, another device.
#[tokio::test(flavor = "multi_thread")]
async fn plan_for_another_device_is_refused() {
    let mut labs = Vec::new();
    for serial in ["SERIALA", "SERIALB"] {
        let mut lab = Lab::new();
        lab.add_switch_with(SwitchOptions {
            serials: vec![serial.to_owned()],
            ..switch_options("sw1")
        })
        .await;
        lab.write_resources("sw1", &[vlan(10, "users")]);
        labs.push(lab);
    }
    labs[0]
        .run(&["plan", "--save", "change.plan"])
        .await
        .assert_code(0);
    std::fs::copy(labs[0].path("change.plan"), labs[1].path("change.plan")).unwrap();
    let refused = labs[1].run(&["apply", "change.plan"]).await;
    refused.assert_code(1);
    refused.assert_contains(
        "sw1: the plan was made for another device, serial number SERIALA; the device that answers has serial number SERIALB",
    );
    assert_eq!(labs[1].log("sw1").configuration_lines(), [""; 0]);
}

/// A reviewer sees what `plan` printed.
#[tokio::test(flavor = "multi_thread")]
async fn plan_show_has_positions_and_the_configuration_difference() {
    let mut lab = Lab::new();
    lab.add_switch("sw1", &[]).await;
    std::fs::create_dir(lab.path("desired")).unwrap();
    let state = "network_vlan:\n  20: { vlan_name: users }\n";
    std::fs::write(lab.path("desired/common.yaml"), state).unwrap();
    let plan = ["plan", "--state", "desired", "--save", "change.plan"];
    let planned = lab.run(&plan).await;
    let file = lab.path("change.plan").display().to_string();
    let rendered = program::run(&["plan", "show", &file]);
    let html = program::run(&["plan", "show", &file, "--output", "html"]);
    for output in [&planned.text(), &rendered.stdout, &html.stdout] {
        for expected in ["common.yaml:2", "+vlan 20", "+ name users"] {
            assert!(output.contains(expected), "{expected}: {output}");
        }
    }
    rendered.assert_contains("configuration difference:");
    let plan: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    for expected in [
        plan["plan"]["id"].as_str().unwrap(),
        plan["plan"]["author"].as_str().unwrap(),
        "<th>Resources to change</th><td>1</td>",
        "<th>Commands</th><td>2</td>",
    ] {
        assert!(
            html.stdout.contains(expected),
            "{expected}: {}",
            html.stdout
        );
    }
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
            "Network_vlan[10]: planned: ensure from 'absent' to 'present', `vlan 10`; \
             now: vlan_name from 'other' to 'users'",
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
