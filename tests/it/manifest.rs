//! `--manifest`, `device --apply site.pp` and `model export`, with Debian's `puppet`. Without it the tests
//! print that they were skipped, except with `SWITCHTENDER_REQUIRE_PEERS=1`.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::json;
use test_support::lab::Lab;
use test_support::{peer, program};

/// The facts and the trusted facts of a device, and a class of a module.
const SITE: &str = "\
class site($domain) {
  network_vlan { '10':
    vlan_name => \"${facts['os']['name']}\",
  }
}
node default {
  ntp_server { '192.0.2.1': }
}
node 'sw1.lab.test' {
  class { 'site': domain => $trusted['domain'] }
  if $trusted['certname'] == 'sw1.lab.test' and $trusted['domain'] == 'lab.test' {
    syslog_server { '192.0.2.20': }
  }
  warning('almost done')
}
";

fn lab(manifest: &str) -> Lab {
    let lab = Lab::with_devices(&[("sw1", "cisco_ios"), ("sw2", "cisco_ios")]);
    fs::write(lab.path("site.pp"), manifest).unwrap();
    lab
}

#[test]
fn manifest_is_compiled_with_the_facts_of_each_device() {
    if peer::skips(peer::missing_puppet()) {
        return;
    }
    let lab = lab(SITE);
    let mut command = lab.blocking_command(&["inventory", "show"]);
    command.output().unwrap();
    let arguments = [
        "plan",
        "--inventory",
        "inventory.toml",
        "--mock",
        "--manifest",
        "site.pp",
    ];
    let mut command = program::switchtender(&arguments);
    let output = command.current_dir(lab.path("")).output().unwrap();
    let planned = program::ProgramOutput::from(output);
    planned.assert_code(0);
    for line in [
        "  Network_vlan[10]  (",
        "    >  name cisco_ios\n",
        "    > logging host 192.0.2.20\n",
        "    > ntp server 192.0.2.1\n",
        "Warning: Scope(Node[sw1.lab.test]): almost done",
    ] {
        planned.assert_contains(line);
    }
    // The position of the resource in the manifest.
    let position = format!(
        "{}:2)",
        lab.path("site.pp").canonicalize().unwrap().display()
    );
    planned.assert_contains(&position);
}

#[test]
fn errors_of_the_compiler_have_their_position() {
    if peer::skips(peer::missing_puppet()) {
        return;
    }
    let cases = [
        (
            "node default {\n  network_vlann { '10': }\n}\n",
            "Unknown resource type: 'network_vlann'",
            "site.pp:2",
        ),
        (
            "node default {\n\n  network_vlan { '10': vlan_nam => 'x' }\n}\n",
            "no parameter named 'vlan_nam' on Network_vlan[10]",
            "site.pp:3",
        ),
        (
            "node default {\n",
            "Syntax error at end of input",
            "site.pp",
        ),
    ];
    for (manifest, message, position) in cases {
        let lab = lab(manifest);
        let refused = lab.run_blocking(&["validate", "--manifest", "site.pp"]);
        refused.assert_code(1);
        refused.assert_contains(message);
        refused.assert_contains(position);
        assert!(!refused.text().contains("Could not call"), "{refused:?}");
    }
    // Values are checked as those of every catalog.
    let lab = lab("node default {\n  network_vlan { '10': vlan_name => \"a\\tb\" }\n}\n");
    let refused = lab.run_blocking(&["validate", "--manifest", "site.pp"]);
    refused.assert_code(1);
    refused.assert_contains("error[unwritable-value]");
    refused.assert_contains("site.pp:2");
}

#[test]
fn offline_commands_compile_with_facts_of_a_file() {
    if peer::skips(peer::missing_puppet()) {
        return;
    }
    let lab =
        lab("node default {\n  network_vlan { '10': vlan_name => $facts['operatingsystem'] }\n}\n");
    fs::write(
        lab.path("facts.json"),
        json!({"operatingsystem": "a\tb"}).to_string(),
    )
    .unwrap();
    let arguments = ["validate", "--manifest", "site.pp", "--facts", "facts.json"];
    let refused = lab.run_blocking(&arguments);
    refused.assert_code(1);
    refused.assert_contains("error[unwritable-value]");
    let graph = [
        "graph",
        "sw1",
        "--manifest",
        "site.pp",
        "--facts",
        "facts.json",
    ];
    let drawn = lab.run_blocking(&graph);
    drawn.assert_code(0);
    drawn.assert_contains("Network_vlan[10]");
}

