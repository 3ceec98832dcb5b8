//! Every type that the mock load balancer has: create, change, remove and second run.

use serde_json::{Value as Json, json};
use switchtender_devices::change::Desired;
use switchtender_devices::driver::Driver;
use switchtender_mocks::{LoadBalancer, LoadBalancerOptions, RunningLoadBalancer};

use super::mock_device::run;
use super::{desired, shipped};

/// A type with the attributes of a new object, and those of a change.
type Objects = Vec<(&'static str, Json, Json)>;

/// Keys, certificates, profiles and their users, in the order in which they refer to each other.
fn objects() -> Objects {
    let on = [
        "mirror",
        "match_across_pools",
        "match_across_services",
        "override_connection_limit",
    ];
    let persistence = |more: Json| {
        let mut attributes = json!({"match_across_virtuals": "enabled", "timeout": "100"});
        for (name, value) in more.as_object().unwrap() {
            attributes[name] = value.clone();
        }
        attributes
    };
    vec![
        (
            "f5_sslkey",
            json!({"name": "/Common/label", "keyname": "web", "from_local_file": "/config/httpd/conf/ssl.key/server.key"}),
            json!({}),
        ),
        (
            "f5_sslcertificate",
            json!({"name": "/Common/web.crt", "from_local_file": "/config/httpd/conf/ssl.crt/server.crt"}),
            json!({}),
        ),
        (
            "f5_route",
            json!({"name": "/Common/r1", "network": "10.0.0.0/8", "gw": "198.51.100.254"}),
            json!({"gw": "198.51.100.253", "mtu": "1000", "description": "branches"}),
        ),
        (
            "f5_snatpool",
            json!({"name": "/Common/outside", "members": ["/Common/198.51.100.1"]}),
            json!({"members": ["/Common/198.51.100.2", "/Common/198.51.100.1"]}),
        ),
        (
            "f5_snat",
            json!({"name": "/Common/outbound", "snatpool": "/Common/outside", "origins": [{"name": "10.0.0.0/8"}]}),
            json!({"description": "clients", "origins": [{"name": "11.0.0.0/8"}, {"name": "10.0.0.0/8"}]}),
        ),
        (
            "f5_datagroup",
            json!({"name": "/Common/blocked", "type": "ip", "records": [{"name": "192.0.2.0/24", "data": "lab"}]}),
            json!({"records": [{"name": "198.51.100.0/24"}, {"name": "192.0.2.0/24", "data": "x"}]}),
        ),
        (
            "f5_profilehttp",
            json!({"name": "/Common/web_http", "fallback_host": "sorry.example.com", "fallback_status_codes": ["500"]}),
            json!({"fallback_host": "none", "fallback_status_codes": [], "description": "web"}),
        ),
        (
            "f5_profileclientssl",
            json!({"name": "/Common/web_tls", "cert": "/Common/web.crt", "key": "/Common/web.key", "proxy_ssl": "enabled", "proxy_ssl_passthrough": "yes"}),
            json!({"chain": "/Common/ca-bundle.crt", "peer_cert_mode": "require", "retain_certificate": false, "authenticate": "always", "authenticate_depth": 3, "ssl_forward_proxy": true, "ssl_forward_proxy_bypass": "enabled"}),
        ),
        (
            "f5_profileserverssl",
            json!({"name": "/Common/servers_tls", "cert": "/Common/web.crt", "key": "/Common/web.key"}),
            json!({"cert": "none", "key": "none", "expire_cert_response_control": "ignore", "untrusted_cert_response_control": "ignore", "description": "servers"}),
        ),
        (
            "f5_persistencecookie",
            json!({"name": "/Common/c1", "method": "insert", "cookie_name": "name1", "httponly": "enabled", "secure": "enabled", "always_send": "disabled", "expiration": "0", "cookie_encryption": "disabled"}),
            json!({"method": "passive", "cookie_name": "none", "secure": "no", "expiration": "1:00", "cookie_encryption": "preferred"}),
        ),
        (
            "f5_persistencesourceaddr",
            persistence(
                json!({"name": "/Common/s1", "hash_algorithm": "carp", "mask": "255.255.0.0", (on[1]): true}),
            ),
            json!({"mask": "none", "timeout": "indefinite", (on[2]): "yes"}),
        ),
        (
            "f5_persistencedestaddr",
            persistence(json!({"name": "/Common/d1", "mask": "255.255.255.0"})),
            json!({"hash_algorithm": "carp", (on[3]): "enabled"}),
        ),
        (
            "f5_persistencehash",
            persistence(
                json!({"name": "/Common/h1", "hash_offset": "1", "hash_length": "2", "hash_buffer_limit": "3", (on[0]): true}),
            ),
            json!({"hash_offset": 0, "hash_algorithm": "carp", "rule": "none"}),
        ),
        (
            "f5_persistencessl",
            persistence(json!({"name": "/Common/t1"})),
            json!({"timeout": "300", "description": "sessions"}),
        ),
        (
            "f5_persistenceuniversal",
            persistence(json!({"name": "/Common/u1", (on[0]): "enabled"})),
            json!({(on[0]): "disabled", "description": ""}),
        ),
        (
            "f5_user",
            json!({"name": "/Common/joe", "description": "Joe"}),
            json!({"description": ""}),
        ),
        (
            "f5_devicegroup",
            json!({"name": "/Common/pair", "devicegroup_type": "sync-failover", "auto_sync": "enabled", "devices": ["lb1.example.com"]}),
            json!({"auto_sync": false, "devices": ["lb2.example.com", "lb1.example.com"]}),
        ),
        (
            "f5_iapp",
            json!({"name": "/Common/shop.app/shop", "template": "/Common/f5.http", "variables": {"pool__port": "80"}, "tables": {"hosts": [], "members": [{"addr": "10.1.1.1", "port": "80"}]}}),
            json!({"variables": {"pool__port": "443", "pool__addr": "10.0.0.1"}, "tables": {"members": [{"port": "80"}, {"addr": "10.1.1.2"}]}}),
        ),
    ]
}

/// Objects that exist on every device, and actions.
fn others() -> Objects {
    let license = "ABCDE-ABCDE-ABCDE-ABCDE-ABCDEFG";
    let peer = json!({"device_name": "lb2.example.com", "device": "192.0.2.12", "username": "admin", "password": "s3cret"});
    vec![
        (
            "f5_license",
            json!({"registration_key": license}),
            json!({}),
        ),
        (
            "f5_selfdevice",
            json!({"target": "lb1.example.com"}),
            json!({}),
        ),
        (
            "f5_device",
            json!({"name": "/Common/lb1.example.com", "configsync_ip": "198.51.100.1"}),
            json!({"configsync_ip": "none", "mirror_ip": "198.51.100.1", "description": "rack 1"}),
        ),
        (
            "f5_globalsetting",
            json!({"hostname": "lb1.example.com", "gui_setup": "disabled"}),
            json!({"description": "lab"}),
        ),
        ("f5_addtotrust", peer, json!({})),
    ]
}

struct Device {
    driver: Driver,
    running: RunningLoadBalancer,
}

impl Device {
    async fn new() -> Self {
        let (_, driver) = shipped();
        let running = LoadBalancer::start(LoadBalancerOptions::default(), 0).await;
        let running = running.expect("started");
        Self { driver, running }
    }

    fn desired(&self, (kind, attributes): (&str, &Json)) -> Desired {
        desired(shipped().0, &self.driver, kind, attributes)
    }

    /// The requests of a run; the next run sends none.
    async fn converge(&self, resources: &[Desired]) -> Vec<String> {
        let sent = run(&self.driver, resources, &self.running).await;
        assert_eq!(run(&self.driver, resources, &self.running).await, [""; 0]);
        sent
    }
}

fn with(one: &Json, more: &Json) -> Json {
    let mut all = one.clone();
    for (name, value) in more.as_object().unwrap() {
        all[name] = value.clone();
    }
    all
}

#[tokio::test]
async fn every_type_is_created_changed_and_removed_and_second_runs_send_nothing() {
    let device = Device::new().await;
    for (kind, new, change) in others() {
        let sent = device.converge(&[device.desired((kind, &new))]).await;
        assert!(!sent.is_empty(), "{kind} changes nothing");
        if change != json!({}) {
            let sent = device
                .converge(&[device.desired((kind, &with(&new, &change)))])
                .await;
            assert!(!sent.is_empty(), "{kind} changes nothing");
        }
    }
    let present = json!({"ensure": "present"});
    let mut made = Vec::new();
    for (kind, new, change) in objects() {
        let new = with(&new, &present);
        let sent = device.converge(&[device.desired((kind, &new))]).await;
        assert!(sent[0].starts_with("POST "), "{kind}: {sent:?}");
        if change != json!({}) {
            let changed = device.desired((kind, &with(&new, &change)));
            let sent = device.converge(&[changed]).await;
            assert!(!sent.is_empty(), "{kind} changes nothing");
        }
        made.push(device.desired((kind, &with(&new, &json!({"ensure": "absent"})))));
    }
    // The configuration differs from that of the peers.
    let sync = device.desired(("f5_configsync", &json!({"to_group": "pair"})));
    assert_eq!(device.converge(&[sync]).await.len(), 1);
    made.reverse();
    let sent = device.converge(&made).await;
    let removed = sent.iter().filter(|request| request.starts_with("DELETE "));
    // A device group loses its two devices first.
    assert_eq!(removed.count(), made.len() + 2, "{sent:#?}");
    assert_eq!(device.running.tokens(), 0);
    device.running.stop().await;
}

#[tokio::test]
async fn external_data_group_needs_its_file() {
    let file = "/mgmt/shared/file-transfer/uploads/blocked.txt";
    let options = LoadBalancerOptions {
        config: Some(json!([
            [format!("POST {file}"), "192.0.2.1,\n"],
            ["POST /mgmt/tm/sys/file/data-group", {"name": "blocked.txt", "type": "ip", "sourcePath": "file:/var/config/rest/downloads/blocked.txt"}],
            ["POST /mgmt/tm/sys/file/data-group", {"name": "other.txt", "type": "ip", "sourcePath": "file:/var/config/rest/downloads/blocked.txt"}],
        ])),
        ..LoadBalancerOptions::default()
    };
    let (_, driver) = shipped();
    let running = LoadBalancer::start(options, 0).await.expect("started");
    let device = Device { driver, running };
    let group = |file: &str, ensure: &str| {
        let attributes =
            json!({"name": "/Common/blocked", "ensure": ensure, "external_file_name": file});
        device.desired(("f5_datagroupexternal", &attributes))
    };
    for (file, ensure, verb) in [
        ("/Common/blocked.txt", "present", "POST"),
        ("/Common/other.txt", "present", "PATCH"),
        ("/Common/other.txt", "absent", "DELETE"),
    ] {
        let sent = device.converge(&[group(file, ensure)]).await;
        assert!(sent.len() == 1 && sent[0].starts_with(verb), "{sent:?}");
    }
    device.running.stop().await;
}

/// Secrets cannot be read back: what was set last is known to the program alone.
#[tokio::test]
async fn secrets_and_files_are_sent() {
    let device = Device::new().await;
    let pem = "-----BEGIN CERTIFICATE-----\nshop\n-----END CERTIFICATE-----\n";
    let certificate = json!({"name": "/Common/shop.crt", "ensure": "present", "content": pem});
    let user = json!({"name": "joe", "ensure": "present", "password": "s3cret"});
    let root = json!({"old_password": "default", "new_password": "n3w"});
    let resources = [
        device.desired(("f5_sslcertificate", &certificate)),
        device.desired(("f5_user", &user)),
        device.desired(("f5_root", &root)),
    ];
    let sent = run(&device.driver, &resources, &device.running).await;
    assert_eq!(sent.len(), 4, "{sent:#?}");
    let stored = device.running.get("sys/file/ssl-cert/~Common~shop.crt");
    assert_eq!(stored.unwrap()["size"], pem.len());
    let joe = device.running.get("auth/user/joe").unwrap();
    assert!(
        joe["encryptedPassword"]
            .as_str()
            .unwrap()
            .starts_with("$6$"),
        "{joe}"
    );

    let pem = "-----BEGIN CERTIFICATE-----\nnew\n-----END CERTIFICATE-----\n";
    let changed = with(&certificate, &json!({"content": pem}));
    let changed = device.desired(("f5_sslcertificate", &changed));
    let sent = run(&device.driver, &[changed], &device.running).await;
    assert!(sent[1].starts_with("PATCH "), "{sent:#?}");
    let stored = device.running.get("sys/file/ssl-cert/~Common~shop.crt");
    assert_eq!(stored.unwrap()["size"], pem.len());
    device.running.stop().await;
}
