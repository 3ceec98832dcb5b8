//! Devices of `device.conf`, rules of the settings, and the files that are watched.

use std::fs;
use std::path::Path;

use switchtender_devices::diagnostic::Source;

use super::*;
use crate::diagnostic::terminal::{RenderOptions, render_all};
use crate::serve::watched_files::WatchedFiles;
use crate::store::Store;

async fn load(dir: &Path, settings: &str) -> (ServeFleet, WatchedFiles) {
    let settings = format!("[puppet_server]\nconfig = \"puppet.conf\"\n{settings}");
    let (fleet, files) = load_result(dir, settings).await;
    (fleet.unwrap(), files)
}

async fn load_result(
    dir: &Path,
    settings: String,
) -> (Result<ServeFleet, LoadFleetError>, WatchedFiles) {
    let source = Source::new("serve.toml", settings);
    let context = LoadContext::of_own_files(Store::at(dir));
    let settings = ServeSettings::parse(&source, dir).unwrap();
    let mut files = WatchedFiles::default();
    let fleet = ServeFleet::load(settings, &context, &mut files).await;
    (fleet, files)
}

/// `puppet.conf` names a `device.conf` with two switches.
fn write_files(dir: &Path) {
    let conf = format!(
        "[main]\ndeviceconfig = {0}/my-device.conf\nconfdir = {0}\nvardir = {0}\nruninterval = 20m\n",
        dir.display()
    );
    fs::write(dir.join("puppet.conf"), conf).unwrap();
    let section = |name: &str| format!("[{name}]\ntype cisco_ios\nurl file:///{name}.conf\n");
    let text = section("sw1.test") + &section("lb1.test");
    fs::write(dir.join("my-device.conf"), text).unwrap();
}

#[tokio::test]
async fn secret_of_the_provider_in_vault_needs_the_vault_of_the_inventory() {
    let dir = tempfile::tempdir().unwrap();
    let device = "[device.sw1]\nplatform = \"cisco_ios\"\naddress = \"192.0.2.1\"\nuser = \"u\"\nagent = true\n";
    let settings = "inventory = \"inventory.toml\"\n[defaults]\ncatalog = \"catalogs\"\n\
                    [oidc]\nissuer = \"https://login.test\"\nclient_id = \"a\"\n\
                    client_secret = { vault = \"net/oidc\", field = \"secret\" }\n\
                    [oidc.role.admins]\nrole = \"admin\"\n";
    for (vault, is_valid) in [
        ("", false),
        ("[vault]\naddress = \"https://vault.test:8200\"\n", true),
    ] {
        fs::write(
            dir.path().join("inventory.toml"),
            format!("{device}{vault}"),
        )
        .unwrap();
        let (fleet, _) = load_result(dir.path(), settings.to_owned()).await;
        match fleet {
            Ok(_) => assert!(is_valid),
            Err(LoadFleetError::Findings(findings)) => {
                assert!(!is_valid, "{findings:?}");
                assert!(
                    findings[0].message.contains("has no [vault]"),
                    "{findings:?}"
                );
            }
            Err(error) => panic!("{error}"),
        }
    }
}

#[tokio::test]
async fn device_rules_apply_to_devices_of_the_puppet_server() {
    let dir = tempfile::tempdir().unwrap();
    write_files(dir.path());
    let rules = "[device.\"sw*\"]\nmode = \"plan\"\ninterval = \"5m\"\npriority = 7\n";
    let (fleet, _) = load(dir.path(), rules).await;
    let scheduled = fleet.scheduled();
    let found = scheduled.iter().map(|device| {
        let schedule = &device.schedule;
        let minutes = schedule.interval.as_secs() / 60;
        (&*device.name, schedule.applies, schedule.priority, minutes)
    });
    let found: Vec<_> = found.collect();
    // Without a rule, the interval is `runinterval`.
    assert_eq!(
        found,
        [("lb1.test", true, 0, 20), ("sw1.test", false, 7, 5)]
    );
    assert!(fleet.warnings.is_empty(), "{:?}", fleet.warnings);
}

