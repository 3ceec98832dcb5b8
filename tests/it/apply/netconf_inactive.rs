//! Inactive elements of a NETCONF configuration: present means activate, absent means delete.

use std::path::Path;

use serde_json::json;
use test_support::catalog::resource;
use test_support::lab::Lab;

const TERMS: &str = "GET /junos:configuration/firewall/family/inet/filter[*]/term";

#[tokio::test(flavor = "multi_thread")]
async fn declared_inactive_elements_are_activated_or_deleted() {
    let lab = Lab::with_devices(&[("j1", "junos_netconf")]);
    let present = json!({"action": "accept", "count": "C", "after": "first"});
    lab.write_resources(
        "j1",
        &[
            resource("Junos_filter_term", "F A", present),
            resource("Junos_filter_term", "F B", json!({"ensure": "absent"})),
        ],
    );
    let terms = "<configuration xmlns=\"http://xml.juniper.net/xnm/1.1/xnm\"><firewall><family><inet><filter><name>F</name>\
        <term inactive=\"inactive\"><name>A</name><then><count inactive=\"inactive\">X</count><accept/></then></term>\
        <term inactive=\"inactive\"><name>B</name></term><term inactive=\"inactive\"><name>C</name></term>\
        </filter></inet></family></firewall></configuration>";
    let configs = lab.path("running");
    std::fs::create_dir(&configs).unwrap();
    std::fs::write(configs.join("j1.json"), json!({TERMS: terms}).to_string()).unwrap();
    let definitions = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/definitions");
    let options = [
        "--mock",
        "--mock-config",
        &configs.display().to_string(),
        "--definitions",
        &definitions.display().to_string(),
        "--output",
        "json",
    ];
    let ran = lab.run(&[&["apply"], &options[..]].concat()).await;
    ran.assert_code(0);
    let events = ran.events("j1");
    let changed = |term: &str| events.iter().any(|event| event.contains(term));
    assert!(changed("F A") && changed("F B"), "{events:#?}");
    assert_eq!(events.len(), 2, "{events:#?}");
    // An element that is not declared is told.
    ran.assert_contains("inactive: F C");
}
