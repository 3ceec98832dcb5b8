//! `model import` on the type files of real modules.

use std::path::Path;

use switchtender_devices::diagnostic::Source;
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
    assert_eq!(left.len(), 10, "one line for each classic type: {left:#?}");
    assert!(
        left.iter().all(|line| line.contains("a classic type")),
        "{left:#?}"
    );

    let text = std::fs::read_to_string(directory.path().join("models/syslog_server.toml"));
    let model = load(&Source::new("m.toml", text.expect("there"))).expect("a model");
    let resolve = |name: &str, value: i64| {
        let given = Attributes::from_iter([(name.to_owned(), value.into())]);
        model
            .resolve("192.0.2.20", &given)
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