#[tokio::test]
async fn rules_without_devices_are_reported_with_their_position() {
    let dir = tempfile::tempdir().unwrap();
    write_files(dir.path());
    let rules = "[label.\"role=lab\"]\npriority = 1\n[device.swich1]\npriority = 1\n\
                 [device.\"*\"]\npriority = 2\n";
    let (fleet, _) = load(dir.path(), rules).await;
    let text = render_all(&fleet.warnings, RenderOptions::PLAIN);
    let text = text.as_str();
    for expected in [
        "[label.\"role=lab\"] matches no device",
        "have no labels",
        "[device.\"swich1\"] matches no device",
        "serve.toml:3:",
        "serve.toml:5:",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    assert!(!text.contains("[device.\"*\"]"), "{text}");
}

/// As for Puppet, `config` does not move `device.conf`; a proxy without devices says so.
#[tokio::test]
async fn puppet_conf_beside_a_device_conf_is_reported_without_devices() {
    let dir = tempfile::tempdir().unwrap();
    let conf = format!("[main]\nconfdir = {}/other\n", dir.path().display());
    fs::write(dir.path().join("puppet.conf"), conf).unwrap();
    fs::write(dir.path().join("device.conf"), "").unwrap();
    let (fleet, _) = load(dir.path(), "").await;
    assert!(fleet.scheduled().is_empty());
    let text = render_all(&fleet.warnings, RenderOptions::PLAIN);
    let text = text.as_str();
    let expected = [
        "[puppet_server] has no devices in ".to_owned(),
        "no such file".to_owned(),
        format!("`deviceconfig = \"{}/device.conf\"`", dir.path().display()),
    ];
    for expected in expected {
        assert!(text.contains(&expected), "{expected}: {text}");
    }
}

#[tokio::test]
async fn device_conf_of_puppet_conf_is_watched() {
    let dir = tempfile::tempdir().unwrap();
    write_files(dir.path());
    let (_, files) = load(dir.path(), "").await;
    assert_eq!(files.read_again(), files);
    let path = dir.path().join("my-device.conf");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(
        &path,
        text + "[sw2.test]\ntype cisco_ios\nurl file:///sw2.conf\n",
    )
    .unwrap();
    assert_ne!(files.read_again(), files);
}

#[tokio::test]
async fn devices_without_a_file_of_desired_state_are_not_managed_until_they_have_one() {
    let dir = tempfile::tempdir().unwrap();
    let device = |name: &str| {
        format!("[device.{name}]\nplatform = \"cisco_ios\"\naddress = \"{name}.test\"\n")
    };
    let defaults = "[defaults]\nuser = \"admin\"\nagent = true\n";
    let inventory = defaults.to_owned() + &device("sw1") + &device("sw2");
    fs::write(dir.path().join("inventory.toml"), inventory).unwrap();
    fs::create_dir_all(dir.path().join("state/device")).unwrap();
    let settings = "[defaults]\nstate = \"state\"\n";
    let write = |name: &str| {
        let path = dir.path().join(format!("state/device/{name}.yaml"));
        fs::write(path, "network_vlan: {10: {vlan_name: users}}\n").unwrap();
    };

    let (fleet, _) = load_result(dir.path(), settings.to_owned()).await;
    let Err(LoadFleetError::Findings(findings)) = fleet else {
        panic!("a fleet without a managed device");
    };
    let text = render_all(&findings, RenderOptions::PLAIN);
    let expected = "2 devices have no file in";
    assert!(text.as_str().contains(expected), "{}", text.as_str());

    write("sw1");
    let (fleet, files) = load_result(dir.path(), settings.to_owned()).await;
    let fleet = fleet.unwrap();
    let names: Vec<_> = fleet
        .scheduled()
        .iter()
        .map(|device| device.name.clone())
        .collect();
    assert_eq!(names, ["sw1".into()]);
    let text = render_all(&fleet.warnings, RenderOptions::PLAIN);
    let expected = "sw2 has no file in";
    assert!(text.as_str().contains(expected), "{}", text.as_str());

    assert_eq!(files.read_again(), files);
    write("sw2");
    assert_ne!(files.read_again(), files);
}
