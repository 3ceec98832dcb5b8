//! Families of switches that the tests make: their files declare the same state, and are short.

use std::collections::BTreeMap;

use switchtender_devices::map::IndexMap;
use switchtender_devices::names::TypeName;
use switchtender_devices::value::Value;

use super::factor::{FactorSettings, factor};
use super::{FactoredFile, FileScope, ImportedDevice, ScopeLevels, TypeGroups};
use crate::desired_state::declared::{
    DeclaredAttributes, DeclaredFile, DeclaredState, DeclaredValue,
};

/// Numbers that look random and are the same in each run.
struct Sequence(u64);

impl Sequence {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % limit
    }

    fn is_one_in(&mut self, count: u64) -> bool {
        self.below(count) == 0
    }
}

fn groups() -> TypeGroups {
    let mut groups = TypeGroups::default();
    groups.insert(&"port".into(), Some("interface"), None);
    groups.insert(&"switchport".into(), Some("interface"), Some("switchport"));
    groups.insert(&"stp".into(), Some("interface"), Some("stp"));
    groups
}

fn attributes(set: &[(&str, Value)]) -> DeclaredAttributes {
    let set = set.iter();
    set.map(|(name, value)| ((*name).into(), Some(DeclaredValue::Value(value.clone()))))
        .collect()
}

/// A switch with ports of a site, of which some are different.
fn switch(number: u64, random: &mut Sequence) -> ImportedDevice {
    let site = number % 3;
    let mut state = DeclaredState::default();
    let mut insert = |type_name: &str, title: String, attributes: DeclaredAttributes| {
        let resources: &mut IndexMap<String, DeclaredAttributes> =
            state.types.entry(type_name.into()).or_default();
        resources.insert(title, attributes);
    };
    for vlan in [10, 20, 100 + site] {
        let name = format!("v{vlan}");
        insert(
            "vlan",
            vlan.to_string(),
            attributes(&[("vlan_name", Value::string(name))]),
        );
    }
    if !random.is_one_in(4) {
        let prefer = attributes(&[("prefer", Value::Bool(true))]);
        insert("ntp_server", format!("192.0.2.{}", 1 + site), prefer);
    }
    // Resources that can be nothing but a profile, and that some switches lack.
    for line in ["con 0", "vty 0 4", "vty 5 15"] {
        let login = attributes(&[
            ("login", Value::string("local")),
            ("exec_timeout", Value::Integer(10)),
        ]);
        if !random.is_one_in(8) {
            insert("line", line.to_owned(), login);
        }
    }
    let ports = if random.is_one_in(5) { 12 } else { 24 };
    for port in 1..=ports {
        let title = format!("G1/0/{port}");
        let text = format!("desk {port}");
        let mut port_attributes = attributes(&[("description", Value::string(text))]);
        if random.is_one_in(12) {
            port_attributes.extend(attributes(&[("enable", Value::Bool(false))]));
        }
        insert("port", title.clone(), port_attributes);
        if random.is_one_in(20) {
            continue;
        }
        let vlan = if random.is_one_in(10) { 20 } else { 100 + site };
        let vlan = i64::try_from(vlan).unwrap();
        let mode = if random.is_one_in(15) {
            "trunk"
        } else {
            "access"
        };
        insert(
            "switchport",
            title.clone(),
            attributes(&[
                ("mode", Value::string(mode)),
                ("access_vlan", Value::Integer(vlan)),
                ("voice_vlan", Value::Integer(10)),
            ]),
        );
        let portfast = attributes(&[("portfast", Value::Bool(true))]);
        insert("stp", title, portfast);
    }
    ImportedDevice {
        name: format!("sw{number}"),
        platform: "cisco_ios".to_owned(),
        labels: BTreeMap::from([("site".to_owned(), format!("site{site}"))]),
        is_left_out: random.is_one_in(30),
        state,
    }
}

