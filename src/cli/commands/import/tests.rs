//! Imports of folders that the tests make, and of the configurations of foreign devices, which are not part of this
//! project.
//!
//! The test of foreign devices searches next to the checkout, or in the directory `SWITCHTENDER_CONFIGURATIONS`, and prints a note when it
//! skips.

use std::path::{Path, PathBuf};
use std::{env, fs};

use clap::Parser as _;
use test_support::stderr_note;

use super::{ImportArgs, ImportReport, import};
use crate::cli::exit::{CommandError, Exit};
use crate::clock;

#[derive(clap::Parser)]
struct Arguments {
    #[command(flatten)]
    import: ImportArgs,
}

fn arguments(words: &[&str]) -> ImportArgs {
    let words = ["import"].into_iter().chain(words.iter().copied());
    Arguments::try_parse_from(words).unwrap().import
}

fn directory(platform: &str) -> Option<PathBuf> {
    let named = env::var_os("SWITCHTENDER_CONFIGURATIONS").map(PathBuf::from);
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/fixtures/configurations");
    let directory = named.unwrap_or(beside).join(platform);
    directory.is_dir().then_some(directory)
}

/// A folder of saved configurations, and what is imported of it.
struct Folder(tempfile::TempDir);

/// An access switch. Its ports have the VLAN of its site.
fn configuration(name: &str, vlan: u32, lines: &str) -> String {
    let mut text = format!(
        "version 15.2\n!\nhostname {name}\n!\nvlan 10\n name voice\n!\nvlan {vlan}\n name users\n!\n"
    );
    let level = vlan / 100;
    for port in 1..=8 {
        text += &format!(
            "interface GigabitEthernet1/0/{port}\n description desk {port}\n \
             switchport access vlan {vlan}\n switchport mode access\n \
             switchport voice vlan 10\n storm-control broadcast level {level}.00\n \
             spanning-tree portfast\n!\n"
        );
    }
    text + "ntp server 192.0.2.10\nntp server 192.0.2.11\n" + lines + "end\n"
}

const SITES: [&str; 2] = ["--label", r"site=^(\w+)-"];

impl Folder {
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        for name in ["oslo-sw1", "oslo-sw2", "bergen-sw3", "bergen-sw4"] {
            let vlan = if name.starts_with("oslo") { 100 } else { 200 };
            let secret = "tacacs server t1\n address ipv4 192.0.2.20\n key s3cret\n!\n";
            let text = configuration(name, vlan, secret);
            folder.write(&format!("configs/{name}.cfg"), &text);
        }
        folder
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.0.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        let path = self.0.path().join(name);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    fn replace(&self, name: &str, before: &str, after: &str) {
        let text = self.read(name);
        assert!(text.contains(before), "{name}: {text}");
        self.write(name, &text.replace(before, after));
    }

    fn try_import(&self, words: &[&str]) -> Result<ImportReport, CommandError> {
        let state = self.path("state");
        let configs = self.path("configs");
        let inventory = self.path("inventory.toml");
        let runs = self.path("runs");
        let all = [
            state.as_str(),
            "--configs",
            &configs,
            "--platform",
            "cisco_ios",
        ];
        let files = ["--inventory", inventory.as_str(), "--state-dir", &runs];
        import(&arguments(&[&all[..], &files, words].concat()))
    }

    /// The text of the report of an import with this exit code.
    fn import(&self, words: &[&str], exit: u8) -> String {
        let report = self.try_import(words).unwrap();
        let text = report.text().as_str().to_owned();
        assert_eq!(report.exit(), Exit(exit), "{text}");
        text
    }

    /// The files of the state with their texts.
    fn files(&self) -> Vec<(String, String)> {
        let files = super::patch::state_files(&self.0.path().join("state")).unwrap();
        files.into_iter().collect()
    }
}

fn assert_contains(text: &str, part: &str) {
    assert!(text.contains(part), "no `{part}` in:\n{text}");
}

#[test]
fn import_writes_short_files_whose_plan_is_empty() {
    let folder = Folder::new();
    folder.import(&[&SITES[..], &["--dry-run"]].concat(), 2);
    assert!(!folder.0.path().join("state").exists());
    let report = folder.import(&SITES, 0);
    assert_contains(&report, "read 4 of 4 devices");
    assert_contains(&report, "plan of the files against what was read: empty");
    let common = folder.read("state/common.yaml");
    assert_contains(&common, "GigabitEthernet1/0/[1-8]");
    assert_contains(&common, "desk {{ n }}");
    assert_contains(&common, "TACACS_SERVER_T1_KEY");
    assert_contains(&folder.read("state/label/site/oslo.yaml"), "storm_control");
    let example = folder.read("state/secrets.env.example");
    assert_contains(&example, "\nTACACS_SERVER_T1_KEY=\n");
    let lines: usize = folder
        .files()
        .iter()
        .map(|(_, text)| text.lines().count())
        .sum();
    assert!(lines < 60, "{:#?}", folder.files());
    for (name, text) in folder.files() {
        assert!(!text.contains("s3cret"), "{name}: {text}");
    }
    let inventory = folder.read("inventory.toml");
    assert_contains(
        &inventory,
        "[group.site-oslo]\ndevices = [\"oslo-sw[1-2]\"]",
    );
}

