//! The reads of `cisco_ios` on the output of real devices, compared with what another project's
//! parsers take from the same text.
//!
//! The texts are third-party data and not part of this project: they are looked for beside the
//! checkout, or in the directory that `SWITCHTENDER_IOS_OUTPUT` names, and the tests say that they
//! were skipped where they are missing. Where the two disagree, the raw text decides.

#[path = "../../tests/support/aloud.rs"]
mod aloud;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs};

use switchtender_devices::driver::{Driver, Facts, Platform, Registry};
use switchtender_devices::read::{Parsed, Reads, State};
use switchtender_devices::value::{Name, Value};

/// One record of the other project: field → values.
type Record = BTreeMap<String, Vec<String>>;

/// A device's text and the other project's records of it, by name of the file.
struct Sample {
    name: String,
    raw: String,
    records: Vec<Record>,
}

fn directory() -> Option<PathBuf> {
    let named = env::var_os("SWITCHTENDER_IOS_OUTPUT").map(PathBuf::from);
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/fixtures/ios-output");
    let directory = named.unwrap_or(beside);
    directory.is_dir().then_some(directory)
}

/// The samples of a command; none, with a word about it, where the data are missing.
fn samples(command: &str) -> Vec<Sample> {
    let Some(directory) = directory() else {
        aloud::say("skipped: the output of real devices is not at hand (SWITCHTENDER_IOS_OUTPUT)");
        return Vec::new();
    };
    let folder = directory.join(command.replace(' ', "_"));
    let mut samples: Vec<Sample> = fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "raw"))
        .map(|path| Sample {
            name: path.file_name().unwrap().to_string_lossy().into_owned(),
            raw: fs::read_to_string(&path).unwrap(),
            records: records(&fs::read_to_string(path.with_extension("yml")).unwrap()),
        })
        .collect();
    samples.sort_by(|a, b| a.name.cmp(&b.name));
    assert!(!samples.is_empty(), "{}", folder.display());
    samples
}

/// Reads the part of YAML that the records are written in: a list of maps of texts and of lists
/// of texts.
fn records(yaml: &str) -> Vec<Record> {
    let mut records: Vec<Record> = Vec::new();
    let mut key = String::new();
    for line in yaml.lines() {
        let content = line.trim();
        let depth = line.len() - line.trim_start().len();
        if content.starts_with("- ") && depth <= 2 {
            records.push(Record::new());
        }
        let Some(record) = records.last_mut() else {
            continue;
        };
        let text = |text: &str| text.trim().trim_matches(['"', '\'']).to_owned();
        match content.strip_prefix("- ") {
            Some(item) if depth > 2 => record.entry(key.clone()).or_default().push(text(item)),
            item => {
                let pair = item.unwrap_or(content).split_once(':');
                let Some((name, value)) = pair else { continue };
                key = name.to_owned();
                let values = record.entry(key.clone()).or_default();
                if !matches!(value.trim(), "" | "[]") {
                    values.push(text(value));
                }
            }
        }
    }
    records
}

fn field<'a>(record: &'a Record, name: &str) -> &'a str {
    record[name].first().map_or("", String::as_str)
}

fn platform() -> std::sync::Arc<Platform> {
    std::sync::Arc::clone(Registry::shipped().platform("cisco_ios").unwrap())
}

fn state(platform: &Platform, read: &str, raw: &str) -> State {
    let reads = Reads::from_iter([(read.to_owned(), raw.to_owned())]);
    platform.parse(&reads).unwrap()
}

/// The instances of a type: values by name, the namevar included.
fn instances(kind: &str, read: &str, raw: &str) -> Vec<BTreeMap<Name, Value>> {
    let platform = platform();
    let driver = Driver::new(&platform, &Facts::default());
    let model = &platform.types[kind].model;
    let state = state(&platform, read, raw);
    let instances = driver.instances(model, &state).unwrap();
    instances
        .into_iter()
        .map(|instance| instance.attributes.into_iter().collect())
        .collect()
}

#[test]
fn vlans() {
    for sample in samples("show vlan") {
        let found: Vec<(String, String, bool)> =
            instances("network_vlan", "vlan_brief", &sample.raw)
                .iter()
                .map(|vlan| {
                    let text = |name: &str| vlan[name].as_str().unwrap().to_owned();
                    (
                        text("id"),
                        text("vlan_name"),
                        vlan["shutdown"].as_bool().unwrap(),
                    )
                })
                .collect();
        let expected: Vec<(String, String, bool)> = sample
            .records
            .iter()
            .map(|record| {
                let text = |name: &str| field(record, name).to_owned();
                (
                    text("vlan_id"),
                    text("vlan_name"),
                    text("status").ends_with("lshut"),
                )
            })
            .collect();
        assert_eq!(found, expected, "{}", sample.name);
    }
}

