//! Objects: defaults, rewriting, references, the verbs.

use serde_json::{Value, json};

use crate::client::Box;

/// A small site in the partition `shop`.
async fn site(lb: &Box) {
    for (path, body) in [
        ("auth/partition", json!({"name": "shop"})),
        (
            "net/vlan",
            json!({"name": "servers", "partition": "Common", "tag": 120, "interfaces": [{"name": "1.2", "tagged": true}]}),
        ),
        (
            "net/self",
            json!({"name": "self-servers", "partition": "Common", "address": "198.51.100.1/24", "vlan": "/Common/servers"}),
        ),
        (
            "ltm/monitor/http",
            json!({"name": "health", "partition": "shop", "defaultsFrom": "/Common/http", "send": "GET /health\\r\\n", "recv": "200 OK"}),
        ),
        (
            "ltm/node",
            json!({"name": "web1", "partition": "shop", "address": "198.51.100.11", "monitor": "/Common/icmp"}),
        ),
        (
            "ltm/node",
            json!({"name": "web2", "partition": "shop", "address": "198.51.100.12"}),
        ),
        (
            "ltm/pool",
            json!({"name": "web", "partition": "shop", "monitor": "/shop/health", "members": [{"name": "web1:8080", "partition": "shop"}, {"name": "/shop/web2:8080"}]}),
        ),
        (
            "ltm/rule",
            json!({"name": "redirect", "partition": "shop", "apiAnonymous": "when HTTP_REQUEST {\n  HTTP::redirect \"https://x/\"\n}\n"}),
        ),
        (
            "ltm/virtual",
            json!({
                "name": "vs", "partition": "shop", "destination": "/shop/203.0.113.80:443", "ipProtocol": "tcp", "pool": "/shop/web",
                "profiles": ["/Common/tcp", "/Common/http"], "rules": ["/shop/redirect"], "vlansEnabled": true, "vlans": ["/Common/servers"],
                "sourceAddressTranslation": {"type": "automap"},
            }),
        ),
    ] {
        lb.done("POST", path, body).await;
    }
}

fn part(value: &Value, names: &[&str]) -> Value {
    Value::Object(
        names
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), value.get(name)?.clone())))
            .collect(),
    )
}

#[tokio::test]
async fn a_site_is_made_and_shown_with_defaults() {
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
    let shown: Vec<Value> = profiles
        .as_array()
        .unwrap()
        .iter()
        .map(|profile| part(profile, &["fullPath", "context"]))
        .collect();
    assert_eq!(
        shown,
        [
            json!({"fullPath": "/Common/http", "context": "all"}),
            json!({"fullPath": "/Common/tcp", "context": "all"})
        ]
    );
}

