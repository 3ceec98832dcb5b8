//! The catalog of a load balancer.

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn lb1() {
    let mut lab = Lab::new();
    lab.add_load_balancer("lb1", &[]).await;
    lab.write_catalog("lb1", &example("lb1"));

    let ran = lab.apply().await;
    ran.assert_code(2);
    let node = |number: u8| {
        request(
            "POST /mgmt/tm/ltm/node",
            json!({"name": format!("web{number}"), "partition": "shop",
                   "address": format!("198.51.100.1{number}"), "monitor": "/Common/icmp"}),
        )
    };
    let member = |number: u8| json!({"name": format!("/shop/web{number}:8080")});
    let expected = [
        request("POST /mgmt/tm/auth/partition", json!({"name": "shop"})),
        request(
            "POST /mgmt/tm/net/vlan",
            json!({"name": "servers", "partition": "Common", "tag": 120,
                   "interfaces": [{"name": "1.2", "tagged": true}]}),
        ),
        request(
            "POST /mgmt/tm/net/self",
            json!({"name": "self-servers", "partition": "Common",
                   "address": "198.51.100.1/24", "vlan": "/Common/servers"}),
        ),
        request(
            "POST /mgmt/tm/ltm/monitor/http",
            json!({"name": "http_health", "partition": "shop", "defaultsFrom": "/Common/http",
                   "interval": 5, "timeout": 16, "recv": "200 OK",
                   "send": "GET /health HTTP/1.1\\r\\nHost: shop.example\\r\\n\
                            Connection: close\\r\\n\\r\\n"}),
        ),
        node(1),
        node(2),
        node(3),
        request(
            "POST /mgmt/tm/ltm/pool",
            json!({"name": "web", "partition": "shop", "monitor": "/shop/http_health",
                   "loadBalancingMode": "least-connections-member",
                   "members": [member(1), member(2), member(3)]}),
        ),
        request(
            "POST /mgmt/tm/ltm/rule",
            json!({"name": "redirect", "partition": "shop",
                   "apiAnonymous": "when HTTP_REQUEST {\n  \
                                    HTTP::redirect \"https://[HTTP::host][HTTP::uri]\"\n}"}),
        ),
        request(
            "POST /mgmt/tm/ltm/virtual",
            json!({"name": "web_vs", "partition": "shop",
                   "destination": "/shop/203.0.113.80:443", "mask": "255.255.255.255",
                   "source": "0.0.0.0/0", "ipProtocol": "tcp", "pool": "/shop/web",
                   "rules": ["/shop/redirect"],
                   "sourceAddressTranslation": {"type": "automap"},
                   "vlansEnabled": true, "vlans": ["/Common/servers"],
                   "profiles": [{"name": "/Common/http"},
                                {"name": "/Common/tcp", "context": "all"}]}),
        ),
        request(
            "PATCH /mgmt/tm/sys/ntp",
            json!({"servers": ["192.0.2.10", "192.0.2.11"], "timezone": "UTC"}),
        ),
    ];
    let sent: Vec<(String, Value)> = lab
        .log("lb1")
        .writes()
        .iter()
        .map(|line| parsed(line))
        .collect();
    for (sent, expected) in sent.iter().zip(&expected) {
        assert_eq!(sent, expected);
    }
    assert_eq!(sent.len(), expected.len(), "{sent:#?}");

    let device = &lab.load_balancers["lb1"];
    let pool = device
        .get("ltm/pool/~shop~web?expandSubcollections=true")
        .unwrap();
    assert_eq!(pool["loadBalancingMode"], "least-connections-member");
    assert_eq!(
        pool["monitor"].as_str().unwrap().trim(),
        "/shop/http_health"
    );
    let members = pool["membersReference"]["items"].as_array().unwrap();
    let members: Vec<&str> = members
        .iter()
        .map(|member| member["fullPath"].as_str().unwrap())
        .collect();
    assert_eq!(
        members,
        ["/shop/web1:8080", "/shop/web2:8080", "/shop/web3:8080"]
    );
    let server = device
        .get("ltm/virtual/~shop~web_vs?expandSubcollections=true")
        .unwrap();
    assert_eq!(server["destination"], "/shop/203.0.113.80:443");
    assert_eq!(server["rules"], json!(["/shop/redirect"]));
    assert_eq!(server["vlans"], json!(["/Common/servers"]));
    assert_eq!(device.get("sys/ntp").unwrap()["timezone"], "UTC");
    assert!(
        !device.is_saved(),
        "nothing is saved unless it is asked for"
    );
    assert_eq!(device.tokens(), 0, "the session was ended");

    let created = |reference: &&str| format!("{reference}/ensure: success: created");
    let mut expected: Vec<String> = [
        "F5_partition[shop]",
        "F5_vlan[/Common/servers]",
        "F5_selfip[/Common/self-servers]",
        "F5_monitor[/shop/http_health]",
        "F5_node[/shop/web1]",
        "F5_node[/shop/web2]",
        "F5_node[/shop/web3]",
        "F5_pool[/shop/web]",
        "F5_irule[/shop/redirect]",
        "F5_virtualserver[/shop/web_vs]",
    ]
    .iter()
    .map(created)
    .collect();
    // What a new device has: no server, and the time of the factory.
    let ntp = "F5_ntp[/Common/ntp]";
    expected.push(format!(
        "{ntp}/servers: success: servers changed [] to ['192.0.2.10', '192.0.2.11']"
    ));
    expected.push(format!(
        "{ntp}/timezone: success: timezone changed 'America/Los_Angeles' to 'UTC'"
    ));
    assert_eq!(ran.events("lb1"), expected);
    assert_eq!(ran.warnings("lb1"), Vec::<String>::new());

    lab.log("lb1").clear();
    let again = lab.apply().await;
    nothing_happened(&again, "lb1");
    assert_eq!(lab.log("lb1").writes(), Vec::<String>::new());
    let mut reads = lab.log("lb1").received();
    reads.retain(|line| line.starts_with("GET "));
    let all = reads.len();
    reads.sort();
    reads.dedup();
    assert_eq!(reads.len(), all, "each read once: {reads:#?}");
}

fn request(line: &str, body: Value) -> (String, Value) {
    (line.to_owned(), body)
}

/// `METHOD /path {…}` in its parts, lists of objects in the order of their names.
fn parsed(received: &str) -> (String, Value) {
    let (line, body) = received.split_at(received.find('{').unwrap_or(received.len()));
    let mut body: Value = serde_json::from_str(body).unwrap_or_default();
    if let Some(profiles) = body.get_mut("profiles").and_then(Value::as_array_mut) {
        profiles.sort_by_key(|profile| profile["name"].to_string());
    }
    (line.trim().to_owned(), body)
}