#[test]
fn switchports() {
    let full = [
        ("Gi", "GigabitEthernet"),
        ("Te", "TenGigabitEthernet"),
        ("Fo", "FortyGigabitEthernet"),
        ("Fa", "FastEthernet"),
        ("Po", "Port-channel"),
        ("Ap", "AppGigabitEthernet"),
        ("Twe", "TwentyFiveGigE"),
        ("Tw", "TwoGigabitEthernet"),
        ("Hu", "HundredGigE"),
        ("Fi", "FiveGigabitEthernet"),
    ];
    for sample in samples("show interfaces switchport") {
        let found: Vec<(String, String, i64)> =
            instances("network_trunk", "switchport", &sample.raw)
                .iter()
                .map(|port| {
                    let text = |name: &str| {
                        port.get(name)
                            .and_then(Value::as_str)
                            .unwrap_or("?")
                            .to_owned()
                    };
                    (
                        text("name"),
                        text("mode"),
                        port["untagged_vlan"].as_integer().unwrap(),
                    )
                })
                .collect();
        let expected: Vec<(String, String, i64)> = sample
            .records
            .iter()
            .filter(|record| field(record, "switchport") == "Enabled")
            .map(|record| {
                let name = field(record, "interface");
                let letters = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '/');
                let known = full.iter().find(|(short, _)| *short == letters);
                let (short, full) = known.copied().unwrap_or((letters, letters));
                let mode = match field(record, "admin_mode") {
                    "static access" => "access".to_owned(),
                    other => other.replace(' ', "_"),
                };
                (
                    name.replacen(short, full, 1),
                    mode,
                    // A port without a module says nothing; the device's default counts.
                    field(record, "native_vlan").parse().unwrap_or(1),
                )
            })
            .collect();
        assert_eq!(found, expected, "{}", sample.name);
    }
}

#[test]
fn interface_status() {
    let platform = platform();
    for sample in samples("show interfaces status") {
        let state = state(&platform, "interfaces_status", &sample.raw);
        let Some(Parsed::Columns(table)) = state.get("interfaces_status") else {
            panic!("not a table");
        };
        // Some rows are shifted by a word that is too long for its column; what they say of the
        // speed is not believed then. The columns before it are not used by any type.
        let cells =
            |port: &str, duplex: &str, speed: &str| [port, duplex, speed].map(str::to_owned);
        let found: Vec<[String; 3]> = table
            .rows
            .iter()
            .map(|row| cells(&row["Port"], &row["Duplex"], &row["Speed"]))
            .collect();
        let expected: Vec<[String; 3]> = sample
            .records
            .iter()
            .zip(&found)
            .map(|(record, found)| {
                let shifted = found[2].is_empty();
                let speed = if shifted { "" } else { field(record, "speed") };
                cells(field(record, "port"), field(record, "duplex"), speed)
            })
            .collect();
        assert_eq!(found, expected, "{}", sample.name);
        let shifted = found.iter().filter(|cells| cells[2].is_empty()).count();
        assert!(shifted < 2, "{}", sample.name);
    }
}

#[test]
fn facts() {
    let platform = platform();
    for sample in samples("show version") {
        let reads = Reads::from_iter([("version".to_owned(), sample.raw.clone())]);
        let facts = platform.facts(&reads);
        let record = &sample.records[0];
        for (fact, name) in [
            ("hostname", "hostname"),
            ("serialnumber", "serial"),
            ("hardwaremodel", "hardware"),
            ("operatingsystemrelease", "version"),
        ] {
            let found = facts.get(fact).map_or("", String::as_str);
            assert_eq!(found, field(record, name), "{} {fact}", sample.name);
        }
        let family = &facts["os.family"];
        let is_xe = sample.raw.contains("XE Software");
        assert_eq!(
            family.ends_with("XE Software"),
            is_xe,
            "{} {family}",
            sample.name
        );
    }
}

/// Numbers of the names that the samples have (`docs/devices/cisco_ios.md`, section 4).
fn number(name: &str) -> &str {
    match name {
        "ssh" => "22",
        "telnet" => "23",
        "bootpc" => "68",
        "www" | "http" => "80",
        "snmp" => "161",
        "bgp" => "179",
        "echo-reply" => "0",
        "unreachable" => "3",
        "redirect" => "5",
        "parameter-problem" => "12",
        "mask-request" => "17",
        "normal" => "0",
        "internet" => "6",
        other => other,
    }
}