#[tokio::test]
async fn what_cannot_be_is_refused_with_the_codes_of_the_box() {
    let lb = Box::new().await;
    site(&lb).await;
    let none = Value::Null;
    for (method, path, body, status, message) in [
        (
            "GET",
            "ltm/pool/~shop~none",
            none.clone(),
            404,
            "01020036:3: The requested Pool (/shop/none) was not found.",
        ),
        (
            "PATCH",
            "ltm/pool/~shop~none",
            json!({"description": "x"}),
            404,
            "01020036:3: The requested Pool (/shop/none) was not found.",
        ),
        (
            "DELETE",
            "ltm/pool/~shop~none",
            none.clone(),
            404,
            "01020036:3: The requested Pool (/shop/none) was not found.",
        ),
        (
            "GET",
            "ltm/pol",
            none.clone(),
            404,
            "Public URI path not registered: /mgmt/tm/ltm/pol",
        ),
        (
            "POST",
            "ltm/pool",
            json!({"name": "web", "partition": "shop"}),
            409,
            "01020066:3: The requested Pool (/shop/web) already exists in partition shop.",
        ),
        (
            "POST",
            "ltm/node",
            json!({"name": "other", "partition": "shop", "address": "198.51.100.11"}),
            409,
            "01020066:3: The requested Node (/shop/web1) already exists in partition shop.",
        ),
        (
            "POST",
            "ltm/pool",
            json!({"name": "p", "partition": "nowhere"}),
            400,
            "01020036:3: The requested folder (/nowhere) was not found.",
        ),
        (
            "POST",
            "ltm/pool",
            json!({"name": "p", "monitor": "/Common/nothing"}),
            400,
            "01020036:3: The requested Monitor (/Common/nothing) was not found.",
        ),
        (
            "POST",
            "ltm/pool",
            json!({"name": "p", "members": [{"name": "n9:80"}]}),
            400,
            "01020036:3: The requested Node (/Common/n9) was not found.",
        ),
        (
            "POST",
            "ltm/pool",
            json!({"name": "p", "bogus": 1}),
            400,
            "\"bogus\" unknown property",
        ),
        (
            "POST",
            "ltm/pool",
            json!({"name": "p", "loadBalancingMode": "fair"}),
            400,
            "invalid property value \"load-balancing-mode\":\"fair\"",
        ),
        (
            "POST",
            "ltm/pool",
            json!({"name": "p", "minActiveMembers": "many"}),
            400,
            "invalid property value \"min-active-members\":\"many\"",
        ),
        (
            "POST",
            "ltm/pool",
            json!({"partition": "shop"}),
            400,
            "one or more properties must be specified: \"name\"",
        ),
        (
            "POST",
            "ltm/pool",
            json!({"name": "p", "monitor": "min 3 of { /Common/http /Common/tcp }"}),
            400,
            "01070734:3: Configuration error: The minimum number of monitors exceeds the number of monitors.",
        ),
        (
            "POST",
            "ltm/node",
            json!({"name": "n", "address": "not-an-address"}),
            400,
            "invalid property value \"address\":\"not-an-address\"",
        ),
        (
            "POST",
            "ltm/node",
            json!({"name": "n"}),
            400,
            "one or more properties must be specified: \"address\"",
        ),
        (
            "PATCH",
            "ltm/node/~shop~web1",
            json!({"address": "198.51.100.99"}),
            400,
            "01070734:3: Configuration error: The address of Node (/shop/web1) cannot be changed.",
        ),
        (
            "PATCH",
            "ltm/monitor/http/~shop~health",
            json!({"defaultsFrom": "/Common/tcp"}),
            400,
            "01070734:3: Configuration error: The defaultsFrom of Monitor (/shop/health) cannot be changed.",
        ),
        (
            "PATCH",
            "ltm/virtual/~shop~vs",
            json!({"pool": "/shop/none"}),
            400,
            "01020036:3: The requested Pool (/shop/none) was not found.",
        ),
        (
            "PATCH",
            "ltm/virtual/~shop~vs",
            json!({"rules": ["/shop/none"]}),
            400,
            "01020036:3: The requested Rule (/shop/none) was not found.",
        ),
        (
            "PATCH",
            "ltm/virtual/~shop~vs",
            json!({"vlans": ["/Common/none"]}),
            400,
            "01020036:3: The requested VLAN (/Common/none) was not found.",
        ),
        (
            "PATCH",
            "ltm/virtual/~shop~vs",
            json!({"profiles": ["/Common/http"]}),
            400,
            "01070734:3: Configuration error: In Virtual Server (/shop/vs) an http profile requires a tcp profile.",
        ),
        (
            "PATCH",
            "ltm/virtual/~shop~vs",
            json!({"profiles": ["/Common/tcp", "/Common/none"]}),
            400,
            "01020036:3: The requested Profile (/Common/none) was not found.",
        ),
        (
            "PATCH",
            "ltm/virtual/~shop~vs",
            json!({"destination": "203.0.113.80"}),
            400,
            "invalid property value \"destination\":\"203.0.113.80\"",
        ),
        (
            "POST",
            "ltm/virtual",
            json!({"name": "v2", "partition": "shop", "destination": "203.0.113.80:443", "ipProtocol": "tcp", "vlansEnabled": true, "vlans": ["/Common/servers"]}),
            400,
            "01070333:3: Virtual Server /shop/v2 illegally shares destination address, source address, service port, ip-protocol, and vlan with Virtual Server /shop/vs.",
        ),
        (
            "POST",
            "ltm/rule",
            json!({"name": "r", "apiAnonymous": "when X {\n  if {1} {\n}"}),
            400,
            "01070151:3: Rule [/Common/r] error: /Common/r:3: error: [parse error: missing close-brace]",
        ),
        (
            "POST",
            "ltm/rule",
            json!({"name": "r", "apiAnonymous": "hello"}),
            400,
            "01070151:3: Rule [/Common/r] error: /Common/r:1: error: [command is not valid in the current scope][hello]",
        ),
        (
            "POST",
            "net/self",
            json!({"name": "s", "address": "10.0.0.1/24", "vlan": "/Common/none"}),
            400,
            "01020036:3: The requested VLAN (/Common/none) was not found.",
        ),
        (
            "POST",
            "net/self",
            json!({"name": "s", "address": "10.0.0.1", "vlan": "/Common/servers"}),
            400,
            "invalid property value \"address\":\"10.0.0.1\"",
        ),
        (
            "POST",
            "net/vlan",
            json!({"name": "v", "tag": 120}),
            400,
            "01070734:3: Configuration error: The tag 120 is already used by VLAN /Common/servers.",
        ),
        (
            "POST",
            "net/vlan",
            json!({"name": "v", "interfaces": [{"name": "9.9"}]}),
            400,
            "01020036:3: The requested Interface (9.9) was not found.",
        ),
        (
            "DELETE",
            "ltm/node/~shop~web1",
            none.clone(),
            400,
            "01070110:3: Node address '/shop/web1' is referenced by a member of pool '/shop/web'.",
        ),
        (
            "DELETE",
            "ltm/pool/~shop~web",
            none.clone(),
            400,
            "01070265:3: The Pool (/shop/web) cannot be deleted because it is in use by a Virtual Server (/shop/vs).",
        ),
        (
            "DELETE",
            "ltm/monitor/http/~shop~health",
            none.clone(),
            400,
            "01070083:3: Monitor /shop/health is in use.",
        ),
        (
            "DELETE",
            "ltm/rule/~shop~redirect",
            none.clone(),
            400,
            "01070265:3: The Rule (/shop/redirect) cannot be deleted because it is in use by a Virtual Server (/shop/vs).",
        ),
        (
            "DELETE",
            "auth/partition/shop",
            none.clone(),
            400,
            "0107082a:3: All objects must be removed from a partition (shop) before the partition may be removed, type ID (973)",
        ),
        (
            "DELETE",
            "ltm/monitor/http/~Common~http",
            none.clone(),
            400,
            "01070734:3: Configuration error: The system Monitor (/Common/http) cannot be deleted.",
        ),
        (
            "POST",
            "sys/dns",
            json!({}),
            405,
            "POST is not allowed for sys/dns",
        ),
        (
            "PATCH",
            "sys/ntp",
            json!({"serverss": []}),
            400,
            "\"serverss\" unknown property",
        ),
        (
            "PATCH",
            "ltm/pool",
            json!({}),
            405,
            "PATCH is not allowed for /mgmt/tm/ltm/pool",
        ),
    ] {
        let before = lb.get("ltm/pool?expandSubcollections=true").await;
        assert_eq!(
            lb.refused(method, path, body.clone()).await,
            (status, message.to_owned()),
            "{method} {path} {body}"
        );
        assert_eq!(
            lb.get("ltm/pool?expandSubcollections=true").await,
            before,
            "a refusal changes nothing"
        );
    }
}

