//! The Puppet code that `resource` prints is a manifest: Puppet compiles it to the values of the device.
//!
//! Debian's package `puppet-agent` compiles it, with types that have the attributes of the models.
//! Without the package the test prints that it was skipped, except with
//! `SWITCHTENDER_REQUIRE_PEERS=1`.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use serde_json::{Map, Value as Json, json};
use switchtender_devices::driver::{Driver, Facts, Registry};
use switchtender_devices::model::{Role, TypeModel};
use switchtender_mocks::SwitchOptions;
use test_support::catalog::resource;
use test_support::lab::{Lab, switch_options};
use test_support::peer;

/// Quotes, variables, interpolation, escapes, a comment and an octal escape.
const HOSTILE: &str = r#"it's "$HOME" ${facts['os']} C:\new\\t %{y} #{z} \$ \'"#;

const SWITCH: &str = r#"vrf definition it's_$HOME\x"y
 rd 1:1
 !
 address-family ipv4
  route-target export 1:1
 exit-address-family
interface GigabitEthernet1/0/1
 description DESCRIPTION
interface GigabitEthernet1/0/2
 switchport mode trunk
 switchport trunk allowed vlan 10,20
ip access-list extended it's"$A
 10 permit tcp host 10.0.0.1 any eq 22
ntp server 10.0.0.1 prefer
ntp authentication-key 1 md5 094F471A1A0A 7
snmp-server community it's$c RO
logging host 10.0.0.2
logging console warnings
tacacs server t's$1\
 address ipv4 10.0.0.3
 key 7 094F471A1A0A
radius server r"1
 address ipv4 10.0.0.4 auth-port 1812 acct-port 1813
ip domain name it's.$example
ip name-server 10.0.0.5
"#;

/// The resources of `resource`, by type and title.
type Resources = Map<String, Json>;

/// Types with the attributes of the models, and nothing else.
fn write_types(dir: &Path, models: &[&TypeModel]) {
    let types = dir.join("modules/devices/lib/puppet/type");
    std::fs::create_dir_all(&types).unwrap();
    for model in models {
        let mut code = format!("Puppet::Type.newtype(:{}) do\n", model.name);
        let namevars: Vec<&str> = model.namevars().collect();
        for name in model.attributes.keys() {
            let is_namevar = namevars.contains(&name.as_str());
            let _ = writeln!(code, "  newparam(:{name}, namevar: {is_namevar})");
        }
        if !model.attributes.contains_key("ensure") {
            code.push_str("  newparam(:ensure)\n");
        }
        let _ = writeln!(
            code,
            "  def self.title_patterns = [[/(.*)/m, [[:{}]]]]\nend",
            namevars[0]
        );
        std::fs::write(types.join(format!("{}.rb", model.name)), code).unwrap();
    }
}

/// The resources that Puppet compiles from a manifest.
fn compiled(dir: &Path, manifest: &str) -> Resources {
    let path = |name: &str| dir.join(name).into_os_string();
    std::fs::write(path("manifest.pp"), manifest).unwrap();
    let output = Command::new("puppet")
        .args(["catalog", "compile", "device", "--render-as", "json"])
        .arg("--manifest")
        .arg(path("manifest.pp"))
        .arg("--modulepath")
        .arg(path("modules"))
        .arg("--confdir")
        .arg(path("conf"))
        .arg("--vardir")
        .arg(path("var"))
        .env("LC_ALL", "C.UTF-8")
        .output()
        .unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    let catalog = stdout.lines().find(|line| line.starts_with('{'));
    let catalog = catalog.unwrap_or_else(|| {
        let errors = String::from_utf8_lossy(&output.stderr);
        panic!("{stdout}{errors}\n{manifest}")
    });
    let catalog: Json = serde_json::from_str(catalog).unwrap();
    let mut types = Resources::new();
    for one in catalog["resources"].as_array().unwrap() {
        let word = |key: &str| one[key].as_str().unwrap().to_owned();
        let of_type = types
            .entry(word("type").to_lowercase())
            .or_insert(json!({}));
        // A resource without parameters has no such key.
        let parameters = one.get("parameters").cloned();
        of_type[word("title")] = parameters.unwrap_or(json!({}));
    }
    for container in ["stage", "class"] {
        types.remove(container);
    }
    types
}