#[test]
fn second_import_changes_what_has_changed() {
    let folder = Folder::new();
    folder.import(&SITES, 0);
    folder.replace("state/common.yaml", "ntp_server:", "# time\nntp_server:");
    let before = folder.files();
    folder.import(&[], 0);
    assert_eq!(folder.files(), before);

    // One device has changed: its file has the exception.
    let (before_text, after) = ("description desk 7", "description printer");
    folder.replace("configs/oslo-sw1.cfg", before_text, after);
    let report = folder.import(&["oslo-sw1"], 0);
    let taken =
        "taken from the device: network_interface[GigabitEthernet1/0/7].description on oslo-sw1";
    assert_contains(&report, taken);
    let own = folder.read("state/device/oslo-sw1.yaml");
    assert_contains(&own, "GigabitEthernet1/0/7: {description: printer}");
    let is_changed = |(name, text): &&(String, String)| {
        let mut before = before.iter();
        !before.any(|(other, before)| other == name && before == text)
    };
    let files = folder.files();
    assert_eq!(files.iter().filter(is_changed).count(), 1, "{files:#?}");

    // All devices have changed: the common value is another one.
    for name in ["oslo-sw1", "oslo-sw2", "bergen-sw3", "bergen-sw4"] {
        folder.replace(&format!("configs/{name}.cfg"), "192.0.2.20", "192.0.2.21");
    }
    folder.import(&[], 0);
    let common = folder.read("state/common.yaml");
    assert_contains(&common, "hostname: 192.0.2.21");
    assert_contains(&common, "# time");

    // The files have changed: the next apply changes the devices, however many imports come before it.
    folder.replace("state/common.yaml", "192.0.2.21", "192.0.2.22");
    let vlans = "network_vlan:\n  70: {vlan_name: guests}\n";
    folder.replace("state/common.yaml", "network_vlan:\n", vlans);
    let common = folder.read("state/common.yaml");
    for _ in 0..3 {
        let report = folder.import(&[], 0);
        assert_contains(&report, "kept as in the files: tacacs_server[t1].hostname");
        assert_contains(&report, "kept as in the files: network_vlan[70]");
    }
    assert_eq!(folder.read("state/common.yaml"), common);

    // Both have changed.
    folder.replace("configs/oslo-sw2.cfg", "192.0.2.21", "192.0.2.23");
    let report = folder.import(&["oslo-sw2"], 4);
    assert_contains(&report, "conflict, kept as in the files");
    folder.import(&["oslo-sw2", "--take", "device"], 0);
    assert_contains(&folder.read("state/device/oslo-sw2.yaml"), "192.0.2.23");
}

#[test]
fn what_most_devices_have_got_stands_in_common_files() {
    let folder = Folder::new();
    folder.import(&SITES, 0);
    let before = folder.files();
    let names = ["oslo-sw1", "oslo-sw2", "bergen-sw3", "bergen-sw4"];
    let insert = |name: &str, lines: &str| {
        let file = format!("configs/{name}.cfg");
        folder.replace(&file, "\nend", &format!("\n{lines}\nend"));
    };
    for name in names {
        insert(name, "ntp server 192.0.2.99 prefer");
    }
    for name in &names[..2] {
        insert(name, "ip route 198.51.100.0 255.255.255.0 192.0.2.254");
    }
    folder.import(&[], 0);
    let common = folder.read("state/common.yaml");
    assert_contains(&common, "192.0.2.99");
    let site = folder.read("state/label/site/oslo.yaml");
    assert_contains(&site, "198.51.100.0");
    let (files, count) = (folder.files(), before.len());
    assert_eq!(files.len(), count, "{files:#?}");
    folder.import(&[], 0);
    assert_eq!(folder.files(), files);

    // Without the lines, the files are those of the first import.
    for name in names {
        folder.replace(
            &format!("configs/{name}.cfg"),
            "\nntp server 192.0.2.99 prefer",
            "",
        );
    }
    folder.import(&[], 0);
    let common = folder.read("state/common.yaml");
    assert!(!common.contains("192.0.2.99"), "{common}");
}

