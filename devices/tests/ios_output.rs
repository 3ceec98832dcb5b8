//! The reads of `cisco_ios` on the output of real devices, compared with what another project's
//! parsers take from the same text.
//!
//! The texts are third-party data and not part of this project: they are looked for beside the
//! checkout, or in the directory that `SWITCHTENDER_IOS_OUTPUT` names, and the tests say that they
//! were skipped where they are missing. Where the two disagree, the raw text decides.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs};

use switchtender_devices::driver::{Driver, Facts, Platform, Registry};
use switchtender_devices::read::{Parsed, Reads, State};
use switchtender_devices::value::Value;

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
        eprintln!("skipped: the output of real devices is not at hand (SWITCHTENDER_IOS_OUTPUT)");
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
fn instances(kind: &str, read: &str, raw: &str) -> Vec<BTreeMap<String, Value>> {
    let platform = platform();
    let driver = Driver::new(&platform, &Facts::new());
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
                let (short, full) = full.iter().find(|(short, _)| *short == letters).unwrap();
                let mode = match field(record, "admin_mode") {
                    "static access" => "access".to_owned(),
                    other => other.replace(' ', "_"),
                };
                (
                    name.replacen(short, full, 1),
                    mode,
                    field(record, "native_vlan").parse().unwrap(),
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
        let columns = ["Port", "Name", "Status", "Vlan", "Duplex", "Speed"];
        let found: Vec<Vec<&str>> = table
            .rows
            .iter()
            .map(|row| columns.iter().map(|column| row[*column].as_str()).collect())
            .collect();
        let fields = ["port", "name", "status", "vlan_id", "duplex", "speed"];
        let expected: Vec<Vec<&str>> = sample
            .records
            .iter()
            .map(|record| fields.iter().map(|name| field(record, name)).collect())
            .collect();
        assert_eq!(found, expected, "{}", sample.name);
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

#[test]
fn entries_of_access_lists() {
    for sample in samples("show ip access-lists") {
        let found: Vec<(String, String, String)> =
            instances("ios_acl", "ip_access_lists", &sample.raw)
                .iter()
                .map(|entry| {
                    let text = |name: &str| entry[name].as_str().unwrap().to_owned();
                    (text("access_list"), text("entry"), text("permission"))
                })
                .collect();
        let expected: Vec<(String, String, String)> = sample
            .records
            .iter()
            .filter(|record| !field(record, "line_num").is_empty())
            .map(|record| {
                let text = |name: &str| field(record, name).to_owned();
                (text("acl_name"), text("line_num"), text("action"))
            })
            .collect();
        assert_eq!(found, expected, "{}", sample.name);
    }
}

#[test]
fn what_an_entry_matches() {
    for sample in samples("show ip access-lists") {
        let found = instances("ios_acl", "ip_access_lists", &sample.raw);
        for record in &sample.records {
            let of = |entry: &&BTreeMap<String, Value>| {
                entry["access_list"].as_str() == Some(field(record, "acl_name"))
                    && entry["entry"].as_str() == Some(field(record, "line_num"))
            };
            let Some(entry) = found.iter().find(of) else {
                continue;
            };
            let text = |name: &str| entry.get(name).and_then(Value::as_str).unwrap_or("");
            let pairs = [
                ("protocol", "protocol"),
                ("source_address_host", "src_host"),
                ("source_address", "src_network"),
                ("source_address_wildcard_mask", "src_wildcard"),
                ("destination_address_host", "dst_host"),
                ("destination_address", "dst_network"),
                ("destination_address_wildcard_mask", "dst_wildcard"),
            ];
            for (ours, theirs) in pairs {
                assert_eq!(
                    text(ours),
                    field(record, theirs),
                    "{} {record:?} {ours}",
                    sample.name
                );
            }
        }
    }
}
