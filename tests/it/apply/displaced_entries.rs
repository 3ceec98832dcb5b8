//! An access list entry that needs the text of another one removes it only if the catalog changes or
//! removes the other one in the same run.

use serde_json::{Value, json};
use switchtender_mocks::SwitchOptions;

use test_support::catalog::resource;
use test_support::lab::{Lab, switch_options};
use test_support::program::ProgramOutput;

const ENTRIES: &str =
    "ip access-list extended A\n 10 permit tcp any any eq 22\n 20 permit tcp any any eq 23\n";

async fn lab() -> Lab {
    let mut lab = Lab::new();
    lab.add_switch_with(SwitchOptions {
        config: Some(ENTRIES.to_owned()),
        ..switch_options("sw1")
    })
    .await;
    lab
}

fn entry(number: u8, port: &str) -> Value {
    let attributes = json!({
        "access_list": "A", "access_list_type": "extended", "entry": number.to_string(),
        "ensure": "present", "permission": "permit", "protocol": "tcp",
        "source_address_any": true, "destination_address_any": true, "destination_eq": [port],
    });
    resource("Ios_acl", &format!("A extended {number}"), attributes)
}

fn absent(number: u8) -> Value {
    let attributes = json!({
        "access_list": "A", "access_list_type": "extended", "entry": number.to_string(),
        "ensure": "absent",
    });
    resource("Ios_acl", &format!("A extended {number}"), attributes)
}

async fn apply(lab: &Lab, options: &[&str]) -> ProgramOutput {
    let arguments = ["apply", "--output", "json", "--detailed-exitcodes"];
    lab.run(&[&arguments[..], options].concat()).await
}

/// Nothing is sent; entry `number` fails with this message, in `plan` too.
async fn assert_refused(lab: &Lab, options: &[&str], number: u8, message: &str) {
    let plan = lab.run(&[&["plan"][..], options].concat()).await;
    plan.assert_contains(message);
    let ran = apply(lab, options).await;
    let reference = format!("Ios_acl[A extended {number}]");
    assert_eq!(
        ran.events("sw1"),
        [format!("{reference}/: failure: {message}")]
    );
    assert_eq!(lab.log("sw1").configuration_lines(), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn entry_of_a_noop_resource_stays() {
    let lab = lab().await;
    let mut noop = entry(20, "22");
    noop["parameters"]["noop"] = json!(true);
    lab.write_resources("sw1", &[entry(10, "23"), noop]);
    let message =
        "cannot change it: entry 20 has the same text, and Ios_acl[A extended 20] is noop";
    let plan = lab.run(&["plan"]).await;
    plan.assert_contains(message);
    let ran = apply(&lab, &[]).await;
    ran.assert_code(4);
    assert_eq!(
        ran.events("sw1"),
        [
            format!("Ios_acl[A extended 10]/: failure: {message}"),
            "Ios_acl[A extended 20]/destination_eq: noop: destination_eq changed ['23'] to ['22'] \
             (noop)"
                .to_owned(),
        ]
    );
    assert_eq!(lab.log("sw1").configuration_lines(), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn entry_of_a_skipped_resource_stays() {
    let lab = lab().await;
    let mut late = entry(20, "22");
    late["tags"] = json!(["ios_acl", "late"]);
    lab.write_resources("sw1", &[entry(10, "23"), late]);
    assert_refused(
        &lab,
        &["--skip-tags", "late"],
        10,
        "cannot change it: entry 20 has the same text, and Ios_acl[A extended 20] is skipped",
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn entry_that_is_not_declared_stays() {
    let lab = lab().await;
    lab.write_resources("sw1", &[entry(5, "23")]);
    assert_refused(
        &lab,
        &[],
        5,
        "cannot change it: entry 20 has the same text; declare it, or remove it",
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn entry_that_the_catalog_keeps_stays() {
    let lab = lab().await;
    lab.write_resources("sw1", &[entry(5, "23"), entry(20, "23")]);
    assert_refused(
        &lab,
        &[],
        5,
        "cannot change it: entry 20 has the same text, and Ios_acl[A extended 20] keeps it",
    )
    .await;
    // The other resource is evaluated first.
    lab.write_resources("sw1", &[entry(20, "23"), entry(5, "23")]);
    assert_refused(
        &lab,
        &[],
        5,
        "cannot change it: entry 20 has the same text, and Ios_acl[A extended 20] keeps it",
    )
    .await;
}

/// Each entry has an event, also if the other resource sent its removal.
#[tokio::test(flavor = "multi_thread")]
async fn entries_that_change_in_the_same_run_have_events() {
    let created = "Ios_acl[A extended 5]/ensure: success: defined 'ensure' as 'present'";
    let purge = resource("Resources", "ios_acl", json!({ "purge": true }));
    for (last, title) in [(absent(20), "A extended 20"), (purge, "A/extended/20")] {
        let lab = lab().await;
        lab.write_resources("sw1", &[entry(5, "23"), entry(10, "22"), last]);
        let ran = apply(&lab, &[]).await;
        ran.assert_code(2);
        let mut events = ran.events("sw1");
        events.sort();
        let removed =
            format!("Ios_acl[{title}]/ensure: success: undefined 'ensure' from 'present'");
        let mut expected = [created, removed.as_str()];
        expected.sort_unstable();
        assert_eq!(events, expected);
        let mut sent = lab.log("sw1").configuration_lines();
        sent.retain(|line| !line.starts_with("ip access-list"));
        assert_eq!(sent, ["no 20", "5 permit tcp any any eq 23"]);
        apply(&lab, &[]).await.assert_code(0);
    }

    let lab = lab().await;
    lab.write_resources("sw1", &[entry(10, "23"), entry(20, "22")]);
    let ran = apply(&lab, &[]).await;
    ran.assert_code(2);
    assert_eq!(
        ran.events("sw1"),
        [
            "Ios_acl[A extended 10]/destination_eq: success: destination_eq changed ['22'] to \
             ['23']",
            "Ios_acl[A extended 20]/destination_eq: success: destination_eq changed ['23'] to \
             ['22']",
        ]
    );
    apply(&lab, &[]).await.assert_code(0);
}