/// What an entry of an access list says by the other project's account, in the names of `ios_acl`.
fn entry(record: &Record) -> BTreeMap<String, String> {
    let mut entry = BTreeMap::new();
    let mut put = |name: &str, value: &str| {
        if !value.is_empty() {
            entry.insert(name.to_owned(), value.to_owned());
        }
    };
    put("access_list", field(record, "acl_name"));
    put(
        "access_list_type",
        &field(record, "acl_type").to_lowercase(),
    );
    put("entry", field(record, "line_num"));
    put("permission", field(record, "action"));
    put("protocol", field(record, "protocol"));
    for (side, short) in [("source", "src"), ("destination", "dst")] {
        let told = |name: &str| field(record, &format!("{short}_{name}"));
        let mut put = |name: &str, value: &str| put(&format!("{side}_{name}"), value);
        put("address_host", told("host"));
        put(
            "address_any",
            if told("any").is_empty() { "" } else { "true" },
        );
        put("address", told("network"));
        put("address_wildcard_mask", told("wildcard"));
        put("address_group", told("network_object_group_name"));
        let mut numbers: Vec<&str> = told("port").split(' ').map(number).collect();
        match told("port_match") {
            "" => {}
            "range" => put(
                "range",
                &format!("{} {}", told("port_range_start"), told("port_range_end")),
            ),
            // The other project takes the words after the destination for its ports.
            "tos" | "precedence" => {}
            comparison => {
                numbers.sort_unstable();
                put(comparison, &numbers.join(" "));
            }
        }
    }
    if let word @ ("tos" | "precedence") = field(record, "dst_port_match") {
        put(word, number(field(record, "dst_port")));
    }
    let flags = field(record, "tcp_flag");
    if field(record, "flags_match") == "match-all" {
        put("match_all", flags);
    } else {
        flags.split_whitespace().for_each(|flag| put(flag, "true"));
    }
    match field(record, "log") {
        "" => {}
        word => put(&word.replace('-', "_"), "true"),
    }
    put("icmp_message_type", number(field(record, "icmp_type")));
    put("time_range", field(record, "time"));
    entry
}

#[test]
fn what_entries_of_access_lists_say() {
    fn text(value: &Value) -> String {
        match value {
            Value::List(items) => items.iter().map(text).collect::<Vec<_>>().join(" "),
            Value::String(text) => text.clone(),
            other => format!("{other:?}"),
        }
    }
    for sample in samples("show ip access-lists") {
        let found: Vec<BTreeMap<String, String>> =
            instances("ios_acl", "ip_access_lists", &sample.raw)
                .into_iter()
                .map(|entry| {
                    let pairs = entry.into_iter();
                    pairs
                        .map(|(name, value)| (name.into(), text(&value)))
                        .collect()
                })
                .collect();
        let entries = sample.records.iter();
        let expected: Vec<BTreeMap<String, String>> = entries
            .filter(|record| !field(record, "line_num").is_empty())
            .map(entry)
            .collect();
        for (found, expected) in found.iter().zip(&expected) {
            assert_eq!(found, expected, "{}", sample.name);
        }
        assert_eq!(found.len(), expected.len(), "{}", sample.name);
    }
}

/// An entry that is not understood is read as its number and what it does, and no more.
#[test]
fn every_entry_of_access_lists_is_understood() {
    for command in ["show ip access-lists", "show access-list"] {
        for sample in samples(command) {
            let found = instances("ios_acl", "ip_access_lists", &sample.raw);
            let lines = sample.raw.lines().filter(|line| {
                let number = line.split_whitespace().next().unwrap_or_default();
                line.starts_with(' ') && number.parse::<u32>().is_ok()
            });
            assert_eq!(found.len(), lines.count(), "{}", sample.name);
            for entry in found {
                let source = entry.keys().any(|name| name.starts_with("source_address"));
                assert!(source, "{} {entry:?}", sample.name);
            }
        }
    }
}

#[test]
fn vlans_of_switchports() {
    for sample in samples("show interfaces switchport") {
        let found: Vec<(i64, String, bool, String)> =
            instances("ios_network_trunk", "switchport", &sample.raw)
                .iter()
                // A port without a module says nothing but its mode.
                .filter(|port| port.contains_key("switchport_nonegotiate"))
                .map(|port| {
                    let voice = match &port["voice_vlan"] {
                        Value::Integer(id) => id.to_string(),
                        other => other.as_str().unwrap().to_owned(),
                    };
                    (
                        port["access_vlan"].as_integer().unwrap(),
                        voice,
                        port["switchport_nonegotiate"].as_bool().unwrap(),
                        port["allowed_vlans"].as_str().unwrap().to_owned(),
                    )
                })
                .collect();
        let expected: Vec<(i64, String, bool, String)> = sample
            .records
            .iter()
            .filter(|record| !field(record, "switchport_negotiation").is_empty())
            .filter(|record| field(record, "switchport") == "Enabled")
            .map(|record| {
                (
                    field(record, "access_vlan").parse().unwrap(),
                    field(record, "voice_vlan").to_owned(),
                    field(record, "switchport_negotiation") == "Off",
                    record["trunking_vlans"].join(",").to_lowercase(),
                )
            })
            .collect();
        assert_eq!(found, expected, "{}", sample.name);
    }
}
