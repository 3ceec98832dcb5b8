//! The reads of `cisco_ios` on the output of real devices, compared with the records that another
//! project's parsers make of the same text.
//!
//! The texts are third-party data and not part of this project. Tests search next to the checkout,
//! or in the directory `SWITCHTENDER_IOS_OUTPUT`, and print a notice when they skip. Where the two
//! disagree, the raw text decides.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs};

use switchtender_devices::driver::{Driver, Facts, Platform, Registry};
use switchtender_devices::read::{Parsed, Reads, State};
use switchtender_devices::value::{Name, Value};

use crate::support::stderr_note;

/// One record of the other project: values by field.
type Record = BTreeMap<String, Vec<String>>;

/// A device's text, the other project's records of it, and the file's name.
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

/// The samples of a command; none, with a notice, if the data are missing.
fn samples(command: &str) -> Vec<Sample> {
    let Some(directory) = directory() else {
        stderr_note::print("skipped: no output of real devices (set SWITCHTENDER_IOS_OUTPUT)");
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

/// Parses the YAML subset of the records: a list of maps of strings and of lists of strings.
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
    let model = &platform.type_driver(kind).unwrap().model;
    let state = state(&platform, read, raw);
    let instances = driver.instances(model, &state).unwrap();
    instances
        .into_iter()
        .map(|instance| instance.attributes.into_iter().collect())
        .collect()
}

#[test]
fn vlan_table_rows_are_read() {
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
fn switchport_modes_are_read() {
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
                let named = full.iter().find(|(short, _)| *short == letters);
                let (short, full) = named.copied().unwrap_or((letters, letters));
                let mode = match field(record, "admin_mode") {
                    "static access" => "access".to_owned(),
                    other => other.replace(' ', "_"),
                };
                (
                    name.replacen(short, full, 1),
                    mode,
                    // A port without a module prints no VLAN; its default applies.
                    field(record, "native_vlan").parse().unwrap_or(1),
                )
            })
            .collect();
        assert_eq!(found, expected, "{}", sample.name);
    }
}

#[test]
fn interface_status_columns_are_read() {
    let platform = platform();
    for sample in samples("show interfaces status") {
        let state = state(&platform, "interfaces_status", &sample.raw);
        let Some(Parsed::Columns(table)) = state.get("interfaces_status") else {
            panic!("not a table");
        };
        // A word longer than its column shifts the row; its speed is ignored then. No type uses
        // the columns before it.
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
fn facts_are_read_from_show_version() {
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
            family.contains("XE Software"),
            is_xe,
            "{} {family}",
            sample.name
        );
    }
}

/// Numbers for the names in the samples (`docs/reference/devices/cisco_ios.md`, section 4).
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

/// An access list entry from the other project's record, with the attribute names of `ios_acl`.
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
        let field_of = |name: &str| field(record, &format!("{short}_{name}"));
        let mut put = |name: &str, value: &str| put(&format!("{side}_{name}"), value);
        put("address_host", field_of("host"));
        put(
            "address_any",
            if field_of("any").is_empty() {
                ""
            } else {
                "true"
            },
        );
        put("address", field_of("network"));
        put("address_wildcard_mask", field_of("wildcard"));
        put("address_group", field_of("network_object_group_name"));
        let mut numbers: Vec<&str> = field_of("port").split(' ').map(number).collect();
        match field_of("port_match") {
            "" => {}
            "range" => put(
                "range",
                &format!(
                    "{} {}",
                    field_of("port_range_start"),
                    field_of("port_range_end")
                ),
            ),
            // The other project parses the words after the destination as ports.
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
    put("log_cookie", field(record, "log_tag"));
    put("icmp_message_type", number(field(record, "icmp_type")));
    put("time_range", field(record, "time"));
    entry
}

#[test]
fn access_list_entries_have_the_same_attributes() {
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

/// An entry that does not parse has only a number and an action.
#[test]
fn access_list_entries_are_all_parsed() {
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
fn switchport_vlans_are_read() {
    for sample in samples("show interfaces switchport") {
        let records = sample.records.iter();
        let enabled: Vec<&Record> = records
            .filter(|record| field(record, "switchport") == "Enabled")
            .collect();
        let found: Vec<(i64, String, bool, String)> =
            instances("ios_network_trunk", "switchport", &sample.raw)
                .iter()
                .zip(&enabled)
                // A port without a module prints only its mode.
                .filter(|(_, record)| !field(record, "switchport_negotiation").is_empty())
                .map(|(port, _)| {
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
        let expected: Vec<(i64, String, bool, String)> = enabled
            .iter()
            .filter(|record| !field(record, "switchport_negotiation").is_empty())
            .map(|record| {
                (
                    field(record, "access_vlan").parse().unwrap(),
                    field(record, "voice_vlan").to_owned(),
                    // An access port does not negotiate, whatever is configured.
                    field(record, "switchport_negotiation") == "Off"
                        && field(record, "admin_mode") != "static access",
                    record["trunking_vlans"].join(",").to_lowercase(),
                )
            })
            .collect();
        assert_eq!(found, expected, "{}", sample.name);
    }
}
