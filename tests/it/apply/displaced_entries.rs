//! An access list entry that needs the text of another one removes it only if the catalog changes or
//! removes the other one in the same run. Further cases are in `cases/`.

use serde_json::{Value, json};
use switchtender_mocks::SwitchOptions;

use test_support::catalog::resource;
use test_support::lab::{Lab, switch_options};

const ENTRIES: &str =
    "ip access-list extended A\n 10 permit tcp any any eq 22\n 20 permit tcp any any eq 23\n";

fn entry(number: u8, port: &str) -> Value {
    let attributes = json!({
        "ensure": "present", "permission": "permit", "protocol": "tcp",
        "source_address_any": true, "destination_address_any": true, "destination_eq": [port],
    });
    resource("Ios_acl", &format!("A extended {number}"), attributes)
}

#[tokio::test(flavor = "multi_thread")]
async fn entry_of_a_skipped_resource_stays() {
    let mut lab = Lab::new();
    lab.add_switch_with(SwitchOptions {
        config: Some(ENTRIES.to_owned()),
        ..switch_options("sw1")
    })
    .await;
    let mut late = entry(20, "22");
    late["tags"] = json!(["ios_acl", "late"]);
    lab.write_resources("sw1", &[entry(10, "23"), late]);
    let message =
        "cannot change it: entry 20 has the same text, and Ios_acl[A extended 20] is skipped";
    let plan = lab.run(&["plan", "--skip-tags", "late"]).await;
    plan.assert_contains(message);
    let applied = [
        "apply",
        "--output",
        "json",
        "--detailed-exitcodes",
        "--skip-tags",
        "late",
    ];
    let ran = lab.run(&applied).await;
    assert_eq!(
        ran.events("sw1"),
        [format!("Ios_acl[A extended 10]/: failure: {message}")]
    );
    assert_eq!(lab.log("sw1").configuration_lines(), [""; 0]);
}
