//! `resource` prints what is on a device, to begin a manifest with.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use switchtender_devices::driver::{Platform, Registry};
use test_support::catalog::example;
use test_support::lab::{Lab, switch_options};
use test_support::stderr_note;

#[tokio::test(flavor = "multi_thread")]
async fn resource_prints_reserved_instances_as_comments() {
    let mut lab = Lab::new();
    lab.add_switch_with(switchtender_mocks::SwitchOptions {
        vlans: vec![(10, "one".to_owned())],
        ..switch_options("sw1")
    })
    .await;
    let printed = lab.run(&["resource", "sw1", "network_vlan"]).await;
    printed.assert_code(0);
    let code = printed.stdout.lines();
    let titles: Vec<&str> = code
        .filter(|line| line.starts_with("network_vlan {"))
        .collect();
    assert_eq!(titles, ["network_vlan { '10':"]);
    printed.assert_contains("# network_vlan { '1002':");
    let one = lab.run(&["resource", "sw1", "network_vlan", "1"]).await;
    one.assert_contains("part of the device, cannot be changed");
}

/// A device without a secret has none to hide.
#[tokio::test(flavor = "multi_thread")]
async fn resource_reports_missing_secrets() {
    let mut lab = Lab::new();
    lab.add_switch("sw1", &[]).await;
    let printed = lab.run(&["resource", "sw1", "radius_global"]).await;
    printed.assert_code(0);
    assert!(!printed.stdout.contains("••••"), "{}", printed.stdout);
}

/// A type with the attributes of a model, as far as a compiler needs it.
fn type_stub(platform: &Platform, type_name: &str) -> String {
    let model = &platform.types[type_name].model;
    let namevars: Vec<&str> = model.namevars().collect();
    let namevar = match namevars[..] {
        [one] => one,
        _ => "name",
    };
    let mut stub = format!("Puppet::Type.newtype(:{type_name}) do\n");
    let _ = writeln!(stub, "  newparam(:{namevar}, :namevar => true)");
    for name in model.attributes.keys().filter(|name| *name != namevar) {
        let _ = match name.as_str() {
            "ensure" => writeln!(
                stub,
                "  newproperty(:ensure) {{ newvalue(:present); newvalue(:absent) }}"
            ),
            name => writeln!(stub, "  newparam(:{name})"),
        };
    }
    stub + "end\n"
}

#[track_caller]
fn puppet(dir: &Path, arguments: &[&str]) {
    let output = Command::new("puppet")
        .args(arguments)
        .arg("--confdir")
        .arg(dir.join("conf"))
        .arg("--vardir")
        .arg(dir.join("var"))
        .arg("--modulepath")
        .arg(dir.join("modules"))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "puppet {arguments:?}: {text}");
}

/// Puppet parses and compiles the resources of all types in one manifest.
#[tokio::test(flavor = "multi_thread")]
async fn printed_manifests_compile() {
    if Command::new("puppet").arg("--version").output().is_err() {
        assert!(
            std::env::var_os("SWITCHTENDER_REQUIRE_PEERS").is_none(),
            "puppet is not installed"
        );
        stderr_note::print("skipped: puppet is not installed (.ci/run peers)");
        return;
    }
    let registry = Registry::shipped();
    let mut lab = Lab::new();
    lab.add_switch("sw1", &[]).await;
    lab.add_load_balancer("lb1", &[]).await;
    for name in ["sw1", "lb1"] {
        lab.write_catalog(name, &example(name));
    }
    lab.run(&["apply"]).await.assert_code(0);
    let modules = lab.path("modules/stubs/lib/puppet/type");
    std::fs::create_dir_all(&modules).unwrap();
    for (device, platform) in [("sw1", "cisco_ios"), ("lb1", "f5_bigip")] {
        let platform = registry.platform(platform).unwrap();
        for secrets in [&[][..], &["--show-secrets"]] {
            let mut manifest = String::new();
            for type_name in platform.types.keys() {
                let arguments = [&["resource", device, type_name.as_str()], secrets].concat();
                let printed = lab.command(&arguments).output().await.unwrap();
                let errors = String::from_utf8_lossy(&printed.stderr);
                assert!(printed.status.success(), "{type_name}: {errors}");
                manifest += &String::from_utf8(printed.stdout).unwrap();
                let stub = type_stub(platform, type_name);
                std::fs::write(modules.join(format!("{type_name}.rb")), stub).unwrap();
            }
            assert!(manifest.lines().count() > 50, "{manifest}");
            let file = lab.path("printed.pp");
            std::fs::write(&file, manifest).unwrap();
            let file = file.to_str().unwrap();
            puppet(lab.path("").as_path(), &["parser", "validate", file]);
            let compile = ["catalog", "compile", "sw1.lab.test", "--manifest", file];
            puppet(lab.path("").as_path(), &compile);
        }
    }
}
