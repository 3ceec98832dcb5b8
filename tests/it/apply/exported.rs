//! `resource --all`: exported devices are desired state and catalogs whose plan is empty.

use std::fs;

use serde_json::{Value, json};
use switchtender_mocks::SwitchOptions;
use test_support::lab::{Lab, switch_options};
use test_support::program::PLANTED;

/// Texts that look like templates, secrets, blocks and several types for one port.
const SWITCH: &str = "\
snmp-server contact {{ noc }} {% of %} \"lab\"
snmp-server community s3cret-public RO
ntp server 192.0.2.10 prefer
logging host 192.0.2.20
ip name-server 192.0.2.1 192.0.2.2
ip domain name example.net
ip domain list lab.example.net
tacacs server t1
 address ipv4 192.0.2.30
 key s3cret-tacacs
interface GigabitEthernet1/0/1
 description {{ no template }}
 switchport access vlan 10
 switchport mode access
interface GigabitEthernet1/0/2
 switchport mode trunk
 switchport trunk allowed vlan 10,20
interface GigabitEthernet1/0/3
 shutdown
interface GigabitEthernet1/0/4
";

async fn lab() -> Lab {
    let mut lab = Lab::new();
    lab.add_switch_with(SwitchOptions {
        config: Some(SWITCH.to_owned()),
        vlans: vec![(10, "users".to_owned()), (20, "voice".to_owned())],
        ..switch_options("sw1")
    })
    .await;
    lab.add_load_balancer("lb1", &[]).await;
    let resource = |name: &str, title: &str, parameters: Value| json!({"type": name, "title": title, "parameters": parameters});
    lab.write_resources(
        "lb1",
        &[
            resource(
                "f5_node",
                "/Common/web1",
                json!({"ensure": "present", "address": "192.0.2.41"}),
            ),
            resource(
                "f5_pool",
                "/Common/web",
                json!({
                    "ensure": "present", "description": "{{ web }}",
                    "members": [{"name": "/Common/web1", "port": 80}],
                }),
            ),
        ],
    );
    let applied = lab.run(&["apply", "--target", "lb1"]).await;
    applied.assert_code(0);
    lab
}

/// Titles that both exports contain.
const TITLES: [&str; 5] = [
    "GigabitEthernet1/0/2",
    "192.0.2.10",
    "users",
    "/Common/web1",
    "{{ no template }}",
];

#[tokio::test(flavor = "multi_thread")]
async fn exported_devices_plan_nothing() {
    let lab = lab().await;
    for (format, option) in [("yaml", "--state"), ("catalog", "--catalog")] {
        let export = ["resource", "sw1", "lb1", "--all", "--output", format];
        let exported = lab
            .run(&[&export[..], &["--output-dir", format]].concat())
            .await;
        exported.assert_code(0);
        exported.assert_contains("sw1: omitted resources that require a secret: 1");
        let files = lab.files(format).into_iter();
        let text: String = files.map(|(_, text)| text).collect();
        for title in TITLES {
            let is_template = format == "yaml" && title.starts_with("{{");
            assert!(text.contains(title) || is_template, "{title}: {text}");
        }
        assert!(!text.contains(PLANTED), "{text}");
        let validate = match format {
            "yaml" => vec!["validate", option, format, "--deny", "warnings"],
            // A catalog has all values.
            _ => vec!["validate", format],
        };
        let validated = lab.run(&validate).await;
        validated.assert_code(0);
        let plan = [
            "plan",
            option,
            format,
            "--detailed-exitcodes",
            "--output",
            "json",
        ];
        let planned = lab.run(&plan).await;
        planned.assert_code(0);
        let counts: Vec<_> = planned
            .objects()
            .into_iter()
            .filter(|object| object["kind"] == "device")
            .map(|device| device["counts"]["resources"].as_u64().unwrap())
            .collect();
        assert!(
            counts.len() == 2 && counts.iter().all(|count| *count > 1),
            "{counts:?}"
        );
    }
}

/// With secrets, the files set the secrets of the device.
#[tokio::test(flavor = "multi_thread")]
async fn exported_secrets_plan_nothing() {
    let lab = lab().await;
    for (format, option) in [("yaml", "--state"), ("catalog", "--catalog")] {
        let export = ["resource", "sw1", "--all", "--show-secrets", "-o", format];
        let exported = lab
            .run(&[&export[..], &["--output-dir", format]].concat())
            .await;
        exported.assert_code(0);
        let files = lab.files(format).into_iter();
        let text: String = files.map(|(_, text)| text).collect();
        assert!(text.contains("s3cret-public"), "{text}");
        let plan = [
            "plan",
            option,
            format,
            "--detailed-exitcodes",
            "--target",
            "sw1",
        ];
        lab.run(&plan).await.assert_code(0);
    }
}

