//! What is for a device and what is for a host; whose catalog it is.

use test_support::catalog::{catalog, recorded, vlan};
use test_support::lab::Lab;

const HOST: &[&str] = &[
    "Package[ntp]",
    "Package[openssh-server]",
    "File[/etc/motd]",
    "File[/etc/ssh/sshd_config]",
    "Service[sshd]",
    "Group[netops]",
    "User[netops]",
    "Exec[refresh-cache]",
    "Exec[write memory]",
];

async fn mixed() -> Lab {
    let mut lab = Lab::new();
    lab.add_switch("mixed1", &[]).await;
    lab.write_catalog("mixed1", &recorded("mixed1"));
    lab
}

#[tokio::test(flavor = "multi_thread")]
async fn host_resources_are_skipped_and_listed_once() {
    let lab = mixed().await;
    let ran = lab.run(&["apply"]).await;
    ran.assert_code(0);
    let warnings: Vec<&str> = ran
        .stdout
        .lines()
        .filter(|line| line.starts_with("mixed1: Warning: "))
        .collect();
    assert_eq!(warnings.len(), 1, "{}", ran.text());
    for reference in HOST {
        assert!(warnings[0].contains(reference), "{reference}: {warnings:?}");
    }
    assert!(lab.switches["mixed1"].vlans().iter().any(|row| row.0 == 40));
}

#[tokio::test(flavor = "multi_thread")]
async fn host_resources_refused_before_connecting_with_positions() {
    let lab = mixed().await;
    let ran = lab.run(&["apply", "--host-resources", "refuse"]).await;
    ran.assert_code(1);
    for reference in HOST {
        ran.assert_contains(reference);
    }
    ran.assert_contains("modules/profile/manifests/server_base.pp:3");
    assert_eq!(lab.log("mixed1").connections(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn host_resources_silent_skips_without_a_message() {
    let lab = mixed().await;
    let ran = lab.run(&["apply", "--host-resources", "silent"]).await;
    ran.assert_code(0);
    for reference in HOST {
        assert!(!ran.text().contains(reference), "{}", ran.text());
    }
    assert!(lab.switches["mixed1"].vlans().iter().any(|row| row.0 == 40));
}

#[tokio::test(flavor = "multi_thread")]
async fn catalog_for_another_device_is_refused_unless_forced() {
    let mut lab = Lab::new();
    lab.add_switch("sw1", &[]).await;
    lab.write_catalog("sw1", &catalog("sw9.lab.test", &[vlan(10, "one")]));
    let ran = lab.run(&["apply"]).await;
    ran.assert_code(1);
    ran.assert_contains("the catalog is for `sw9.lab.test`, not for `sw1.lab.test`");
    ran.assert_contains("--allow-name-mismatch");
    assert_eq!(lab.log("sw1").connections(), 0);

    let ran = lab.run(&["apply", "--allow-name-mismatch"]).await;
    ran.assert_code(0);
    assert_eq!(
        lab.log("sw1").configuration_lines(),
        ["vlan 10", "name one"]
    );
}
