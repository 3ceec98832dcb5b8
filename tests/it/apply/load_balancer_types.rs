//! Every type of a load balancer in one catalog: what a run without changes requests, and what it leaves alone.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use switchtender_mocks::LoadBalancerOptions;
use test_support::catalog::{resource, sensitive};
use test_support::lab::{Lab, PASSWORD};
use test_support::repository;

const CERTIFICATE: &str =
    "-----BEGIN CERTIFICATE-----\ns3cret-certificate\n-----END CERTIFICATE-----\n";
const KEY: &str = "-----BEGIN PRIVATE KEY-----\ns3cret-key\n-----END PRIVATE KEY-----\n";

/// A load balancer with the file of an external data group.
pub(super) async fn lab() -> Lab {
    let file = "file:/var/config/rest/downloads/blocked.txt";
    let mut lab = Lab::new();
    lab.add_load_balancer_with(LoadBalancerOptions {
        name: "lb1".to_owned(),
        hostname: "lb1.lab.test".to_owned(),
        user: "ops".to_owned(),
        password: PASSWORD.to_owned(),
        config: Some(json!([
            ["POST /mgmt/shared/file-transfer/uploads/blocked.txt", "192.0.2.1,\n"],
            ["POST /mgmt/tm/sys/file/data-group", {"name": "blocked.txt", "type": "ip", "sourcePath": file}],
        ])),
        ..LoadBalancerOptions::default()
    })
    .await;
    lab
}

/// Secrets and uploads: nothing on the device tells their values.
pub(crate) fn secrets() -> Vec<Value> {
    vec![
        sensitive(
            resource(
                "F5_sslkey",
                "/Common/shop.key",
                json!({"ensure": "present", "content": KEY}),
            ),
            &["content"],
        ),
        sensitive(
            resource(
                "F5_sslcertificate",
                "/Common/shop.crt",
                json!({"ensure": "present", "content": CERTIFICATE}),
            ),
            &["content"],
        ),
        sensitive(
            resource(
                "F5_user",
                "joe",
                json!({"ensure": "present", "password": "s3cret-joe"}),
            ),
            &["password"],
        ),
        sensitive(
            resource(
                "F5_root",
                "/Common/root",
                json!({"old_password": "default", "new_password": "s3cret-root"}),
            ),
            &["old_password", "new_password"],
        ),
        sensitive(
            resource(
                "F5_monitor",
                "/Common/ldap1",
                json!({"ensure": "present", "provider": "ldap", "parent_monitor": "/Common/ldap",
                       "username": "probe", "password": "s3cret-probe"}),
            ),
            &["password"],
        ),
        sensitive(
            resource(
                "F5_addtotrust",
                "/Common/addtotrust",
                json!({"device": "192.0.2.12", "device_name": "lb2.lab.test", "username": "admin",
                       "password": "s3cret-peer"}),
            ),
            &["username", "password"],
        ),
    ]
}

/// The other types, in an order that satisfies their references.
pub(super) fn others() -> Vec<Value> {
    let rule = "when CLIENT_ACCEPTED {\n  pool /Common/web\n}";
    let resources = [
        (
            "F5_license",
            "/Common/license",
            json!({"registration_key": "ABCDE-ABCDE-ABCDE-ABCDE-ABCDEFG"}),
        ),
        (
            "F5_globalsetting",
            "/Common/globalsetting",
            json!({"hostname": "lb1.lab.test", "gui_setup": "disabled"}),
        ),
        (
            "F5_dns",
            "/Common/dns",
            json!({"name_servers": ["192.0.2.53"], "search": "lab.test"}),
        ),
        (
            "F5_ntp",
            "/Common/ntp",
            json!({"servers": ["192.0.2.10"], "timezone": "UTC"}),
        ),
        ("F5_partition", "shop", json!({"description": "shop"})),
        (
            "F5_selfdevice",
            "/Common/lb1.lab.test",
            json!({"target": "lb1.lab.test"}),
        ),
        (
            "F5_vlan",
            "/Common/servers",
            json!({"vlan_tag": 120, "interfaces": [{"name": "1.2", "tagged": true}]}),
        ),
        (
            "F5_selfip",
            "/Common/self1",
            json!({"address": "198.51.100.1/24", "vlan": "/Common/servers"}),
        ),
        (
            "F5_route",
            "/Common/r1",
            json!({"network": "10.0.0.0/8", "gw": "198.51.100.254"}),
        ),
        (
            "F5_device",
            "/Common/lb1.lab.test",
            json!({"configsync_ip": "198.51.100.1"}),
        ),
        (
            "F5_devicegroup",
            "/Common/pair",
            json!({"devicegroup_type": "sync-failover", "auto_sync": "enabled", "devices": ["lb1.lab.test"]}),
        ),
        (
            "F5_monitor",
            "/Common/http1",
            json!({"provider": "http", "parent_monitor": "/Common/http", "interval": 5, "timeout": 16}),
        ),
        (
            "F5_node",
            "/Common/n1",
            json!({"address": "198.51.100.11", "health_monitors": ["/Common/icmp"], "availability_requirement": "all"}),
        ),
        (
            "F5_pool",
            "/Common/web",
            json!({"members": [{"name": "/Common/n1", "port": "80"}], "health_monitors": ["/Common/http1"], "availability_requirement": "all"}),
        ),
        ("F5_irule", "/Common/choose", json!({"definition": rule})),
        (
            "F5_snatpool",
            "/Common/outside",
            json!({"members": ["/Common/198.51.100.2"]}),
        ),
        (
            "F5_snat",
            "/Common/outbound",
            json!({"snatpool": "/Common/outside", "origins": [{"name": "10.0.0.0/8"}]}),
        ),
        (
            "F5_datagroup",
            "/Common/allowed",
            json!({"type": "ip", "records": [{"name": "192.0.2.0/24", "data": "lab"}]}),
        ),
        (
            "F5_datagroupexternal",
            "/Common/blocked",
            json!({"external_file_name": "/Common/blocked.txt"}),
        ),
        (
            "F5_profilehttp",
            "/Common/http2",
            json!({"fallback_host": "sorry.example.com"}),
        ),
        (
            "F5_profileclientssl",
            "/Common/tls1",
            json!({"cert": "/Common/shop.crt", "key": "/Common/shop.key"}),
        ),
        (
            "F5_profileserverssl",
            "/Common/tls2",
            json!({"cert": "/Common/shop.crt", "key": "/Common/shop.key"}),
        ),
        (
            "F5_persistencecookie",
            "/Common/p1",
            json!({"method": "insert", "cookie_name": "name1", "httponly": "enabled", "secure": "enabled", "always_send": "disabled", "expiration": "0"}),
        ),
        (
            "F5_persistencesourceaddr",
            "/Common/p2",
            json!({"timeout": "100", "mask": "255.255.0.0"}),
        ),
        (
            "F5_persistencedestaddr",
            "/Common/p3",
            json!({"timeout": "100"}),
        ),
        (
            "F5_persistencehash",
            "/Common/p4",
            json!({"hash_offset": "1", "hash_length": "2"}),
        ),
        ("F5_persistencessl", "/Common/p5", json!({"timeout": "300"})),
        (
            "F5_persistenceuniversal",
            "/Common/p6",
            json!({"timeout": "300"}),
        ),
        (
            "F5_virtualserver",
            "/Common/vs1",
            json!({"provider": "standard", "protocol": "tcp", "destination_address": "203.0.113.80", "destination_mask": "255.255.255.255", "service_port": "443", "source": "0.0.0.0/0", "default_pool": "/Common/web", "irules": ["/Common/choose"], "http_profile": "/Common/http2", "ssl_profile_client": ["/Common/tls1"]}),
        ),
        (
            "F5_iapp",
            "/Common/shop.app/shop",
            json!({"template": "/Common/f5.http", "variables": {"pool__port": "80"}}),
        ),
        (
            "F5_command",
            "zone",
            json!({"tmsh": "tmsh modify sys ntp timezone UTC", "unless": "\"timezone\":\"UTC\"", "unless_path": "/mgmt/tm/sys/ntp"}),
        ),
        (
            "F5_configsync",
            "/Common/config-sync",
            json!({"to_group": "pair"}),
        ),
    ];
    let present = |mut attributes: Value| {
        attributes["ensure"] = json!("present");
        attributes
    };
    let resources = resources.into_iter();
    resources
        .map(|(of, title, attributes)| resource(of, title, present(attributes)))
        .collect()
}