#[tokio::test]
async fn a_site_is_taken_down_in_order() {
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
async fn patch_keeps_and_put_forgets() {
    let lb = Box::new().await;
    site(&lb).await;
    let path = "ltm/pool/~shop~web";
    lb.done(
        "PATCH",
        path,
        json!({"description": "a", "load-balancing-mode": "ratio-member"}),
    )
    .await;
    let shown = lb.done("PATCH", path, json!({"slowRampTime": "30"})).await;
    assert_eq!(
        part(
            &shown,
            &["description", "loadBalancingMode", "slowRampTime"]
        ),
        json!({"description": "a", "loadBalancingMode": "ratio-member", "slowRampTime": 30})
    );
    let shown = lb
        .done(
            "PUT",
            path,
            json!({"name": "web", "partition": "shop", "slowRampTime": 5}),
        )
        .await;
    assert_eq!(
        part(
            &shown,
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
async fn fields_are_cleared_and_rewritten() {
    let lb = Box::new().await;
    site(&lb).await;
    for (path, body, names, expected) in [
        (
            "ltm/pool/~shop~web",
            json!({"monitor": "min 1 of { /shop/health http }"}),
            &["monitor"][..],
            json!({"monitor": "min 1 of { /shop/health /Common/http } "}),
        ),
        (
            "ltm/pool/~shop~web",
            json!({"monitor": "/shop/health and /Common/tcp"}),
            &["monitor"],
            json!({"monitor": "/shop/health and /Common/tcp "}),
        ),
        (
            "ltm/pool/~shop~web",
            json!({"monitor": "none"}),
            &["monitor"],
            json!({}),
        ),
        (
            "ltm/node/~shop~web1",
            json!({"state": "user-down", "session": "user-disabled"}),
            &["state", "session"],
            json!({"state": "user-down", "session": "user-disabled"}),
        ),
        (
            "ltm/node/~shop~web1",
            json!({"state": "user-up", "session": "user-disabled"}),
            &["state", "session"],
            json!({"state": "up", "session": "user-disabled"}),
        ),
        (
            "ltm/node/~shop~web1",
            json!({"state": "user-up", "session": "user-enabled"}),
            &["state", "session"],
            json!({"state": "up", "session": "monitor-enabled"}),
        ),
        (
            "ltm/virtual/~shop~vs",
            json!({"disabled": true}),
            &["enabled", "disabled"],
            json!({"disabled": true}),
        ),
        (
            "ltm/virtual/~shop~vs",
            json!({"enabled": true}),
            &["enabled", "disabled"],
            json!({"enabled": true}),
        ),
        (
            "ltm/virtual/~shop~vs",
            json!({"vlansDisabled": true, "vlans": []}),
            &["vlansEnabled", "vlansDisabled", "vlans"],
            json!({"vlansDisabled": true}),
        ),
        (
            "ltm/virtual/~shop~vs",
            json!({"pool": "none", "rules": []}),
            &["pool", "poolReference", "rules"],
            json!({}),
        ),
        (
            "ltm/virtual/~shop~vs",
            json!({"destination": "203.0.113.81:https"}),
            &["destination"],
            json!({"destination": "/shop/203.0.113.81:443"}),
        ),
        (
            "ltm/virtual/~shop~vs",
            json!({"destination": "2001:db8::1.0", "source": "::/0"}),
            &["destination", "mask"],
            json!({"destination": "/shop/2001:db8::1.0", "mask": "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"}),
        ),
        (
            "ltm/virtual/~shop~vs",
            json!({"persist": [{"name": "/Common/cookie", "tmDefault": "yes"}]}),
            &["persist"],
            json!({"persist": [{"name": "cookie", "partition": "Common", "tmDefault": "yes"}]}),
        ),
        (
            "net/self/~Common~self-servers",
            json!({"allowService": ["default"]}),
            &["allowService"],
            json!({"allowService": ["default"]}),
        ),
        (
            "net/self/~Common~self-servers",
            json!({"allowService": "all"}),
            &["allowService"],
            json!({"allowService": "all"}),
        ),
        (
            "net/self/~Common~self-servers",
            json!({"allowService": ["tcp:443", "udp:53"]}),
            &["allowService"],
            json!({"allowService": ["tcp:443", "udp:53"]}),
        ),
        (
            "net/self/~Common~self-servers",
            json!({"allowService": []}),
            &["allowService"],
            json!({}),
        ),
        (
            "net/self/~Common~self-servers",
            json!({"trafficGroup": "/Common/traffic-group-1"}),
            &["floating"],
            json!({"floating": "enabled"}),
        ),
        (
            "net/vlan/~Common~servers",
            json!({"sflow": {"pollInterval": 5}}),
            &["sflow"],
            json!({"sflow": {"pollInterval": 5, "pollIntervalGlobal": "yes", "samplingRate": 0, "samplingRateGlobal": "yes"}}),
        ),
        (
            "sys/ntp",
            json!({"servers": ["192.0.2.10"], "timezone": "UTC"}),
            &["servers", "timezone"],
            json!({"servers": ["192.0.2.10"], "timezone": "UTC"}),
        ),
        (
            "sys/ntp",
            json!({"servers": []}),
            &["servers", "timezone"],
            json!({"timezone": "UTC"}),
        ),
        (
            "sys/dns",
            json!({"nameServers": ["192.0.2.53"], "search": ["lab.test"]}),
            &["kind", "nameServers", "search"],
            json!({"kind": "tm:sys:dns:dnsstate", "nameServers": ["192.0.2.53"], "search": ["lab.test"]}),
        ),
    ] {
        lb.done("PATCH", path, body.clone()).await;
        assert_eq!(
            part(&lb.get(path).await, names),
            expected,
            "{path} after {body}"
        );
    }
}

#[tokio::test]
async fn secrets_come_back_encrypted() {
    let lb = Box::new().await;
    let made = lb
        .done(
            "POST",
            "ltm/monitor/http",
            json!({"name": "m", "username": "u", "password": "plain-text"}),
        )
        .await;
    let shown = made["password"].as_str().unwrap();
    assert!(
        shown.starts_with("$M$") && !shown.contains("plain"),
        "{shown}"
    );
}

#[tokio::test]
async fn members_come_and_go_one_by_one() {
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
    let shown: Vec<Value> = list["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| part(item, &["name", "ratio", "priorityGroup"]))
        .collect();
    assert_eq!(
        shown,
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
async fn system_objects_are_there() {
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
async fn folders_and_route_domains_are_part_of_names() {
    let lb = Box::new().await;
    lb.done(
        "POST",
        "ltm/pool",
        json!({"name": "p", "partition": "Common", "subPath": "app.app"}),
    )
    .await;
    let shown = lb.get("ltm/pool/~Common~app.app~p").await;
    assert_eq!(
        part(&shown, &["name", "partition", "subPath", "fullPath"]),
        json!({"name": "p", "partition": "Common", "subPath": "app.app", "fullPath": "/Common/app.app/p"})
    );
    lb.done(
        "POST",
        "ltm/node",
        json!({"name": "10.0.0.1%2", "address": "10.0.0.1%2"}),
    )
    .await;
    let shown = lb.get("ltm/node/~Common~10.0.0.1%252").await;
    assert_eq!(
        shown["selfLink"],
        "https://localhost/mgmt/tm/ltm/node/~Common~10.0.0.1%252?ver=17.1.0"
    );
}
