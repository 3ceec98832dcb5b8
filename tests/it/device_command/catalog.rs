//! Catalogs with conflicts, host resources and types of modules.

use super::*;

fn give(host: &DeviceHost, resources: &[Value]) {
    let catalog = test_support::catalog::catalog(&name(1), resources);
    let key = (name(1), "*".to_owned());
    host.server.state().catalogs.insert(key, catalog);
}

#[tokio::test(flavor = "multi_thread")]
async fn conflicting_resources_fail_and_others_are_applied() {
    let host = DeviceHost::new(1).await;
    let port = |type_name: &str, mode: &str| {
        let attributes = json!({ "ensure": "present", "mode": mode });
        resource(type_name, "GigabitEthernet1/0/1", attributes)
    };
    let resources = [
        port("Network_trunk", "access"),
        port("Ios_network_trunk", "trunk"),
        vlan(30, "three"),
    ];
    give(&host, &resources);
    let (code, text) = host.run(&["--detailed-exitcodes"]).await;
    assert_eq!(code, 6, "{text}");
    let report = host.report(&name(1));
    for reference in [
        "Network_trunk[GigabitEthernet1/0/1]",
        "Ios_network_trunk[GigabitEthernet1/0/1]",
    ] {
        let status = &report["resource_statuses"][reference];
        assert_eq!(status["failed"], true, "{reference}: {text}");
    }
    let lines = host.switches[0].log().configuration_lines();
    assert_eq!(lines, ["vlan 30", "name three"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn compat_restores_deviations() {
    for (arguments, shut_down) in [(&[][..], false), (&["--compat", "puppet7"], true)] {
        let host = DeviceHost::new(1).await;
        let attributes = json!({ "description": "desk" });
        let port = resource("Network_interface", "GigabitEthernet1/0/1", attributes);
        give(&host, &[port]);
        let (code, text) = host.run(arguments).await;
        assert_eq!(code, 0, "{text}");
        let lines = host.switches[0].log().configuration_lines();
        assert_eq!(lines.iter().any(|line| line == "shutdown"), shut_down);
    }
}

/// The type files of modules are read as text.
#[tokio::test(flavor = "multi_thread")]
async fn host_types_of_modules_are_skipped() {
    let host = DeviceHost::new(1).await;
    let file = "Puppet::Type.newtype(:site_cron) do\n  newparam(:name)\n  raise 'executed'\nend\n";
    host.server.state().plugins.insert(
        (
            "production".to_owned(),
            "puppet/type/site_cron.rb".to_owned(),
        ),
        file.to_owned(),
    );
    let cron = resource("Site_cron", "nightly", json!({ "hour": 2 }));
    let mut dependent = vlan(30, "three");
    dependent["parameters"]["require"] = json!("Site_cron[nightly]");
    give(&host, &[cron, dependent]);
    let (code, text) = host.run(&["--detailed-exitcodes"]).await;
    assert_eq!(code, 2, "{text}");
    let report = host.report(&name(1));
    let status = &report["resource_statuses"]["Site_cron[nightly]"];
    assert_eq!(
        (&status["skipped"], &status["failed"]),
        (&json!(true), &json!(false))
    );
    let synced = "var/devices/sw1.lab.test/lib/puppet/type/site_cron.rb";
    assert_eq!(host.file(synced), file);
}

#[tokio::test(flavor = "multi_thread")]
async fn device_command_skips_host_resources_and_logs_them_once() {
    let host = DeviceHost::new(1).await;
    let text = include_str!("../../fixtures/puppetserver/catalogs/mixed1.json")
        .replace("mixed1.lab.test", &name(1));
    host.server.state().catalogs.insert(
        (name(1), "*".to_owned()),
        serde_json::from_str(&text).unwrap(),
    );
    let (_, text) = host.run(&["--detailed-exitcodes"]).await;
    let report = host.report(&name(1));
    let skipped: Vec<&String> = report["resource_statuses"]
        .as_object()
        .unwrap()
        .iter()
        .filter(|(_, status)| status["skipped"] == true)
        .map(|(name, _)| name)
        .collect();
    assert!(
        skipped.iter().any(|name| name.starts_with("File[")),
        "{skipped:?}\n{text}"
    );
    let warnings = report["logs"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|entry| {
            entry["level"] == "warning" && entry["message"].as_str().unwrap().contains("Package[")
        })
        .count();
    assert_eq!(warnings, 1, "{:?}", logs(&report));
}