#[test]
fn modules_of_the_site_come_first() {
    if peer::skips(peer::missing_puppet()) {
        return;
    }
    let lab = lab("node default {\n  include site\n}\n");
    let module = lab.path("modules/site/manifests");
    fs::create_dir_all(&module).unwrap();
    let class = "class site {\n  network_vlan { '20': vlan_name => lookup('vlan') }\n}\n";
    fs::write(module.join("init.pp"), class).unwrap();
    fs::create_dir(lab.path("data")).unwrap();
    fs::write(lab.path("data/common.yaml"), "vlan: \"two\\twords\"\n").unwrap();
    let data = lab.path("data").display().to_string();
    let hiera = format!(
        "version: 5\ndefaults: {{datadir: '{data}', data_hash: yaml_data}}\n\
         hierarchy: [{{name: common, path: common.yaml}}]\n"
    );
    fs::write(lab.path("hiera.yaml"), hiera).unwrap();
    let arguments = [
        "validate",
        "--manifest",
        "site.pp",
        "--modulepath",
        "modules",
    ];
    let refused = lab.run_blocking(&[&arguments[..], &["--hiera-config", "hiera.yaml"]].concat());
    refused.assert_code(1);
    refused.assert_contains("error[unwritable-value]");
    refused.assert_contains("modules/site/manifests/init.pp:2");
}

#[test]
fn missing_compiler_and_manifest_are_named() {
    let lab = lab("");
    let missing = ["plan", "--mock", "--catalog", "x", "--manifest", "site.pp"];
    lab.run_blocking(&missing).assert_code(1);
    let run = |arguments: &[&str]| {
        let ran = lab.run_blocking(&[&["validate"], arguments].concat());
        ran.assert_code(2);
        ran
    };
    run(&["--manifest", "no.pp"]).assert_contains("cannot read no.pp: No such file or directory");
    let ran = run(&["--manifest", "site.pp", "--puppet", "/nonexistent/puppet"]);
    ran.assert_contains("cannot run `/nonexistent/puppet`: No such file or directory");
    ran.assert_contains("install Puppet or OpenVox");
}

/// Every type compiles, those with several namevars with titles of every form.
#[test]
fn exported_types_compile() {
    if peer::skips(peer::missing_puppet()) {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let module = directory.path().join("modules/switchtender");
    let path = module.display().to_string();
    program::run(&["model", "export", "--puppet", &path]).assert_code(0);
    let mut manifest = String::new();
    let mut types = 0;
    for entry in fs::read_dir("devices/definitions/models").unwrap() {
        let name = entry
            .unwrap()
            .path()
            .file_stem()
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned();
        manifest += &format!("{name} {{ ['one', 'one two', 'one two three', 'a/b 10.0.0.1']: }}\n");
        types += 1;
    }
    let site = directory.path().join("site.pp");
    fs::write(&site, manifest).unwrap();
    let at = |name: &str| directory.path().join(name).display().to_string();
    let compiled = Command::new("puppet")
        .args([
            "catalog",
            "compile",
            "sw1",
            "--render-as",
            "json",
            "--log_level",
            "err",
        ])
        .args(["--facts_terminus", "yaml", "--manifest", &at("site.pp")])
        .args([
            "--modulepath",
            &at("modules"),
            "--confdir",
            &at("conf"),
            "--vardir",
            &at("var"),
        ])
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&compiled.stderr);
    assert!(compiled.status.success(), "{errors}");
    let catalog: serde_json::Value = serde_json::from_slice(&compiled.stdout).unwrap();
    let resources = catalog["resources"].as_array().unwrap();
    let of_types = resources
        .iter()
        .filter(|resource| resource["file"] == *site.display().to_string());
    assert_eq!(of_types.count(), types * 4);
    assert!(Path::new(&at("modules/switchtender/lib/puppet/type/ios_acl.rb")).exists());
}
