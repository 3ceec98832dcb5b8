//! Objects: how they come, change and go, with the verbs.

use serde_json::{Value, json};

use super::client::Box;
use super::site::{part, site};

#[tokio::test]
async fn objects_are_created_with_defaults() {
    let lb = Box::new().await;
    site(&lb).await;
    for (path, names, expected) in [
        (
            "ltm/pool/~shop~web",
            &[
                "kind",
                "name",
                "partition",
                "fullPath",
                "selfLink",
                "monitor",
                "loadBalancingMode",
                "allowNat",
                "minActiveMembers",
                "slowRampTime",
            ][..],
            json!({
                "kind": "tm:ltm:pool:poolstate", "name": "web", "partition": "shop", "fullPath": "/shop/web",
                "selfLink": "https://localhost/mgmt/tm/ltm/pool/~shop~web?ver=17.1.0",
                "monitor": "/shop/health ", "loadBalancingMode": "round-robin", "allowNat": "yes", "minActiveMembers": 0, "slowRampTime": 10,
            }),
        ),
        (
            "ltm/pool/~shop~web/members/~shop~web1:8080",
            &[
                "kind",
                "fullPath",
                "address",
                "ratio",
                "priorityGroup",
                "state",
                "session",
                "monitor",
            ],
            json!({"kind": "tm:ltm:pool:members:membersstate", "fullPath": "/shop/web1:8080", "address": "198.51.100.11", "ratio": 1, "priorityGroup": 0, "state": "up", "session": "monitor-enabled", "monitor": "default"}),
        ),
        (
            "ltm/node/~shop~web1",
            &[
                "address",
                "monitor",
                "state",
                "session",
                "rateLimit",
                "ratio",
                "connectionLimit",
                "logging",
            ],
            json!({"address": "198.51.100.11", "monitor": "/Common/icmp ", "state": "up", "session": "monitor-enabled", "rateLimit": "disabled", "ratio": 1, "connectionLimit": 0, "logging": "disabled"}),
        ),
        (
            "ltm/node/~shop~web2",
            &["monitor", "state", "session"],
            json!({"monitor": "default", "state": "unchecked", "session": "user-enabled"}),
        ),
        (
            "ltm/monitor/http/~shop~health",
            &[
                "kind",
                "defaultsFrom",
                "interval",
                "timeout",
                "send",
                "recv",
                "destination",
                "transparent",
                "manualResume",
            ],
            json!({"kind": "tm:ltm:monitor:http:httpstate", "defaultsFrom": "/Common/http", "interval": 5, "timeout": 16, "send": "GET /health\\r\\n", "recv": "200 OK ", "destination": "*:*", "transparent": "disabled", "manualResume": "disabled"}),
        ),
        (
            "ltm/virtual/~shop~vs",
            &[
                "destination",
                "mask",
                "source",
                "enabled",
                "disabled",
                "vlansEnabled",
                "vlansDisabled",
                "vlans",
                "rules",
                "pool",
                "poolReference",
                "sourceAddressTranslation",
                "ipProtocol",
                "translateAddress",
                "addressStatus",
            ],
            json!({
                "destination": "/shop/203.0.113.80:443", "mask": "255.255.255.255", "source": "0.0.0.0/0", "enabled": true,
                "vlansEnabled": true, "vlans": ["/Common/servers"], "rules": ["/shop/redirect"], "pool": "/shop/web",
                "poolReference": {"link": "https://localhost/mgmt/tm/ltm/pool/~shop~web?ver=17.1.0"},
                "sourceAddressTranslation": {"type": "automap"}, "ipProtocol": "tcp", "translateAddress": "enabled", "addressStatus": "yes",
            }),
        ),
        (
            "ltm/rule/~shop~redirect",
            &["apiAnonymous"],
            json!({"apiAnonymous": "when HTTP_REQUEST {\n  HTTP::redirect \"https://x/\"\n}"}),
        ),
        (
            "net/vlan/~Common~servers",
            &["tag", "mtu", "sourceChecking", "failsafe"],
            json!({"tag": 120, "mtu": 1500, "sourceChecking": "disabled", "failsafe": "disabled"}),
        ),
        (
            "net/vlan/~Common~servers/interfaces/1.2",
            &["name", "fullPath", "tagged"],
            json!({"name": "1.2", "fullPath": "1.2", "tagged": true}),
        ),
        (
            "net/self/~Common~self-servers",
            &[
                "address",
                "vlan",
                "trafficGroup",
                "floating",
                "allowService",
                "inheritedTrafficGroup",
            ],
            json!({"address": "198.51.100.1/24", "vlan": "/Common/servers", "trafficGroup": "/Common/traffic-group-local-only", "floating": "disabled", "inheritedTrafficGroup": "false"}),
        ),
        (
            "ltm/virtual-address/~shop~203.0.113.80",
            &["address", "arp"],
            json!({"address": "203.0.113.80", "arp": "enabled"}),
        ),
        (
            "auth/partition/shop",
            &["name", "fullPath", "defaultRouteDomain"],
            json!({"name": "shop", "fullPath": "shop", "defaultRouteDomain": 0}),
        ),
    ] {
        assert_eq!(part(&lb.get(path).await, names), expected, "{path}");
    }
    let profiles = lb
        .get("ltm/virtual/~shop~vs?expandSubcollections=true")
        .await["profilesReference"]["items"]
        .clone();
    let received: Vec<Value> = profiles
        .as_array()
        .unwrap()
        .iter()
        .map(|profile| part(profile, &["fullPath", "context"]))
        .collect();
    assert_eq!(
        received,
        [
            json!({"fullPath": "/Common/http", "context": "all"}),
            json!({"fullPath": "/Common/tcp", "context": "all"})
        ]
    );
}

