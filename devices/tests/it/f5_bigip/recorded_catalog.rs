//! A recorded catalog of a small site: its reads, its requests, and the requests that remove it.

use serde_json::json;
use switchtender_devices::change::Desired;
use switchtender_devices::driver::Driver;
use switchtender_devices::read::{Reads, State};

use super::{print, resources, shipped};
use crate::support::offline::apply;

/// A factory-new device: objects of the system only.
fn factory_state(driver: &Driver, resources: &[Desired]) -> State {
    let system_objects = [
        (
            "GET /mgmt/tm/auth/partition",
            json!({"items": [{"name": "Common", "fullPath": "Common", "defaultRouteDomain": 0}]}),
        ),
        (
            "GET /mgmt/tm/ltm/monitor/http",
            json!({"items": [{"name": "http", "partition": "Common", "fullPath": "/Common/http", "interval": 5}]}),
        ),
        (
            "GET /mgmt/tm/ltm/profile/http",
            json!({"items": [{"fullPath": "/Common/http"}]}),
        ),
        (
            "GET /mgmt/tm/ltm/profile/tcp",
            json!({"items": [{"fullPath": "/Common/tcp"}]}),
        ),
        (
            "GET /mgmt/tm/ltm/rule",
            json!({"items": [{"fullPath": "/Common/_sys_https_redirect", "apiAnonymous": "x"}]}),
        ),
        (
            "GET /mgmt/tm/sys/ntp",
            json!({"timezone": "America/Los_Angeles"}),
        ),
    ];
    let all: Vec<&Desired> = resources.iter().collect();
    let reads: Reads = driver
        .reads_for(&all)
        .into_iter()
        .map(|request| {
            let found = system_objects
                .iter()
                .find(|(name, _)| *name == request.name);
            let answer = found.map_or_else(|| json!({"kind": "x"}), |(_, answer)| answer.clone());
            (request.name, answer.to_string())
        })
        .collect();
    driver.platform().parse(&reads).expect("JSON")
}

#[test]
fn recorded_catalog_takes_one_request_per_resource_and_then_none() {
    let (registry, driver) = shipped();
    let resources = resources(registry, &driver, "lb1");
    let mut state = factory_state(&driver, &resources);
    let before = state.clone();

    let sent: Vec<String> = resources
        .iter()
        .flat_map(|desired| print(&apply(&driver, desired, &mut state)))
        .collect();
    assert_eq!(
        sent,
        [
            r#"POST /mgmt/tm/auth/partition {"name":"shop"}"#,
            r#"POST /mgmt/tm/net/vlan {"name":"servers","partition":"Common","tag":120,"interfaces":[{"name":"1.2","tagged":true}]}"#,
            r#"POST /mgmt/tm/net/self {"name":"self-servers","partition":"Common","address":"198.51.100.1/24","vlan":"/Common/servers"}"#,
            r#"POST /mgmt/tm/ltm/monitor/http {"name":"http_health","partition":"shop","defaultsFrom":"/Common/http","interval":5,"timeout":16,"send":"GET /health HTTP/1.1\\r\\nHost: shop.example\\r\\nConnection: close\\r\\n\\r\\n","recv":"200 OK"}"#,
            r#"POST /mgmt/tm/ltm/node {"name":"web1","partition":"shop","address":"198.51.100.11","monitor":"/Common/icmp"}"#,
            r#"POST /mgmt/tm/ltm/node {"name":"web2","partition":"shop","address":"198.51.100.12","monitor":"/Common/icmp"}"#,
            r#"POST /mgmt/tm/ltm/node {"name":"web3","partition":"shop","address":"198.51.100.13","monitor":"/Common/icmp"}"#,
            r#"POST /mgmt/tm/ltm/pool {"name":"web","partition":"shop","monitor":"/shop/http_health","loadBalancingMode":"least-connections-member","members":[{"name":"/shop/web1:8080"},{"name":"/shop/web2:8080"},{"name":"/shop/web3:8080"}]}"#,
            r#"POST /mgmt/tm/ltm/rule {"name":"redirect","partition":"shop","apiAnonymous":"when HTTP_REQUEST {\n  HTTP::redirect \"https://[HTTP::host][HTTP::uri]\"\n}"}"#,
            r#"POST /mgmt/tm/ltm/virtual {"name":"web_vs","partition":"shop","destination":"/shop/203.0.113.80:443","mask":"255.255.255.255","source":"0.0.0.0/0","ipProtocol":"tcp","pool":"/shop/web","rules":["/shop/redirect"],"sourceAddressTranslation":{"type":"automap"},"vlans":["/Common/servers"],"vlansEnabled":true,"profiles":[{"name":"/Common/tcp","context":"all"},{"name":"/Common/http"}]}"#,
            r#"PATCH /mgmt/tm/sys/ntp {"servers":["192.0.2.10","192.0.2.11"],"timezone":"UTC"}"#,
        ]
    );

    let again: Vec<String> = resources
        .iter()
        .flat_map(|desired| print(&apply(&driver, desired, &mut state)))
        .collect();
    assert!(again.is_empty(), "{again:#?}");

    let diff = driver.config_diff(&before, &state);
    for line in [
        "+/mgmt/tm/ltm/pool /shop/web",
        "+ members: /shop/web1:8080",
        "+ timezone: \"UTC\"",
        "- timezone: \"America/Los_Angeles\"",
    ] {
        assert!(
            diff.lines().any(|one| one.trim_end() == line),
            "{line} in\n{diff}"
        );
    }
    assert!(
        !diff.contains("_sys_https_redirect") || !diff.contains("-/mgmt/tm/ltm/rule"),
        "{diff}"
    );
}