#[test]
fn passwords_are_named_and_names_are_no_secrets() {
    let folder = Folder::new();
    let lines = "username cisco privilege 15 password 0 cisco\n\
                 username bob privilege 15 secret 5 $1$mERr$hx5rVt7rPNoS4wqbXKX7m0\n\
                 enable secret 5 $1$mERr$hx5rVt7rPNoS4wqbXKX7m0\n";
    for name in ["oslo-sw1", "oslo-sw2"] {
        folder.write(
            &format!("configs/{name}.cfg"),
            &configuration(name, 100, lines),
        );
    }
    let report = folder.import(&SITES, 0);
    for attribute in ["ios_user[bob].secret", "ios_enable[default].secret"] {
        let text = format!("shows only its hash: {attribute} of oslo-sw[1-2]");
        assert_contains(&report, &text);
    }
    let site = folder.read("state/label/site/oslo.yaml");
    assert_contains(&site, "cisco: {privilege: 15}");
}

#[test]
fn new_device_has_what_its_type_requires() {
    let folder = Folder::new();
    let acl =
        |number: u8| format!("ip access-list standard MGMT\n permit 10.{number}.99.0 0.0.0.255\n");
    let names = [
        "oslo-sw1",
        "oslo-sw2",
        "bergen-sw3",
        "bergen-sw4",
        "oslo-sw5",
    ];
    for (name, number) in names[..4].iter().zip(1..) {
        folder.write(
            &format!("configs/{name}.cfg"),
            &configuration(name, 100, &acl(number)),
        );
    }
    folder.import(&[], 0);
    assert_contains(&folder.read("state/common.yaml"), "MGMT standard 10");
    folder.write(
        "configs/oslo-sw5.cfg",
        &configuration("oslo-sw5", 100, &acl(5)),
    );
    let report = folder.import(&[], 0);
    assert_contains(&report, "read 5 of 5 devices");
    assert_contains(&folder.read("state/device/oslo-sw5.yaml"), "10.5.99.0");

    // A configuration that is no longer there is told.
    fs::remove_file(folder.path("configs/oslo-sw5.cfg")).unwrap();
    let report = folder.import(&[], 0);
    assert_contains(&report, ": oslo-sw5; the files of these devices stay");
}

#[test]
fn new_device_has_only_its_exceptions() {
    let folder = Folder::new();
    folder.import(&SITES, 0);
    let before = folder.files();
    let text = configuration("oslo-sw5", 100, "ntp server 192.0.2.12\n");
    folder.write("configs/oslo-sw5.cfg", &text);
    folder.import(&[&["oslo-sw5"], &SITES[..]].concat(), 0);
    let own = folder.read("state/device/oslo-sw5.yaml");
    assert!(
        own.lines().count() < 6 && own.contains("192.0.2.12"),
        "{own}"
    );
    assert_eq!(folder.files().len(), before.len() + 1);
}

#[test]
fn import_refuses_to_overwrite_uncommitted_changes() {
    let folder = Folder::new();
    let mut git = std::process::Command::new("git");
    let started = git
        .args(["init", "-q"])
        .current_dir(folder.0.path())
        .status();
    if !started.is_ok_and(|status| status.success()) {
        stderr_note::print("skipped: no git");
        return;
    }
    folder.import(&[], 0);
    folder.replace(
        "configs/oslo-sw1.cfg",
        "description desk 7",
        "description printer",
    );
    let refused = folder.try_import(&["--refactor"]).unwrap_err();
    assert_contains(&refused.message, "not committed");
    folder.import(&["--refactor", "--force"], 0);
}

#[test]
fn foreign_configurations_become_shorter_files_whose_plan_is_empty() {
    for (folder, platform) in [
        ("ios", "cisco_ios"),
        ("eos", "arista_eos"),
        ("nxos", "cisco_nxos"),
        ("xr", "ios_xr"),
        ("junos", "junos"),
    ] {
        let Some(configurations) = directory(folder) else {
            stderr_note::print("skipped: no configurations (set SWITCHTENDER_CONFIGURATIONS)");
            return;
        };
        let definitions = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/definitions");
        let folder = Folder(tempfile::tempdir().unwrap());
        let [state, inventory, runs] =
            ["state", "inventory.toml", "runs"].map(|one| folder.path(one));
        let args = arguments(&[
            &state,
            "--configs",
            &configurations.display().to_string(),
            "--definitions",
            &definitions.display().to_string(),
            "--platform",
            platform,
            "--inventory",
            &inventory,
            "--state-dir",
            &runs,
        ]);
        let began = clock::instant();
        let report = import(&args).unwrap();
        let text = report.text().as_str().to_owned();
        let lines = text.lines().filter(|line| !line.starts_with("profile: "));
        for line in lines.chain([format!("{:?}", began.elapsed()).as_str()]) {
            stderr_note::print(&format!("{platform}: {line}"));
        }
        let files = folder.files();
        if platform == "cisco_ios" {
            assert!(report.failed.is_empty(), "{:#?}", report.failed);
            assert!(report.lines < report.configuration_lines);
        }
        let again = import(&args).unwrap();
        let text = again.text().as_str().to_owned();
        assert_eq!(folder.files(), files, "{platform}: {text}");
    }
}