#[tokio::test]
async fn objects_are_deleted_in_dependency_order() {
    let lb = Box::new().await;
    site(&lb).await;
    for path in [
        "ltm/virtual/~shop~vs",
        "ltm/rule/~shop~redirect",
        "ltm/pool/~shop~web",
        "ltm/monitor/http/~shop~health",
        "ltm/node/~shop~web1",
        "ltm/node/~shop~web2",
        "auth/partition/shop",
        "net/self/~Common~self-servers",
        "net/vlan/~Common~servers",
    ] {
        lb.done("DELETE", path, Value::Null).await;
    }
    assert!(
        lb.get("ltm/virtual-address").await.get("items").is_none(),
        "the address went with its server"
    );
}

#[tokio::test]
async fn objects_patch_merges_and_put_replaces() {
    let lb = Box::new().await;
    site(&lb).await;
    let path = "ltm/pool/~shop~web";
    lb.done(
        "PATCH",
        path,
        json!({"description": "a", "load-balancing-mode": "ratio-member"}),
    )
    .await;
    let received = lb.done("PATCH", path, json!({"slowRampTime": "30"})).await;
    assert_eq!(
        part(
            &received,
            &["description", "loadBalancingMode", "slowRampTime"]
        ),
        json!({"description": "a", "loadBalancingMode": "ratio-member", "slowRampTime": 30})
    );
    let received = lb
        .done(
            "PUT",
            path,
            json!({"name": "web", "partition": "shop", "slowRampTime": 5}),
        )
        .await;
    assert_eq!(
        part(
            &received,
            &[
                "description",
                "loadBalancingMode",
                "slowRampTime",
                "monitor"
            ]
        ),
        json!({"loadBalancingMode": "round-robin", "slowRampTime": 5})
    );
    let members = lb.get("ltm/pool/~shop~web/members").await;
    assert_eq!(
        members["items"].as_array().unwrap().len(),
        2,
        "members that are not mentioned stay"
    );
}

