//! Tests of folders of configurations.

use std::fs;

use switchtender_devices::driver::Registry;
use tempfile::TempDir;

use super::{SavedFleet, SavedFleetError, open};

const TYPED: &str = "hostname core\n!\nntp server 192.0.2.1\n";
const PRINTED: &str = "!\nversion 15.2\nhostname core\n!\nend\n";
const RANCID: &str = "!RANCID-CONTENT-TYPE: cisco\n!\nversion 15.2\nhostname core\n!\nend\n";

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().expect("a directory");
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("created");
        fs::write(&path, text).expect("written");
    }
    folder
}

fn open_in(folder: &TempDir, platform: Option<&str>) -> Result<SavedFleet, SavedFleetError> {
    let registry = Registry::shipped();
    let platform = platform.map(|name| registry.platform(name).expect("shipped"));
    open(folder.path(), &registry, platform)
}

/// The names of the devices with their groups, and the files that are skipped.
#[track_caller]
fn assert_devices(
    files: &[(&str, &str)],
    platform: Option<&str>,
    expected: &[(&str, Option<&str>)],
    skipped: &[&str],
) {
    let folder = folder(files);
    let fleet = open_in(&folder, platform).unwrap_or_else(|error| panic!("{error}"));
    let devices: Vec<(&str, Option<&str>)> = fleet
        .devices
        .iter()
        .map(|device| (device.name.as_str(), device.group.as_deref()))
        .collect();
    assert_eq!(devices, expected);
    let names = fleet.skipped.iter().map(|file| {
        let path = file.path.strip_prefix(folder.path());
        path.expect("in the folder").display().to_string()
    });
    assert_eq!(names.collect::<Vec<_>>(), skipped);
}

#[test]
fn files_of_a_flat_folder_are_devices() {
    assert_devices(
        &[
            ("sw1.cfg", TYPED),
            ("sw1.json", "{}"),
            ("sw2.example.net", PRINTED),
            ("sw3.example.net.cfg", TYPED),
            ("sw4", PRINTED),
            ("sw5.json", "{\"config\": \"version 15.2\"}"),
            ("README.md", "# Backups\n"),
            (".git/config", "[core]\n"),
            (".sw6.cfg.swp", TYPED),
        ],
        Some("cisco_ios"),
        &[
            ("sw1", None),
            ("sw2.example.net", None),
            ("sw3.example.net", None),
            ("sw4", None),
            ("sw5", None),
        ],
        &["README.md"],
    );
}

#[test]
fn groups_of_oxidized_are_folders() {
    assert_devices(
        &[
            ("router.db", "# a comment\nsw1:ios\nsw2:ios:core\n"),
            ("config", "---\nusername: admin\n"),
            ("configs/.git/HEAD", "ref: refs/heads/main\n"),
            ("configs/access/sw1", PRINTED),
            ("configs/core/sw2", PRINTED),
        ],
        None,
        &[("sw1", Some("access")), ("sw2", Some("core"))],
        &[],
    );
}

#[test]
fn folders_of_rancid_have_the_platform() {
    assert_devices(
        &[
            ("campus/router.db", "sw1;cisco;up\nlb1;paloalto;up\n"),
            ("campus/routers.all", "sw1;cisco\n"),
            ("campus/configs/sw1", PRINTED),
            ("campus/configs/lb1", "<config/>\n"),
            ("branch/configs/sw2", RANCID),
        ],
        None,
        &[("sw1", Some("campus")), ("sw2", Some("branch"))],
        &["campus/configs/lb1"],
    );
}

#[test]
fn files_without_a_name_of_a_device_have_the_host_name() {
    assert_devices(
        &[
            ("192.0.2.1", PRINTED),
            ("edge/running-config.cfg", "hostname edge\n"),
        ],
        Some("cisco_ios"),
        &[("core", None), ("edge", Some("edge"))],
        &[],
    );
}

#[test]
fn folders_that_cannot_be_devices_are_errors() {
    for (files, platform, expected) in [
        (
            &[("a/sw1.cfg", TYPED), ("b/sw1", PRINTED)][..],
            Some("cisco_ios"),
            "two files are of the device sw1: DIR/a/sw1.cfg and DIR/b/sw1",
        ),
        (
            &[("sw1.cfg", TYPED)],
            None,
            "the platform of DIR/sw1.cfg is unknown",
        ),
        (
            &[("running-config.cfg", "version 15.2\n")][..],
            Some("cisco_ios"),
            "DIR/running-config.cfg: the name of the device is unknown",
        ),
        (
            &[("README", "text\n")],
            Some("cisco_ios"),
            "DIR has no configurations",
        ),
    ] {
        let folder = folder(files);
        let error = open_in(&folder, platform)
            .err()
            .expect("an error")
            .to_string();
        let path = folder.path().display().to_string();
        assert_eq!(error.replace(&path, "DIR"), expected);
    }
}