/// What files declare, by other means than those of the module: one after the other, then profiles.
fn expand(files: &[DeclaredFile], groups: &TypeGroups) -> BTreeMap<String, String> {
    type Resources = BTreeMap<(TypeName, String), BTreeMap<String, Option<DeclaredValue>>>;
    let mut resources = Resources::new();
    let mut hidden = std::collections::BTreeSet::new();
    let mut uses: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    let mut profiles: BTreeMap<(String, String), BTreeMap<TypeName, DeclaredAttributes>> =
        BTreeMap::new();
    for file in files {
        for (group, named) in &file.profiles {
            for (name, body) in named {
                let profile = profiles.entry((group.clone(), name.clone())).or_default();
                for (type_name, attributes) in body {
                    let all = profile.entry(type_name.clone()).or_default();
                    all.extend(attributes.clone());
                }
            }
        }
        for (type_name, titles) in &file.removed {
            for title in titles {
                let key = (type_name.clone(), title.clone());
                resources.remove(&key);
                hidden.insert(key);
                if groups.section(type_name).is_none() {
                    uses.remove(&(groups.group(type_name).to_owned(), title.clone()));
                }
            }
        }
        for (type_name, titles) in &file.state.types {
            for (title, attributes) in titles {
                let key = (type_name.clone(), title.clone());
                hidden.remove(&key);
                let own = resources.entry(key).or_default();
                let attributes = attributes.iter();
                own.extend(attributes.map(|(name, value)| (name.to_string(), value.clone())));
            }
        }
        for (group, titles) in &file.uses {
            for (title, names) in titles {
                uses.insert((group.clone(), title.clone()), names.clone());
            }
        }
    }
    for ((group, title), names) in &uses {
        for name in names {
            for (type_name, attributes) in &profiles[&(group.clone(), name.clone())] {
                let key = (type_name.clone(), title.clone());
                if hidden.contains(&key) {
                    continue;
                }
                let own = resources.entry(key).or_default();
                for (name, value) in attributes {
                    own.entry(name.to_string()).or_insert_with(|| value.clone());
                }
            }
        }
    }
    let resources = resources
        .into_iter()
        .map(|((type_name, title), attributes)| {
            let set = attributes
                .into_iter()
                .filter_map(|(name, value)| Some((name, value?)));
            let set = set.map(|(name, value)| {
                let text = match &value {
                    DeclaredValue::Template(text) => {
                        let number = title.rsplit('/').next().unwrap();
                        DeclaredValue::Value(Value::string(text.replace("{{ n }}", number)))
                    }
                    value => value.clone(),
                };
                format!("{name}: {text:?}")
            });
            let set: Vec<String> = set.collect();
            (format!("{type_name} {title}"), set.join(", "))
        });
    resources.collect()
}

fn state_of(device: &ImportedDevice) -> BTreeMap<String, String> {
    let file = DeclaredFile {
        state: device.state.clone(),
        ..DeclaredFile::default()
    };
    expand(&[file], &groups())
}

fn family(count: u64, seed: u64) -> Vec<ImportedDevice> {
    let mut random = Sequence(seed);
    let switches = (1..=count).map(|number| switch(number, &mut random));
    let mut switches: Vec<ImportedDevice> = switches.collect();
    for left_out in switches.iter_mut().filter(|one| one.is_left_out) {
        left_out.state = DeclaredState::default();
    }
    switches
}

/// About the lines of a file without ranges.
fn size(file: &FactoredFile) -> usize {
    let profiles: usize = file.profiles.values().map(IndexMap::len).sum();
    profiles + file.entries.len()
}

#[test]
fn files_declare_the_state_of_each_device() {
    let groups = groups();
    for seed in 0..20 {
        let devices = family(2 + seed % 9, seed);
        let levels = ScopeLevels::new(&devices, &["site".to_owned()]);
        for has_profiles in [true, false] {
            let settings = FactorSettings {
                groups: &groups,
                levels: &levels,
                share: 75,
                has_profiles,
                renamed: &[],
                lines: &size,
            };
            let state = factor(&devices, &settings);
            for device in &devices {
                let files: Vec<DeclaredFile> = levels
                    .of_device(device)
                    .filter_map(|scope| state.files.get(scope))
                    .map(|file| file.declared(&groups))
                    .collect();
                assert_eq!(
                    expand(&files, &groups),
                    state_of(device),
                    "{seed} {}",
                    device.name
                );
            }
        }
    }
}

#[test]
fn common_values_go_up_and_exceptions_stay() {
    let groups = groups();
    let devices = family(12, 7);
    let levels = ScopeLevels::new(&devices, &["site".to_owned()]);
    let settings = FactorSettings {
        groups: &groups,
        levels: &levels,
        share: 75,
        has_profiles: true,
        renamed: &[("access-stp".to_owned(), "desk".to_owned())],
        lines: &size,
    };
    let state = factor(&devices, &settings);
    let total: usize = devices
        .iter()
        .map(|device| {
            device
                .state
                .types
                .values()
                .map(IndexMap::len)
                .sum::<usize>()
        })
        .sum();
    let written: usize = state.files.values().map(size).sum();
    assert!(written * 4 < total, "{written} of {total}: {state:#?}");
    let desk = ("interface".to_owned(), "desk".to_owned());
    assert!(state.profiles[&desk] > 200, "{:?}", state.profiles);
    // The VLAN of a desk differs by site, and all files of a site say it once.
    let common = &state.files[&FileScope::Common].profiles[&desk];
    let has_vlan = |parts: &super::parts::Parts| {
        let mut names = parts.keys().filter_map(|part| part.attribute.as_deref());
        names.any(|name| name == "access_vlan")
    };
    assert!(!has_vlan(common), "{common:?}");
    let site = FileScope::Label {
        key: "site".to_owned(),
        value: "site1".to_owned(),
    };
    assert!(has_vlan(&state.files[&site].profiles[&desk]));
}
