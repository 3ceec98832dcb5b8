//! The files of the operator: what they may cost, read and run.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use test_support::program::{self, PLANTED, ProgramOutput};

const DEVICE: &str = "platform = \"cisco_ios\"\naddress = \"192.0.2.1\"\nuser = \"u\"\n";
const STATE: &str = "network_vlan:\n  10: {vlan_name: users}\n";

/// A directory with an inventory of sw1, and state for it.
struct Site(TempDir);

impl Site {
    fn new() -> Self {
        let site = Self(TempDir::new().unwrap());
        site.write(
            "inventory.toml",
            &format!("[device.sw1]\n{DEVICE}agent = true\n"),
        );
        site.write("state/common.yaml", STATE);
        site
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn set_mode(&self, name: &str, mode: u32) {
        fs::set_permissions(self.path(name), Permissions::from_mode(mode)).unwrap();
    }

    /// A command in the inventory or state that leaves a file.
    fn trace(&self) -> String {
        let path = self.path("ran");
        format!("[\"touch\", \"{}\"]", path.display())
    }

    /// Whether the command of [`Site::trace`] has run. Forgets it.
    fn has_run(&self) -> bool {
        fs::remove_file(self.path("ran")).is_ok()
    }

    fn run(&self, arguments: &[&str]) -> ProgramOutput {
        let output = program::switchtender(arguments)
            .env_remove("SSH_AUTH_SOCK")
            .env("HOME", self.0.path())
            .env("SWITCHTENDER_STATE", self.path("runs"))
            .current_dir(self.0.path())
            .output();
        let output = ProgramOutput::from(output.unwrap());
        output.assert_no_secrets();
        output.assert_printable();
        output
    }
}

const PLAN: [&str; 4] = ["plan", "--mock", "--state", "state"];
const VALIDATE: [&str; 3] = ["validate", "--state", "state"];

#[test]
fn hostile_templates_end_in_plan_and_validate() {
    let site = Site::new();
    let loops = "{% for i in range(10000) %}{% for j in range(10000) %}{% for k in range(10000) %}";
    let ends = "{% endfor %}".repeat(3);
    let cases = [
        (format!("{loops}{ends}"), "takes more than 1000000 steps"),
        (
            format!("{{{{ {}1 }}}}", "not ".repeat(20_000)),
            "more than 5000 words and signs",
        ),
        (
            format!("{{{{ {}1 }}}}", "1~".repeat(30_000)),
            "more than 5000 words and signs",
        ),
        (
            "{% set n = namespace(x='aaaaaaaa') %}{% for i in range(99) %}{% set n.x = n.x ~ n.x %}{% endfor %}".to_owned(),
            "a value is larger than 4 MiB",
        ),
        (
            format!("{{{{ 'aaaaaaaa'{} }}}}", "|replace('a', 'aaaaaaaa')".repeat(20)),
            "a value is larger than 4 MiB",
        ),
        (
            "{{ '%1000000000d'|format(1) }}".to_owned(),
            "a value is larger than 4 MiB",
        ),
    ];
    let mut state = "network_interface:\n".to_owned();
    for (number, (template, _)) in cases.iter().enumerate() {
        state += &format!("  GigabitEthernet1/0/{number}: {{description: \"{template}\"}}\n");
    }
    site.write("state/common.yaml", &state);
    for command in [&VALIDATE[..], &PLAN] {
        let output = site.run(command);
        output.assert_code(1);
        for (number, (_, reason)) in cases.iter().enumerate() {
            let position = format!("state/common.yaml:{}:", number + 2);
            output.assert_contains(&position);
            output.assert_contains(reason);
        }
        output.assert_contains("split the template, or write its result as the value");
    }
}

#[test]
fn links_of_a_state_directory_point_inside_it() {
    let site = Site::new();
    let outside = format!("{PLANTED}: [unclosed\n");
    site.write("outside.yaml", &outside);
    for name in ["common.yaml", "device/sw1.yaml", "platform/cisco_ios.yaml"] {
        let link = site.path("state").join(name);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        let before = fs::read(&link).ok();
        let _ = fs::remove_file(&link);
        symlink(site.path("outside.yaml"), &link).unwrap();
        for command in [&VALIDATE[..], &PLAN, &["state", "show", "sw1"]] {
            let output = site.run(command);
            assert_ne!(output.code, Some(0), "{output:?}");
            output.assert_contains("a link to a file outside of the directory of the state");
        }
        fs::remove_file(&link).unwrap();
        if let Some(before) = before {
            fs::write(&link, before).unwrap();
        }
    }
    // A directory that is a link leads outside as well.
    fs::remove_dir_all(site.path("state/device")).unwrap();
    site.write("elsewhere/sw1.yaml", STATE);
    symlink(site.path("elsewhere"), site.path("state/device")).unwrap();
    site.run(&VALIDATE)
        .assert_contains("a link to a file outside of the directory of the state");
    fs::remove_file(site.path("state/device")).unwrap();

    site.write("state/shared/all.yaml", STATE);
    fs::remove_file(site.path("state/common.yaml")).unwrap();
    symlink("shared/all.yaml", site.path("state/common.yaml")).unwrap();
    fs::rename(site.path("state"), site.path("release-1")).unwrap();
    symlink("release-1", site.path("state")).unwrap();
    site.run(&VALIDATE).assert_code(0);
    site.run(&PLAN).assert_contains("users");
}

fn fifo(path: &Path) {
    let status = std::process::Command::new("mkfifo").arg(path).status();
    assert!(status.unwrap().success());
}

#[test]
fn special_and_large_files_are_refused() {
    let site = Site::new();
    site.write("catalog.json", "{\"name\": \"sw1\", \"resources\": []}");
    fs::create_dir_all(site.path("running")).unwrap();
    fs::create_dir_all(site.path("definitions/models")).unwrap();
    let commands: [(&str, &[&str]); 8] = [
        ("state/common.yaml", &VALIDATE),
        (
            "running/sw1.cfg",
            &["validate", "--state", "state", "--running", "running"],
        ),
        (
            "running/sw1.cfg",
            &["plan", "--state", "state", "--running", "running"],
        ),
        (
            "facts.json",
            &["validate", "--state", "state", "--facts", "facts.json"],
        ),
        ("switchtender.toml", &VALIDATE),
        ("catalog.json", &["validate", "catalog.json"]),
        ("inventory.toml", &["inventory", "validate"]),
        (
            "definitions/models/a.toml",
            &["validate", "catalog.json", "--definitions", "definitions"],
        ),
    ];
    for (name, command) in commands {
        let path = site.path(name);
        let before = fs::read(&path).ok();
        for (kind, reason) in [
            ("FIFO", "it is a FIFO, not a regular file"),
            ("device", "it is a device, not a regular file"),
            ("hole", "the file is larger than"),
        ] {
            let _ = fs::remove_file(&path);
            match kind {
                "FIFO" => fifo(&path),
                "device" => symlink("/dev/zero", &path).unwrap(),
                _ => fs::File::create(&path).unwrap().set_len(8 << 30).unwrap(),
            }
            let output = site.run(command);
            assert_ne!(output.code, Some(0), "{name} {kind}: {output:?}");
            let is_link_outside = name.starts_with("state/") && kind == "device";
            output.assert_contains(if is_link_outside {
                "a link to a file outside"
            } else {
                reason
            });
        }
        fs::remove_file(&path).unwrap();
        if let Some(before) = before {
            fs::write(&path, before).unwrap();
        }
    }
    // What the process has open is no file of a directory.
    site.run(&["validate", "catalog.json", "--settings", "/dev/null"])
        .assert_code(0);
}

#[test]
fn offline_commands_run_the_command_of_the_inventory_only_with_an_option() {
    let site = Site::new();
    let inventory = format!(
        "[source]\ncommand = {}\n[device.sw1]\n{DEVICE}agent = true\n",
        site.trace()
    );
    site.write("inventory.toml", &inventory);
    site.write("catalog.json", "{\"name\": \"sw1\", \"resources\": []}");
    let commands: [&[&str]; 6] = [
        &["validate", "catalog.json"],
        &VALIDATE,
        &["inventory", "validate"],
        &["inventory", "show"],
        &["state", "show", "sw1"],
        &["graph", "--state", "state", "sw1"],
    ];
    for command in commands {
        let output = site.run(command);
        output.assert_code(0);
        output
            .assert_contains("the command was not run: its devices and their settings are missing");
        output.assert_contains("--run-commands");
        assert!(!site.has_run(), "{command:?}");
        let run = site.run(&[command, &["--run-commands"]].concat());
        run.assert_code(0);
        assert!(site.has_run(), "{command:?}");
        assert!(!run.text().contains("was not run"), "{run:?}");
    }
    site.run(&PLAN).assert_code(0);
    assert!(site.has_run());
}

#[test]
fn inventory_that_others_can_write_runs_no_command() {
    let site = Site::new();
    let inventory = |secret: &str| format!("[device.sw1]\n{DEVICE}{secret}\n");
    let source = format!(
        "[source]\ncommand = {}\n{}",
        site.trace(),
        inventory("agent = true")
    );
    site.write("inventory.toml", &source);
    for mode in [0o666, 0o620] {
        site.set_mode("inventory.toml", mode);
        for command in [&["inventory", "validate", "--run-commands"][..], &PLAN] {
            let refused = site.run(command);
            assert_ne!(refused.code, Some(0), "{refused:?}");
            refused
                .assert_contains("the command does not run: other users can write inventory.toml");
            refused.assert_contains("`chmod go-w inventory.toml`");
        }
        assert!(!site.has_run());
    }
    // The command of a secret, when a session needs it.
    let secret = format!("password = {{ command = {} }}", site.trace());
    site.write("inventory.toml", &inventory(&secret));
    site.set_mode("inventory.toml", 0o622);
    let refused = site.run(&["facts", "sw1"]);
    refused.assert_code(1);
    refused.assert_contains("the command does not run: other users can write inventory.toml");
    assert!(!site.has_run());

    // Without a command, each reader warns.
    site.write("inventory.toml", &inventory("agent = true"));
    site.set_mode("inventory.toml", 0o602);
    for command in [&VALIDATE[..], &PLAN, &["inventory", "validate"]] {
        let output = site.run(command);
        output.assert_code(0);
        output.assert_contains(
            "other users can write inventory.toml (mode 0602): its commands do not run",
        );
    }
    site.set_mode("inventory.toml", 0o600);
    let quiet = site.run(&PLAN).text();
    assert!(!quiet.contains("other users"), "{quiet}");
}

#[test]
fn commands_of_desired_state_need_a_setting() {
    let site = Site::new();
    let state = format!(
        "snmp_community:\n  public:\n    group: ro\nnetwork_vlan:\n  10:\n    vlan_name: {{secret: {{command: {}}}}}\n",
        site.trace()
    );
    site.write("state/common.yaml", &state);
    let refused = site.run(&PLAN);
    refused.assert_code(1);
    refused.assert_contains(
        "the command does not run: the settings do not permit commands of desired state",
    );
    refused.assert_contains("set `commands = true` below `[secrets]` in switchtender.toml");
    assert!(!site.has_run());
    // Neither the state nor the inventory is the place of the setting.
    site.write("state/device/sw1.yaml", "secrets: {commands: true}\n");
    let refused = site.run(&PLAN);
    assert_ne!(refused.code, Some(0), "{refused:?}");
    assert!(!site.has_run());
    fs::remove_file(site.path("state/device/sw1.yaml")).unwrap();

    site.write("switchtender.toml", "[secrets]\ncommands = true\n");
    site.run(&VALIDATE).assert_code(0);
    assert!(!site.has_run(), "validate reads no secret");
    site.run(&PLAN);
    assert!(site.has_run());
}

#[test]
fn manual_pages_replace_links() {
    let site = Site::new();
    site.write("precious", "text");
    fs::create_dir(site.path("man")).unwrap();
    symlink(site.path("precious"), site.path("man/switchtender.1")).unwrap();
    site.run(&["man", "man"]).assert_code(0);
    assert_eq!(fs::read_to_string(site.path("precious")).unwrap(), "text");
    let page = fs::symlink_metadata(site.path("man/switchtender.1")).unwrap();
    assert!(page.is_file() && page.len() > 1000, "{page:?}");
    let names = fs::read_dir(site.path("man")).unwrap();
    let hidden = names.filter(|entry| {
        let name = entry.as_ref().unwrap().file_name();
        name.as_encoded_bytes().starts_with(b".")
    });
    assert_eq!(hidden.count(), 0, "no leftovers");
}