#[tokio::test]
async fn pool_members_are_added_and_removed_one_at_a_time() {
    let lb = Box::new().await;
    site(&lb).await;
    let members = "ltm/pool/~shop~web/members";
    lb.done("DELETE", &format!("{members}/~shop~web2:8080"), Value::Null)
        .await;
    lb.done(
        "POST",
        members,
        json!({"name": "/shop/web2:8081", "ratio": 3}),
    )
    .await;
    lb.done(
        "PATCH",
        &format!("{members}/~shop~web2:8081"),
        json!({"priorityGroup": 7}),
    )
    .await;
    let made = lb
        .done(
            "POST",
            members,
            json!({"name": "198.51.100.50:80", "partition": "shop"}),
        )
        .await;
    assert_eq!(made["address"], "198.51.100.50");
    assert_eq!(
        lb.get("ltm/node/~shop~198.51.100.50").await["address"],
        "198.51.100.50",
        "the node was made on the way"
    );
    let list = lb.get(members).await;
    let received: Vec<Value> = list["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| part(item, &["name", "ratio", "priorityGroup"]))
        .collect();
    assert_eq!(
        received,
        [
            json!({"name": "198.51.100.50:80", "ratio": 1, "priorityGroup": 0}),
            json!({"name": "web1:8080", "ratio": 1, "priorityGroup": 0}),
            json!({"name": "web2:8081", "ratio": 3, "priorityGroup": 7}),
        ]
    );
    let (status, message) = lb
        .refused("POST", members, json!({"name": "/shop/web2:8081"}))
        .await;
    assert_eq!(
        (status, message.as_str()),
        (
            409,
            "01020066:3: The requested Pool Member (/shop/web2:8081) already exists in partition shop."
        )
    );
    lb.done("PATCH", "ltm/pool/~shop~web", json!({"members": []}))
        .await;
    assert!(lb.get(members).await.get("items").is_none());
}

#[tokio::test]
async fn system_objects_exist() {
    let lb = Box::new().await;
    for path in [
        "ltm/profile/http/~Common~http",
        "ltm/profile/tcp/~Common~tcp",
        "ltm/profile/udp/~Common~udp",
        "ltm/profile/fastl4/~Common~fastL4",
        "ltm/profile/client-ssl/~Common~clientssl",
        "ltm/profile/server-ssl/~Common~serverssl",
        "ltm/monitor/http/~Common~http",
        "ltm/monitor/https/~Common~https",
        "ltm/monitor/tcp/~Common~tcp",
        "ltm/monitor/icmp/~Common~icmp",
        "ltm/monitor/gateway-icmp/~Common~gateway_icmp",
        "ltm/monitor/tcp-half-open/~Common~tcp_half_open",
        "net/interface/1.1",
        "auth/partition/Common",
    ] {
        lb.get(path).await;
    }
    assert!(
        lb.get("net/vlan").await.get("items").is_none(),
        "a collection without objects has no items"
    );
    let kinds = lb.get("ltm/profile").await;
    assert!(kinds["items"].as_array().unwrap().contains(&json!({"reference": {"link": "https://localhost/mgmt/tm/ltm/profile/client-ssl?ver=17.1.0"}})));
    let devices = lb.get("cm/device").await;
    let devices = devices["items"].as_array().unwrap();
    assert_eq!(devices.len(), 2);
    let this: Vec<&Value> = devices
        .iter()
        .filter(|device| device["selfDevice"] == "true")
        .collect();
    assert_eq!(
        (
            this.len(),
            this[0]["hostname"].as_str(),
            this[0]["version"].as_str()
        ),
        (1, Some("lb1.example"), Some("17.1.0"))
    );
}

#[tokio::test]
async fn object_names_include_folder_and_route_domain() {
    let lb = Box::new().await;
    lb.done(
        "POST",
        "ltm/pool",
        json!({"name": "p", "partition": "Common", "subPath": "app.app"}),
    )
    .await;
    let received = lb.get("ltm/pool/~Common~app.app~p").await;
    assert_eq!(
        part(&received, &["name", "partition", "subPath", "fullPath"]),
        json!({"name": "p", "partition": "Common", "subPath": "app.app", "fullPath": "/Common/app.app/p"})
    );
    lb.done(
        "POST",
        "ltm/node",
        json!({"name": "10.0.0.1%2", "address": "10.0.0.1%2"}),
    )
    .await;
    let received = lb.get("ltm/node/~Common~10.0.0.1%252").await;
    assert_eq!(
        received["selfLink"],
        "https://localhost/mgmt/tm/ltm/node/~Common~10.0.0.1%252?ver=17.1.0"
    );
}