/// The names of the types of resources, or of the files of the platform.
fn names(resources: &[Value]) -> BTreeSet<String> {
    let name = |resource: &Value| resource["type"].as_str().unwrap().to_lowercase();
    resources.iter().map(name).collect()
}

fn definitions() -> BTreeSet<String> {
    let files = std::fs::read_dir(repository("devices/definitions/f5_bigip")).unwrap();
    let stems = files.map(|file| {
        file.unwrap()
            .path()
            .file_stem()
            .unwrap()
            .display()
            .to_string()
    });
    stems.filter(|stem| stem != "platform").collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn run_without_changes_logs_in_once_and_reads_each_collection_once() {
    let all = [secrets(), others()].concat();
    assert_eq!(names(&all), definitions());
    let lab = lab().await;
    lab.write_resources("lb1", &all);
    lab.apply().await.assert_code(2);
    lab.log("lb1").clear();

    let ran = lab.apply().await;
    ran.assert_code(0);
    assert_eq!(
        ran.device("lb1")["counts"]["operations"],
        0,
        "{}",
        ran.text()
    );
    let received = lab.log("lb1").received();
    assert_eq!(lab.log("lb1").writes(), [""; 0], "{received:#?}");
    let count = |part: &str| received.iter().filter(|line| line.contains(part)).count();
    assert_eq!(count("POST /mgmt/shared/authn/login"), 1, "{received:#?}");
    assert_eq!(
        count("DELETE /mgmt/shared/authz/tokens/"),
        1,
        "{received:#?}"
    );
    let reads: Vec<&String> = received
        .iter()
        .filter(|line| line.starts_with("GET "))
        .collect();
    for read in &reads {
        // The facts are read before the catalog.
        let expected = if read.ends_with("/cm/device") { 2 } else { 1 };
        let found = reads.iter().filter(|other| other == &read).count();
        assert_eq!(found, expected, "{read}: {reads:#?}");
    }
    // No object is read by its own path.
    assert_eq!(count("~"), 0, "{reads:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn secrets_and_uploads_are_sent_once() {
    let lab = lab().await;
    lab.write_resources("lb1", &secrets());
    lab.apply().await.assert_code(2);
    let received = lab.log("lb1").received();
    for secret in [
        "s3cret-certificate",
        "s3cret-key",
        "s3cret-joe",
        "s3cret-root",
        "s3cret-probe",
        "s3cret-peer",
    ] {
        let sent = received.iter().filter(|line| line.contains(secret)).count();
        assert_eq!(sent, 1, "{secret}: {received:#?}");
    }
    lab.log("lb1").clear();
    let ran = lab.apply().await;
    ran.assert_code(0);
    let posts = lab.log("lb1").received();
    let posts: Vec<&String> = posts
        .iter()
        .filter(|line| !line.starts_with("GET "))
        .collect();
    assert_eq!(posts.len(), 2, "login and logout: {posts:#?}");
}
