//! Planted secrets are in no output of a run: messages, log, reports, transcripts, state.

use serde_json::json;
use switchtender_mocks::SwitchOptions;

use test_support::catalog::{catalog, resource, sensitive, vlan};
use test_support::lab::{Lab, switch_options};
use test_support::program::{self, PLANTED, ProgramOutput};

/// A switch and a load balancer whose catalogs hold secrets, sent by names that the device echoes.
pub(crate) async fn lab(faults: &[&str], rest_faults: &[&str]) -> Lab {
    let mut lab = Lab::new();
    lab.add_switch("sw1", faults).await;
    lab.add_load_balancer("lb1", rest_faults).await;
    lab.configure("sw1", "command_timeout = \"2s\"");
    lab.configure("lb1", "command_timeout = \"2s\"");
    let key = resource(
        "Ntp_auth_key",
        "42",
        json!({"ensure": "present", "algorithm": "md5", "mode": 0, "password": "s3cret-ntp"}),
    );
    // A title shows as such; the community that it would stand for must not.
    let community = resource(
        "Snmp_community",
        "monitoring",
        json!({"ensure": "present", "name": "s3cret-community", "group": "RO"}),
    );
    let key = sensitive(key, &["password"]);
    // Only the catalog marks this value; the device prints it in clear in every later read.
    let port = resource(
        "Network_interface",
        "GigabitEthernet1/0/1",
        json!({"enable": true, "description": "s3cret-port"}),
    );
    let port = sensitive(port, &["description"]);
    lab.write_resources("sw1", &[vlan(10, "one"), key, community, port]);
    let monitor = resource(
        "F5_monitor",
        "/Common/login",
        json!({"ensure": "present", "provider": "http", "parent_monitor": "/Common/http",
               "username": "probe", "password": "s3cret-\"probe\""}),
    );
    let rule = resource(
        "F5_irule",
        "/Common/login",
        json!({"ensure": "present", "definition": "when HTTP_REQUEST {\n  # s3cret-\"rule\"\n}"}),
    );
    let rule = sensitive(rule, &["definition"]);
    lab.write_resources("lb1", &[sensitive(monitor, &["password"]), rule]);
    lab
}

/// Asserts that no output and no file of the laboratory has a secret.
#[track_caller]
fn assert_no_secrets(lab: &Lab, ran: &ProgramOutput, what: &str) {
    ran.assert_no_secrets();
    for directory in ["state", "seen", "recordings", "reports", "new.plan"] {
        for (path, text) in lab.files(directory) {
            assert!(
                !text.contains(PLANTED),
                "{what}: {} has a secret:\n{text}",
                path.display()
            );
        }
    }
}

/// Runs a command that writes transcripts, recordings and reports.
async fn run(lab: &Lab, arguments: &[&str]) -> ProgramOutput {
    let files = [
        "--transcripts",
        "seen",
        "--record",
        "recordings",
        "--report",
        "reports",
    ];
    lab.run(&[arguments, &files[..]].concat()).await
}

const COMMANDS: &[&[&str]] = &[
    &["plan", "-vvv", "--save", "new.plan"],
    &["plan", "--output", "json"],
    &["apply", "--noop", "-vvv"],
    &["apply", "--noop", "--output", "json"],
    &["apply", "-vvv"],
    &["apply", "--output", "json", "-vvv"],
];

