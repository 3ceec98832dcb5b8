//! `model import` on the type files of real modules.

use std::path::Path;

use switchtender_devices::diagnostic::Source;
use switchtender_devices::model::RunsOn;
use switchtender_devices::model::load::load;
use switchtender_devices::value::Attributes;
use test_support::program;

#[test]
fn model_import_converts_type_files_and_lists_unsupported_parts() {
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
