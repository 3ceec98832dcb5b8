//! Set-up and reads that most tests share.

use serde_json::{Value, json};

use super::client::Box;

/// A small site in the partition `shop`.
pub(crate) async fn site(lb: &Box) {
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

/// Some fields of an object.
pub(crate) fn part(value: &Value, names: &[&str]) -> Value {
    Value::Object(
        names
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), value.get(name)?.clone())))
            .collect(),
    )
}
