//! A plan against answers that a device never printed.

use serde_json::{Value as Json, json};
use test_support::catalog::resource;
use test_support::lab::Lab;

#[tokio::test(flavor = "multi_thread")]
async fn value_that_no_command_can_set_is_fine_while_the_device_has_it() {
    let mut lab = Lab::new();
    lab.add_switch("sw1", &[]).await;
    lab.run(&["backup", "saved", "--with-secrets"])
        .await
        .assert_code(0);
    let path = lab.path("saved/sw1.json");
    let mut answers: Json = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    answers["vlan_brief"] = "\nVLAN Name                             Status    Ports\n---- -------------------------------- --------- -------------------------------\n1    default                          active    \n5    Guest Wi-Fi 2nd floor            active    \n6    lab                              active    \n".into();
    std::fs::write(&path, answers.to_string()).unwrap();
    let plan = ["plan", "--running", "saved"];
    let vlan = |id: &str| {
        let name = json!({"vlan_name": "Guest Wi-Fi 2nd floor"});
        resource("Network_vlan", id, name)
    };
    lab.write_resources("sw1", &[vlan("5")]);
    let planned = lab.run(&plan).await;
    planned.assert_code(0);
    planned.assert_contains("unchanged");
    lab.write_resources("sw1", &[vlan("5"), vlan("6")]);
    let planned = lab.run(&plan).await;
    planned.assert_code(1);
    planned.assert_contains("cannot change vlan_name: \"Guest Wi-Fi 2nd floor\" contains spaces");
}