/// What `resource` prints of these types of a device: a manifest, and the same as JSON.
async fn printed(lab: &Lab, device: &str, models: &[&TypeModel]) -> (String, Resources) {
    let (mut manifest, mut resources) = (String::new(), Resources::new());
    for model in models {
        let arguments = ["resource", device, model.name.as_str(), "--show-secrets"];
        let tree = lab
            .run(&[&arguments[..], &["--output", "json"]].concat())
            .await;
        tree.assert_code(0);
        let tree: Json = serde_json::from_str(&tree.stdout).unwrap();
        let mut of_type = tree[model.name.as_str()].clone();
        // Manifests have no words for the default, no empty lists, and nothing that is only read.
        for one in of_type
            .as_object_mut()
            .into_iter()
            .flat_map(Map::values_mut)
        {
            let attributes = one.as_object_mut().expect("attributes");
            attributes.retain(|name, value| {
                let role = model.attributes.get(name.as_str()).map(|one| one.role);
                let is_word = [json!("unset"), json!(["unset"]), json!([])].contains(value);
                !is_word && role != Some(Role::ReadOnly)
            });
        }
        if of_type.as_object().is_none_or(Map::is_empty) {
            continue;
        }
        resources.insert(model.name.to_string(), of_type);
        let code = lab.run(&arguments).await;
        code.assert_code(0);
        manifest += &code.stdout;
    }
    (manifest, resources)
}

/// The models that a platform supports.
fn models<'r>(registry: &'r Registry, platform: &str) -> Vec<&'r TypeModel> {
    let platform = registry.platform(platform).unwrap();
    let driver = Driver::new(platform, &Facts::default());
    let definitions = platform.type_drivers();
    let models = definitions.map(|definition| &definition.model);
    let models = models.filter(|model| driver.supports(model).is_ok());
    models.map(AsRef::as_ref).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn puppet_compiles_the_printed_manifests_to_the_values_of_the_devices() {
    if peer::skips(peer::missing_puppet()) {
        return;
    }
    let rule = format!("when HTTP_REQUEST {{\n\tlog local0. {{{HOSTILE}}}\n}}");
    let mut lab = Lab::new();
    lab.add_switch_with(SwitchOptions {
        config: Some(SWITCH.replace("DESCRIPTION", HOSTILE)),
        motd: Some(format!("{HOSTILE}\nsecond line\\\n  'third'")),
        ..switch_options("sw1")
    })
    .await;
    lab.add_load_balancer("lb1", &[]).await;
    let node = json!({"ensure": "present", "address": "10.0.0.1", "description": HOSTILE});
    lab.write_resources(
        "lb1",
        &[
            resource(
                "F5_irule",
                "/Common/rule",
                json!({"ensure": "present", "definition": rule}),
            ),
            resource("F5_node", "/Common/node", node),
        ],
    );
    lab.run(&["apply", "--target", "lb1"]).await.assert_code(0);

    let registry = Registry::shipped();
    let mut all = Vec::new();
    for (device, platform, count) in [("sw1", "cisco_ios", 15), ("lb1", "f5_bigip", 6)] {
        let models = models(&registry, platform);
        let dir = lab.path(device);
        write_types(&dir, &models);
        let (manifest, resources) = printed(&lab, device, &models).await;
        assert!(resources.len() >= count, "{device}: {:?}", resources.keys());
        let compiled = compiled(&dir, &manifest);
        for (type_name, expected) in &resources {
            let of_type = compiled.get(type_name);
            assert_eq!(of_type, Some(expected), "{type_name} in\n{manifest}");
        }
        assert_eq!(compiled.len(), resources.len(), "{manifest}");
        all.push(compiled);
    }
    let (switch, balancer) = (&all[0], &all[1]);
    let port = &switch["network_interface"]["GigabitEthernet1/0/1"];
    assert_eq!(port["description"], HOSTILE);
    let motd = format!("{HOSTILE}\nsecond line\\\n  'third'");
    assert_eq!(switch["banner"]["default"]["motd"], motd);
    for (type_name, title) in [
        ("vrf", r#"it's_$HOME\x"y"#),
        ("tacacs_server", r"t's$1\"),
        ("radius_server", "r\"1"),
        ("ios_acl", "it's\"$A extended 10"),
    ] {
        let titles = switch[type_name].as_object().unwrap();
        assert!(titles.contains_key(title), "{titles:?}");
    }
    assert_eq!(balancer["f5_irule"]["/Common/rule"]["definition"], rule);
    assert_eq!(balancer["f5_node"]["/Common/node"]["description"], HOSTILE);
}
