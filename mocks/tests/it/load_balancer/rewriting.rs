//! Fields that come back in another form than they were sent.

use serde_json::json;

use super::client::Box;
use super::site::{part, site};

#[tokio::test]
async fn fields_are_cleared_and_normalized() {
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
async fn secrets_are_returned_encrypted() {
    let lb = Box::new().await;
    let made = lb
        .done(
            "POST",
            "ltm/monitor/http",
            json!({"name": "m", "username": "u", "password": "plain-text"}),
        )
        .await;
    let encrypted = made["password"].as_str().unwrap();
    assert!(
        encrypted.starts_with("$M$") && !encrypted.contains("plain"),
        "{encrypted}"
    );
}
