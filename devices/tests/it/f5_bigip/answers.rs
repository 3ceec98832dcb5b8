//! Answers of the device: malformed ones, and facts.

use serde_json::json;
use switchtender_devices::read::Reads;

use super::{desired, shipped, state_with};

#[test]
fn malformed_collection_is_an_error_that_names_the_read() {
    let (registry, driver) = shipped();
    let node = desired(
        registry,
        &driver,
        "f5_node",
        &json!({"ensure": "present", "address": "192.0.2.1"}),
    );
    for (answer, message) in [
        (json!([1]), "it is not a JSON object"),
        (
            json!({"items": {"a": 1}}),
            "its `items` is not a list of objects",
        ),
        (
            json!({"items": [{"address": "192.0.2.1"}]}),
            "an object has no `fullPath`",
        ),
    ] {
        let state = state_with(&driver, &node, "GET /mgmt/tm/ltm/node", &answer);
        let error = driver.instance(&node, &state).expect_err("malformed");
        assert_eq!(
            error.to_string(),
            format!("cannot parse the answer to `GET /mgmt/tm/ltm/node`: {message}")
        );
    }
}

#[test]
fn facts_are_read_from_the_answering_unit() {
    let (registry, _) = shipped();
    let platform = registry.platform("f5_bigip").expect("shipped");
    let device = json!({"items": [
        {"name": "lb0", "selfDevice": "false", "hostname": "lb0.lab.test", "version": "13.1.0"},
        {"name": "lb1", "selfDevice": "true", "hostname": "lb1.lab.test", "version": "14.1.4", "baseMac": "00:00:5e:00:53:01",
         "managementIp": "192.0.2.20", "marketingName": "BIG-IP Virtual Edition", "failoverState": "active"},
    ]});
    let reads: Reads = platform
        .fact_reads()
        .into_iter()
        .map(|request| (request.name, device.to_string()))
        .collect();
    let facts = platform.facts(&reads);
    for (name, expected) in [
        ("operatingsystem", Some("F5")),
        ("operatingsystemrelease", Some("14.1.4")),
        ("fqdn", Some("lb1.lab.test")),
        ("macaddress", Some("00:00:5e:00:53:01")),
        ("ipaddress", Some("192.0.2.20")),
        ("productname", Some("BIG-IP Virtual Edition")),
        ("failoverState", Some("active")),
        ("chassisId", None),
    ] {
        assert_eq!(facts.get(name).map(String::as_str), expected, "{name}");
    }
}
