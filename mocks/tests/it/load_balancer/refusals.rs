//! What the box refuses, in its own words.

use serde_json::{Value, json};

use super::client::Box;
use super::site::site;

#[tokio::test]
async fn refusals_have_the_status_and_code_of_the_device() {
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