#[test]
fn reads_name_each_collection_once_and_only_requested_kinds() {
    let (registry, driver) = shipped();
    let resources = resources(registry, &driver, "lb1");
    let all: Vec<&Desired> = resources.iter().collect();
    let reads: Vec<String> = driver
        .reads_for(&all)
        .into_iter()
        .map(|read| read.command)
        .collect();
    assert_eq!(
        reads,
        [
            "/mgmt/tm/auth/partition",
            "/mgmt/tm/net/vlan?expandSubcollections=true",
            "/mgmt/tm/net/self",
            "/mgmt/tm/ltm/monitor/http",
            "/mgmt/tm/ltm/node",
            "/mgmt/tm/ltm/pool?expandSubcollections=true",
            "/mgmt/tm/ltm/rule",
            "/mgmt/tm/ltm/virtual?expandSubcollections=true",
            "/mgmt/tm/ltm/profile/fasthttp",
            "/mgmt/tm/ltm/profile/fastl4",
            "/mgmt/tm/ltm/profile/http",
            "/mgmt/tm/ltm/profile/tcp",
            "/mgmt/tm/sys/ntp",
        ]
    );
}

#[test]
fn recorded_catalog_is_removed_in_reverse_rank_order() {
    let (registry, driver) = shipped();
    let mut resources = resources(registry, &driver, "lb1");
    let mut state = factory_state(&driver, &resources);
    let empty = state.clone();
    for desired in &resources {
        apply(&driver, desired, &mut state);
    }
    resources.retain(|desired| desired.attributes.contains_key("ensure"));
    resources.sort_by_key(|desired| std::cmp::Reverse(driver.rank(&desired.model)));
    let mut sent = Vec::new();
    for desired in &mut resources {
        desired
            .attributes
            .insert("ensure".to_owned(), "absent".into());
        sent.extend(print(&apply(&driver, desired, &mut state)));
    }
    assert_eq!(
        sent,
        [
            "DELETE /mgmt/tm/ltm/virtual/~shop~web_vs",
            "DELETE /mgmt/tm/ltm/rule/~shop~redirect",
            "DELETE /mgmt/tm/ltm/pool/~shop~web",
            "DELETE /mgmt/tm/ltm/node/~shop~web1",
            "DELETE /mgmt/tm/ltm/node/~shop~web2",
            "DELETE /mgmt/tm/ltm/node/~shop~web3",
            "DELETE /mgmt/tm/net/self/~Common~self-servers",
            "DELETE /mgmt/tm/ltm/monitor/http/~shop~http_health",
            "DELETE /mgmt/tm/net/vlan/~Common~servers",
            "DELETE /mgmt/tm/auth/partition/shop",
        ]
    );
    let diff = driver.config_diff(&empty, &state);
    let changed: Vec<&str> = diff
        .lines()
        .filter(|line| line.starts_with(['+', '-']))
        .collect();
    assert!(
        changed
            .iter()
            .all(|line| line.contains("timezone") || line.contains("servers")),
        "{diff}"
    );
}