#[tokio::test(flavor = "multi_thread")]
async fn secrets_are_masked_in_a_successful_run() {
    for arguments in COMMANDS {
        let lab = lab(&[], &[]).await;
        let ran = run(&lab, arguments).await;
        assert_no_secrets(&lab, &ran, &format!("{arguments:?}"));
        ran.assert_code(0);
        assert!(lab.files("seen").len() == 2, "{arguments:?}");
        assert!(lab.files("recordings").len() == 2, "{arguments:?}");
        // The log has the dialogue.
        if arguments.contains(&"-vvv") {
            for sent in ["> show version", "> GET /mgmt/tm/ltm/monitor"] {
                assert!(ran.stderr.contains(sent), "{arguments:?}: {}", ran.stderr);
            }
        }
        if arguments == &["apply", "-vvv"] {
            let sent = "> ntp authentication-key 42 md5 ••••";
            assert!(ran.stderr.contains(sent), "{}", ran.stderr);
        }
        if arguments[0] == "apply" && !arguments.contains(&"--noop") {
            let lines = lab.log("sw1").configuration_lines();
            for line in [
                "ntp authentication-key 42 md5 s3cret-ntp 0",
                "snmp-server community s3cret-community RO",
                "description s3cret-port",
            ] {
                let sent = lines.iter().any(|sent| sent == line);
                assert!(sent, "the device needs `{line}`: {lines:?}");
            }
            let writes = lab.log("lb1").writes();
            assert!(
                writes
                    .iter()
                    .any(|line| line.contains(r#"s3cret-\"probe\""#)),
                "{writes:?}"
            );
            // The state has a digest of each secret.
            assert!(!lab.files("state").is_empty());
            lab.log("sw1").clear();
            lab.log("lb1").clear();
            let again = run(&lab, arguments).await;
            assert_no_secrets(&lab, &again, &format!("{arguments:?} again"));
            assert_eq!(lab.log("sw1").configuration_lines(), Vec::<String>::new());
            assert_eq!(lab.log("lb1").writes(), Vec::<String>::new());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn secrets_are_masked_in_device_messages() {
    let echoing = [
        "refuse=^ntp authentication-key => % Invalid key: s3cret-ntp",
        "refuse=^snmp-server => % Bad community s3cret-community here",
    ];
    let refusing =
        ["refuse=^POST .*/monitor/http => 01070734: bad password s3cret-\"probe\" given"];
    for output in ["human", "json"] {
        let lab = lab(&echoing, &refusing).await;
        let ran = run(&lab, &["apply", "--output", output, "-vvv"]).await;
        assert_no_secrets(&lab, &ran, output);
        ran.assert_code(1);
        // The message of the device is printed with the secrets masked.
        ran.assert_contains("% Invalid key: ••••");
        ran.assert_contains("% Bad community •••• here");
        ran.assert_contains("bad password ••••");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn secrets_are_masked_in_rejected_lines() {
    for fault in [
        "stall-after=^ntp authentication-key",
        "drop-after=^ntp authentication-key",
        "drop-unanswered=^ntp authentication-key",
        "garbage-after=^ntp authentication-key",
        "confirm=^ntp authentication-key",
        "lost-write=^ntp authentication-key",
        "refuse=^ntp authentication-key",
    ] {
        let lab = lab(&[fault], &[]).await;
        let ran = run(&lab, &["apply", "-vvv"]).await;
        assert_no_secrets(&lab, &ran, fault);
        ran.assert_code(1);
    }
    for fault in [
        "stall-after=^POST .*/monitor/http",
        "drop-unanswered=^POST .*/monitor/http",
        "half-body=^POST .*/monitor/http",
        "garbage-after=^POST .*/monitor/http",
        "lost-write=^POST .*/monitor/http",
    ] {
        let lab = lab(&[], &[fault]).await;
        let ran = run(&lab, &["apply", "-vvv"]).await;
        assert_no_secrets(&lab, &ran, fault);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn secrets_of_the_login_are_never_printed() {
    for (faults, variable) in [
        (&["login-refused=1"][..], "LAB_PASSWORD"),
        (&["stall-after=^enable"], "LAB_PASSWORD"),
        (&[], "LAB_PASSWORD"),
        (&[], "LAB_ENABLE"),
    ] {
        let mut lab = lab(faults, faults).await;
        if faults.is_empty() {
            let wrong = "s3cret-but-wrong".to_owned();
            lab.environment.insert(variable.to_owned(), wrong);
        }
        let ran = run(&lab, &["apply", "-vvv"]).await;
        assert_no_secrets(&lab, &ran, variable);
        ran.assert_code(1);
    }
}

/// Excerpts of an inventory quote its lines, and `inventory show` prints its settings.
#[tokio::test(flavor = "multi_thread")]
async fn secrets_of_an_inventory_are_never_printed() {
    let mut lab = lab(&[], &[]).await;
    lab.configure("lb1", "proxy = \"http://ops:s3cret-proxy@127.0.0.1:1\"");
    for output in ["human", "json"] {
        let printed = lab.run(&["inventory", "show", "--output", output]).await;
        printed.assert_code(0);
        printed.assert_contains("http://••••@127.0.0.1:1");
    }
    lab.run(&["inventory", "validate"]).await.assert_code(0);
    // The proxy does not answer.
    let ran = run(&lab, &["apply", "--target", "lb1", "-vvv"]).await;
    assert_no_secrets(&lab, &ran, "proxy");
    ran.assert_code(1);
    for line in [
        "enable_pasword = \"s3cret-enable\"",
        "token = { en = \"s3cret-token\" }",
        "passphrase = s3cret",
        "pass = \"s3cret",
    ] {
        let mut lab = Lab::new();
        lab.add_device("sw1", "cisco_ios", 1, None);
        lab.configure("sw1", line);
        lab.write_resources("sw1", &[]);
        for command in [
            &["inventory", "validate"][..],
            &["inventory", "show"],
            &["plan"],
        ] {
            // The output is checked by `run`.
            lab.run(command).await.assert_code(1);
        }
    }
}

/// The end of a session is not the end of the mask.
#[tokio::test(flavor = "multi_thread")]
async fn secrets_are_masked_after_a_reconnect() {
    for fault in ["drop-after=^description", "drop-unanswered=^snmp-server"] {
        let lab = lab(&[fault], &["drop-unanswered=^POST .*/monitor"]).await;
        let ran = run(&lab, &["apply", "-vvv"]).await;
        assert_no_secrets(&lab, &ran, fault);
        let again = run(&lab, &["apply", "-vvv"]).await;
        assert_no_secrets(&lab, &again, fault);
        again.assert_code(0);
        again.assert_contains("••••");
    }
}

/// A secret is not part of a manifest unless it is requested, and never a title.
#[tokio::test(flavor = "multi_thread")]
async fn resource_prints_secrets_only_on_request() {
    let lab = lab(&[], &[]).await;
    lab.apply().await.assert_code(2);
    for (type_name, title, secrets) in [
        ("ntp_auth_key", "42", &["password"][..]),
        ("snmp_community", "snmp_community RO", &["name"]),
    ] {
        let arguments = ["resource", "sw1", type_name];
        let printed = lab.run(&arguments).await;
        printed.assert_code(0);
        assert!(!printed.stdout.is_empty());
        let is_comment = |line: &str| line.is_empty() || line.starts_with('#');
        assert!(printed.stdout.lines().all(is_comment), "{}", printed.stdout);
        printed.assert_contains("--show-secrets");
        let as_json = [&arguments[..], &["--output", "json"]].concat();
        let printed = lab.run(&as_json).await;
        printed.assert_contains("omitted resources that require a secret: 1");

        let clear = [&as_json[..], &["--show-secrets"]].concat();
        let clear = lab.command(&clear).output().await.unwrap();
        let clear: serde_json::Value = serde_json::from_slice(&clear.stdout).unwrap();
        let attributes = clear[type_name][title].clone();
        assert!(attributes.is_object(), "{type_name} has no {title}");
        lab.log("sw1").clear();
        let declared = type_name[..1].to_uppercase() + &type_name[1..];
        let declared = sensitive(resource(&declared, title, attributes), secrets);
        lab.write_resources("sw1", &[declared]);
        let ran = lab
            .run(&["apply", "--target", "sw1", "--detailed-exitcodes"])
            .await;
        ran.assert_code(0);
        assert_eq!(lab.log("sw1").configuration_lines(), [""; 0]);
    }
}

/// The secrets of models in the excerpts of catalogs on one line: a misspelled attribute, an error of
/// conversion and one of loading beside a secret.
#[test]
fn secrets_of_models_are_masked_in_excerpts() {
    let unreadable = json!({"__ptype": "Odd", "__pvalue": 1});
    let cases = [
        ("misspelled", json!({"passwrd": "s3cret-PW98"})),
        (
            "beside a reference",
            json!({"password": "s3cret-PW98", "require": "Network_vlan[11]"}),
        ),
        (
            "beside an unreadable value",
            json!({"password": "s3cret-PW98", "tag": unreadable}),
        ),
    ];
    for (case, parameters) in cases {
        let lab = Lab::with_devices(&[("sw1", "cisco_ios")]);
        let file = lab.path("catalogs/sw1.json");
        let resources = [resource("Ntp_auth_key", "42", parameters)];
        let text = catalog("sw1.lab.test", &resources).to_string();
        std::fs::write(&file, text).unwrap();
        let file = file.display().to_string();
        for ran in [
            program::run(&["validate", &file, "--platform", "cisco_ios"]),
            program::run(&["graph", &file]),
            lab.run_blocking(&["plan"]),
        ] {
            assert_eq!(ran.code, Some(1), "{case}: {}", ran.text());
            ran.assert_no_secrets();
            assert!(ran.text().contains("\"••••\""), "{case}: {}", ran.text());
        }
    }
}

/// A community in front of another one does not change its title.
#[tokio::test(flavor = "multi_thread")]
async fn titles_of_instances_with_secret_names_are_their_other_attributes() {
    let config = "snmp-server community s3cret-a RW\nsnmp-server community s3cret-b RO 10\n\
                  snmp-server community s3cret-c RO\nsnmp-server community s3cret-d RO\n";
    let mut lab = Lab::new();
    lab.add_switch_with(SwitchOptions {
        config: Some(config.to_owned()),
        ..switch_options("sw1")
    })
    .await;
    let printed = lab.run(&["resource", "sw1", "snmp_community"]).await;
    let titles: Vec<&str> = printed
        .stdout
        .lines()
        .filter_map(|line| line.split_once("snmp_community { '"))
        .map(|(_, title)| title.trim_end_matches("':"))
        .collect();
    assert_eq!(
        titles,
        [
            "snmp_community RW",
            "snmp_community RO 10",
            "snmp_community RO",
            "snmp_community RO (2)"
        ]
    );
}

/// The text that stands for a secret in our output can be on a device, for example as a mistake.
#[tokio::test(flavor = "multi_thread")]
async fn mask_on_a_device_is_a_value_like_any_other() {
    let mut lab = Lab::new();
    let options = SwitchOptions {
        config: Some("interface GigabitEthernet1/0/1\n description ••••\n".to_owned()),
        ..switch_options("sw1")
    };
    lab.add_switch_with(options).await;
    let port = json!({"description": "uplink"});
    let port = resource("Network_interface", "GigabitEthernet1/0/1", port);
    lab.write_resources("sw1", &[port]);
    lab.apply().await.assert_code(2);
    lab.apply().await.assert_code(0);
}

/// The title is in every report; the warning is in every run.
#[tokio::test(flavor = "multi_thread")]
async fn secret_title_is_a_warning_of_plan_and_apply() {
    let mut lab = Lab::new();
    lab.add_switch("sw1", &[]).await;
    let desired = json!({"ensure": "present", "group": "RO"});
    lab.write_resources("sw1", &[resource("Snmp_community", "readers", desired)]);
    for command in ["plan", "apply"] {
        let ran = lab.run(&[command]).await;
        ran.assert_code(0);
        ran.assert_contains("Warning: the title of this snmp_community is its secret name");
    }
}
