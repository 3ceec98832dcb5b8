//! `model import` on the type files of modules.
//!
//! Puppet loads them. Without it the tests print that they were skipped, except with
//! `SWITCHTENDER_REQUIRE_PEERS=1`; the recorded output of the program is imported everywhere.

use std::path::Path;
use std::process::Command;

use switchtender_devices::diagnostic::Source;
use switchtender_devices::model::RunsOn;
use switchtender_devices::model::load::load;
use switchtender_devices::value::Attributes;
use test_support::{peer, program};

/// Type files of each form, and what the program prints for them.
const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/model_import");

/// Whether there is no Puppet.
fn skips() -> bool {
    peer::skips(peer::missing_puppet().or_else(peer::missing_resource_api))
}

#[test]
fn model_import_converts_type_files_and_lists_unsupported_parts() {
    if skips() {
        return;
    }
    let modules = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/puppetserver/modules");
    let directory = tempfile::tempdir().expect("a directory");
    let import = || {
        let path = |path: &Path| path.display().to_string();
        let (from, to) = (path(&modules), path(directory.path()));
        program::run(&["model", "import", &from, "--to", &to])
    };
    let output = import();
    output.assert_code(0);
    let mut made: Vec<String> = std::fs::read_dir(directory.path().join("models"))
        .expect("made")
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .into_string()
                .expect("UTF-8")
        })
        .collect();
    made.sort();
    assert_eq!(
        made,
        [
            "f5_dns.toml",
            "f5_irule.toml",
            "f5_monitor.toml",
            "f5_node.toml",
            "f5_ntp.toml",
            "f5_partition.toml",
            "f5_pool.toml",
            "f5_selfip.toml",
            "f5_virtualserver.toml",
            "f5_vlan.toml",
            "network_interface.toml",
            "network_trunk.toml",
            "network_vlan.toml",
            "ntp_server.toml",
            "snmp_community.toml",
            "syslog_server.toml",
        ]
    );
    let left: Vec<&str> = output
        .stdout
        .lines()
        .filter(|line| line.starts_with('#'))
        .collect();
    assert_eq!(left, Vec::<&str>::new());

    let text = std::fs::read_to_string(directory.path().join("models/f5_node.toml"));
    let node = load(&Source::new("m.toml", text.expect("there"))).expect("a model");
    assert_eq!(node.runs_on, RunsOn::Device);
    assert!(node.is_ensurable() && node.attributes.contains_key("availability_requirement"));

    let text = std::fs::read_to_string(directory.path().join("models/syslog_server.toml"));
    let model = load(&Source::new("m.toml", text.expect("there"))).expect("a model");
    let resolve = |name: &str, value: i64| {
        let supplied = Attributes::from_iter([(name.to_owned(), value.into())]);
        model
            .resolve("192.0.2.20", &supplied)
            .map_err(|errors| errors[0].to_string())
    };
    let resolved = resolve("severity_level", 5).expect("fits");
    assert_eq!(resolved["ensure"], "present".into());
    assert_eq!(resolved["name"], "192.0.2.20".into());
    let refused = resolve("severity_level", 8).expect_err("out of range");
    assert!(
        refused.starts_with("severity_level: 8 is not valid"),
        "{refused}"
    );

    // A model is not replaced unasked.
    let again = import();
    again.assert_code(1);
}

#[test]
fn model_import_does_not_read_the_tests_of_modules() {
    if skips() {
        return;
    }
    let module = tempfile::tempdir().expect("a directory");
    let specs = module.path().join("spec/unit/puppet/type");
    std::fs::create_dir_all(&specs).expect("made");
    std::fs::write(
        specs.join("thing_spec.rb"),
        "RSpec.describe 'thing' do\nend\n",
    )
    .expect("written");
    let output = program::run(&["model", "import", &module.path().display().to_string()]);
    assert!(
        output.stderr.contains("no type file found"),
        "{}",
        output.stderr
    );
    assert_eq!(output.stdout, "");
}

/// As on another host: the program comes from its standard input.
#[test]
fn model_program_prints_the_recorded_description() {
    if skips() {
        return;
    }
    let printed = program::run(&["model", "program"]);
    printed.assert_code(0);
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), &printed.stdout).expect("written");
    let output = Command::new("ruby")
        .args(["-", "modules"])
        .current_dir(FIXTURES)
        .stdin(file.reopen().expect("open"))
        .output()
        .expect("started");
    let described: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let path = format!("{FIXTURES}/types.json");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        let text = serde_json::to_string_pretty(&described).expect("JSON");
        std::fs::write(&path, text + "\n").expect("written");
    }
    let recorded = std::fs::read_to_string(path).expect("there");
    let recorded: serde_json::Value = serde_json::from_str(&recorded).expect("JSON");
    assert_eq!(described, recorded);
}

#[test]
fn model_import_reads_the_description_of_another_host() {
    let directory = tempfile::tempdir().expect("a directory");
    let types = format!("{FIXTURES}/types.json");
    let to = directory.path().display().to_string();
    let output = program::run(&["model", "import", &types, "--to", &to]);
    output.assert_code(0);
    let left: Vec<&str> = output
        .stdout
        .lines()
        .filter(|line| line.starts_with('#'))
        .collect();
    assert_eq!(left.len(), 10, "{}", output.stdout);
    output.assert_contains(
        "# not imported: modules/site/lib/puppet/type/site_helper.rb: the file declares no type site_helper",
    );
    output.assert_contains(
        "# not imported: modules/site/lib/puppet/type/site_port.rb: speed: the default",
    );
    for name in ["site_cron", "site_port", "site_route"] {
        let text = std::fs::read_to_string(directory.path().join(format!("models/{name}.toml")));
        load(&Source::new(name, text.expect("there"))).expect("a model");
    }
}

#[test]
fn model_import_without_puppet_has_a_hint() {
    let types = format!("{FIXTURES}/modules");
    for (ruby, reason) in [
        (
            "/nonexistent/ruby",
            "cannot run `/nonexistent/ruby`: No such file",
        ),
        ("false", "`false` failed: exit status: 1"),
    ] {
        let output = program::run(&["model", "import", &types, "--ruby", ruby]);
        output.assert_code(1);
        output.assert_contains(&format!("error: cannot load the types: {reason}"));
        output.assert_contains("hint: install Puppet or OpenVox");
    }
    let directory = tempfile::tempdir().expect("a directory");
    let other = directory.path().join("types.json");
    std::fs::write(&other, r#"{"version": 9, "types": []}"#).expect("written");
    let output = program::run(&["model", "import", &other.display().to_string()]);
    output.assert_code(1);
    output.assert_contains("it has version 9, and this program reads version 1");
    output.assert_contains("switchtender model program");
}