/// An export has neither defaults nor two types for one setting.
#[tokio::test(flavor = "multi_thread")]
async fn export_leaves_out_defaults_and_repeated_settings() {
    let lab = lab().await;
    let export = ["resource", "sw1", "--all", "--output", "json"];
    let parsed = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let short = lab.run(&export).await;
    short.assert_code(0);
    short.assert_contains("resources at their defaults, left out: ");
    let short = parsed(&short.stdout);
    let port = "GigabitEthernet1/0/2";
    assert_eq!(short["ios_network_trunk"][port]["mode"], "trunk");
    assert_eq!(
        short["network_trunk"],
        Value::Null,
        "one type for a setting"
    );
    assert_eq!(short["ios_storm_control"], Value::Null, "only defaults");
    let interface = &short["network_interface"]["GigabitEthernet1/0/3"];
    assert_eq!(interface["enable"], false);
    // Ports without a line, although the switch shows their negotiated speed and VLAN.
    let untouched = "GigabitEthernet1/0/4";
    for of_ports in ["ios_network_trunk", "network_interface"] {
        assert_eq!(short[of_ports][untouched], Value::Null, "{of_ports}");
    }

    // Name servers and domains are lists of one type.
    assert!(short["ios_network_dns"]["default"]["servers"].is_array());
    for of_names in ["name_server", "domain_name", "search_domain"] {
        assert_eq!(short[of_names], Value::Null, "{of_names}");
    }

    let long = lab.run(&[&export[..], &["--with-defaults"]].concat()).await;
    let long = parsed(&long.stdout);
    for of_ports in ["ios_network_trunk", "network_interface"] {
        assert!(long[of_ports][untouched].is_object(), "{of_ports}");
    }
    let count = |all: &Value| -> usize {
        let types = all.as_object().unwrap().values();
        types
            .map(|titles| titles.as_object().map_or(0, |titles| titles.len()))
            .sum()
    };
    assert!(
        count(&short) * 2 < count(&long),
        "{} {}",
        count(&short),
        count(&long)
    );
}

/// A load balancer has objects of the factory, which are not exported.
#[tokio::test(flavor = "multi_thread")]
async fn export_of_a_load_balancer_has_no_objects_of_the_factory() {
    let lab = lab().await;
    let export = ["resource", "lb1", "--all", "--output", "yaml"];
    let short = lab.run(&export).await;
    short.assert_code(0);
    short.assert_contains("resources at their defaults, left out: ");
    short.assert_contains("f5_pool:\n  /Common/web:\n");
    for title in ["/Common/http", "/Common/clientssl", "/Common/cookie"] {
        let line = format!("\n  {title}:");
        assert!(!short.stdout.contains(&line), "{title}: {}", short.stdout);
    }
    let long = lab.run(&[&export[..], &["--with-defaults"]].concat()).await;
    let lines = |text: &str| text.lines().count();
    assert!(
        lines(&short.stdout) * 5 < lines(&long.stdout),
        "{}",
        short.stdout
    );
}

/// An edited file is not lost.
#[tokio::test(flavor = "multi_thread")]
async fn export_replaces_edited_files_only_if_forced() {
    let lab = lab().await;
    let export = [
        "resource",
        "sw1",
        "--all",
        "-o",
        "puppet",
        "--output-dir",
        "exported",
    ];
    let first = lab.run(&export).await;
    first.assert_code(0);
    first.assert_contains("files written to exported: 1\n");
    let file = lab.path("exported/sw1.pp");
    let text = fs::read_to_string(&file).unwrap();
    // Other devices have resources with these titles.
    assert!(text.starts_with("node 'sw1.lab.test' {\n  "), "{text}");
    assert!(text.ends_with("\n  }\n}\n"), "{text}");
    lab.run(&export).await.assert_code(0);
    fs::write(&file, "edited").unwrap();
    let refused = lab.run(&export).await;
    refused.assert_code(1);
    refused.assert_contains("exported/sw1.pp exists and differs from the device");
    refused.assert_contains("--force");
    assert_eq!(fs::read_to_string(&file).unwrap(), "edited");
    lab.run(&[&export[..], &["--force"]].concat())
        .await
        .assert_code(0);
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
}

#[tokio::test(flavor = "multi_thread")]
async fn export_prints_one_device_and_writes_several() {
    let lab = lab().await;
    let one = lab.run(&["resource", "sw1", "--all"]).await;
    one.assert_code(0);
    one.assert_contains("network_vlan { '10':");
    one.assert_contains("ntp_server { '192.0.2.10':");
    let two = lab.run(&["resource", "sw1", "lb1", "--all"]).await;
    two.assert_code(1);
    two.assert_contains("write a file for each with --output-dir DIR");
    let none = lab.run(&["resource", "sw1"]).await;
    none.assert_code(1);
    none.assert_contains("a device and a type are required");
}

/// A refused command leaves out its types; a device that cannot be read has no file.
#[tokio::test(flavor = "multi_thread")]
async fn export_reports_what_cannot_be_read() {
    let mut lab = Lab::new();
    let refused = "refuse=^show vlan brief => % Invalid input detected at '^' marker.";
    lab.add_switch("sw1", &[refused]).await;
    lab.add_switch("sw2", &["login-refused=1"]).await;
    let export = [
        "resource",
        "sw*",
        "--all",
        "-o",
        "yaml",
        "--output-dir",
        "out",
    ];
    let exported = lab.run(&export).await;
    exported.assert_code(1);
    exported.assert_contains("error: sw1: ");
    exported.assert_contains("% Invalid input detected");
    exported.assert_contains("sw1: not read: network_vlan\n");
    exported.assert_contains("error: sw2: ");
    let files = lab.files("out");
    let [(path, text)] = &files[..] else {
        panic!("{files:?}");
    };
    assert_eq!(*path, lab.path("out/device/sw1.yaml"));
    assert!(
        text.contains("\ninterface:") && !text.contains("network_vlan:"),
        "{text}"
    );
}
