//! `import` of devices that answer: short files, an empty plan, and a second import that changes nothing.

use switchtender_mocks::SwitchOptions;
use test_support::lab::{Lab, switch_options};
use test_support::program::PLANTED;

/// The community is a secret that names its resource.
fn configuration(port: &str) -> String {
    format!(
        "snmp-server community {PLANTED} RO\nntp server 192.0.2.10\ninterface GigabitEthernet1/0/1\n description {port}\n\
         interface GigabitEthernet1/0/2\n shutdown\n"
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn imported_devices_have_short_files_and_an_empty_plan() {
    let mut lab = Lab::new();
    for name in ["sw1", "sw2", "sw3"] {
        let port = if name == "sw3" { "printer" } else { "desk" };
        lab.add_switch_with(SwitchOptions {
            config: Some(configuration(port)),
            ..switch_options(name)
        })
        .await;
    }
    let import = ["import", "desired", "--share", "60"];
    let imported = lab.run(&import).await;
    imported.assert_code(0);
    imported.assert_contains("plan of the files against what was read: empty");
    let sorted = |lab: &Lab| {
        let mut files = lab.files("desired");
        files.sort();
        files
    };
    let files = sorted(&lab);
    let text = |name: &str| {
        let found = files.iter().find(|(path, _)| path.ends_with(name));
        found.map(|(_, text)| text.as_str()).unwrap_or_default()
    };
    assert!(text("common.yaml").contains("192.0.2.10"), "{files:#?}");
    assert!(text("common.yaml").contains("desk"), "{files:#?}");
    assert!(text("device/sw3.yaml").contains("printer"), "{files:#?}");
    assert!(
        !text("device/sw1.yaml").contains("192.0.2.10"),
        "{files:#?}"
    );
    assert!(
        files.iter().all(|(_, text)| !text.contains(PLANTED)),
        "{files:#?}"
    );

    // The variable of the community is not set: its resource is not managed.
    let plan = lab.run(&["plan", "--state", "desired"]).await;
    plan.assert_code(0);
    plan.assert_contains("3 devices: 3 unchanged");
    plan.assert_contains("is not set");

    let again = lab.run(&import).await;
    again.assert_code(0);
    again.assert_contains("written: 0 of ");
    assert_eq!(sorted(&lab), files);
}
