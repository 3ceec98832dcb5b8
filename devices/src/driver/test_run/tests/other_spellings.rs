//! Another spelling of a value that the device has is in sync, or it is refused before connecting. It
//! must never be a difference. The same for a default that the device does not print.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::SelfTest;
use super::odd_values::differs_after;
use crate::change::{Desired, Instance};
use crate::driver::type_driver::TypeDriver;
use crate::driver::{Driver, NoSecretHistory, Registry};
use crate::model::AttributeModel;
use crate::pattern::Pattern;
use crate::value::{Attributes, Value};

/// Spellings of one value, and when they are one.
struct Spellings {
    /// The first is that of a device.
    texts: &'static [&'static str],
    /// Words of the description of an attribute that takes such values and also names.
    described_by: &'static str,
    /// Also if it takes no names.
    is_clear_without_words: bool,
}

const SPELLINGS: [Spellings; 9] = [
    Spellings {
        texts: &["2001:db8::1", "2001:DB8:0:0::1", "2001:db8:0:0:0:0:0:1"],
        described_by: r"(?i)\b(addresses|address)\b",
        is_clear_without_words: true,
    },
    Spellings {
        texts: &["2001:db8::/64", "2001:DB8:0:0::/64"],
        described_by: r"(?i)\b(addresses|address|networks?|prefix)\b",
        is_clear_without_words: true,
    },
    Spellings {
        texts: &["192.0.2.0/24", "192.0.2.77/24"],
        described_by: r"(?i)\bnetworks?\b",
        is_clear_without_words: false,
    },
    Spellings {
        texts: &["0011.2233.44ab", "0011.2233.44AB", "00:11:22:33:44:ab"],
        described_by: r"\bMAC\b",
        is_clear_without_words: false,
    },
    Spellings {
        texts: &["00:11:22:33:44:ab", "00:11:22:33:44:AB"],
        described_by: r"(?i)\bhardware address\b",
        is_clear_without_words: false,
    },
    Spellings {
        texts: &["1-3,5", "5,1-3", "1,2,3,5", "1-3, 5", "1-2,3,5"],
        described_by: r"\bVLANs\b",
        is_clear_without_words: true,
    },
    Spellings {
        texts: &["10", "010"],
        described_by: r"(?i)\bnumbers?\b",
        is_clear_without_words: false,
    },
    Spellings {
        texts: &["1", "0.0.0.1"],
        described_by: r"\b[Aa]rea\b",
        is_clear_without_words: false,
    },
    Spellings {
        texts: &[
            "GigabitEthernet1/0/1",
            "gi1/0/1",
            "Gi 1/0/1",
            "gigabitethernet1/0/1",
        ],
        described_by: r"^(The interface|Interface|Source interface)",
        is_clear_without_words: false,
    },
];

/// Descriptions of names: two spellings of an address are two names.
const NAMES: &str = r"(?i)\b(lists?|maps?)\b|address-family|^Interface|redistribut|^VRF";

/// Attributes whose values look like one of the kinds, and are something else.
const OTHERS: [(&str, &str, &str); 12] = [
    ("eos_snmp", "chassis_id", "a text"),
    (
        "ios_acl",
        "protocol",
        "a number of the registry, never with a zero",
    ),
    (
        "frr_route_map_entry",
        "match_interface",
        "names of Linux, which are complete",
    ),
    ("ios_cef", "load_sharing", "a hexadecimal number"),
    (
        "ios_bgp_neighbor",
        "ipv4_maximum_prefix",
        "words of the device",
    ),
    (
        "ios_route_map_entry",
        "set_as_path_prepend",
        "words of the device",
    ),
    (
        "frr_route_map_entry",
        "set_as_path_prepend",
        "words of the device",
    ),
    (
        "caddy_server",
        "listen",
        "addresses with ports, which the server keeps as written",
    ),
    (
        "caddy_server",
        "upstreams",
        "hosts with ports, which the server keeps as written",
    ),
    ("f5_datagroup", "records", "texts in a data group of texts"),
    (
        "cisco_bridge_domain_vni",
        "member_vni",
        "segments in the form of the device: a set of 16 million numbers is none to expand",
    ),
    (
        "cisco_fabricpath_topology",
        "member_vnis",
        "segments in the form of the device",
    ),
];

/// A name that is neither an address nor a number.
const NAME: &str = "zz-top";

/// The base value and its other spellings, for an attribute.
fn spellings_of(attribute: &AttributeModel) -> Vec<(Value, Value)> {
    let takes = |text: &str| attribute.canonicalize(&text.into()).is_ok();
    let is_name = Pattern::new(NAMES).unwrap().is_match(&attribute.doc);
    let mut pairs = Vec::new();
    for spellings in &SPELLINGS {
        let (first, others) = spellings.texts.split_first().expect("not empty");
        let described = Pattern::new(spellings.described_by).unwrap();
        let is_described =
            !(is_name && spellings.is_clear_without_words) && described.is_match(&attribute.doc);
        let is_meant = is_described || spellings.is_clear_without_words && !takes(NAME);
        if !is_meant || !takes(first) || attribute.values.is_empty() {
            continue;
        }
        for other in others.iter().filter(|other| takes(other)) {
            pairs.push(((*first).into(), (*other).into()));
        }
    }
    pairs
}

/// The other spellings of the words in a value of a test: of the elements of pairs and the fields of
/// hashes.
fn respelled(value: &Value) -> Vec<Value> {
    match value {
        Value::String(text) => {
            let mut others = Vec::new();
            for spellings in &SPELLINGS {
                if spellings.is_clear_without_words && spellings.texts[0] == text {
                    others.extend(spellings.texts[1..].iter().map(|text| Value::from(*text)));
                }
            }
            if text.contains(':') && text.split('/').next().is_some_and(is_ipv6) {
                others.push(text.to_uppercase().replacen("::", ":0::", 1).into());
            }
            others
        }
        Value::List(items) => {
            let change = |index: usize, item: &Value| {
                let other = |other| {
                    let mut items = items.clone();
                    items[index] = other;
                    Value::List(items)
                };
                respelled(item).into_iter().map(other).collect::<Vec<_>>()
            };
            let each = items.iter().enumerate();
            each.flat_map(|(index, item)| change(index, item)).collect()
        }
        Value::Hash(fields) => {
            let change = |index: usize, value: &Value| {
                let other = |other| {
                    let mut fields = fields.clone();
                    fields[index].1 = other;
                    Value::Hash(fields)
                };
                respelled(value).into_iter().map(other).collect::<Vec<_>>()
            };
            let each = fields.iter().enumerate();
            each.flat_map(|(index, (_, value))| change(index, value))
                .collect()
        }
        _ => Vec::new(),
    }
}

fn is_ipv6(text: &str) -> bool {
    text.parse::<std::net::Ipv6Addr>().is_ok()
}

fn tests_of(definition: &TypeDriver) -> impl Iterator<Item = &SelfTest> {
    let tests = definition.tests.iter().filter(|test| test.error.is_none());
    tests.filter(|test| {
        let ensure = test.want.as_ref().map(|want| want.get("ensure"));
        ensure.is_some_and(|ensure| ensure.and_then(Value::as_str) != Some("absent"))
    })
}

#[test]
fn other_spellings_of_a_value_are_in_sync_or_refused() {
    let registry = Registry::shipped();
    let mut found = BTreeSet::new();
    let mut tried = BTreeSet::new();
    for (platform, definition) in registry
        .platforms()
        .flat_map(|platform| platform.type_drivers().map(move |of| (platform, of)))
    {
        let of = definition.model.name.as_str();
        for attribute in definition.model.attributes.values() {
            let name = attribute.name.as_str();
            if attribute.sensitive || OTHERS.iter().any(|other| (other.0, other.1) == (of, name)) {
                continue;
            }
            let mut try_pair = |test: &SelfTest, first: &Value, other: &Value| {
                let settles = differs_after(platform, definition, test, name, (first, other));
                let (first, other) = (first.inspect(), other.inspect());
                let what = format!("{}/{of}: {name} => {first}, {other}", platform.name);
                let is_accepted = !matches!(settles, Ok(None));
                match settles {
                    Ok(None) => {}
                    Ok(Some(false)) => {
                        tried.insert(what);
                    }
                    Ok(Some(true)) => {
                        found.insert(format!("{what}: differs"));
                    }
                    Err(failure) => {
                        found.insert(format!("{what}: {failure}"));
                    }
                }
                is_accepted
            };
            for test in tests_of(definition) {
                if let Some(value) = test.want.as_ref().and_then(|want| want.get(name)) {
                    for other in respelled(value) {
                        try_pair(test, value, &other);
                    }
                }
            }
            for (first, other) in spellings_of(attribute) {
                tests_of(definition).any(|test| try_pair(test, &first, &other));
            }
        }
    }
    let found: Vec<String> = found.into_iter().collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert!(tried.len() > 300, "{} spellings", tried.len());
}

/// The default that a description names.
fn documented_default(attribute: &AttributeModel) -> Option<String> {
    let pattern = Pattern::new(
        r"(?:Default: |restores the default, |for the default, |the device's default is )(?:`([^`]+)`|([\w./-]*\w))",
    );
    let found = pattern.unwrap();
    let found = found.captures(&attribute.doc)?;
    let default = found.get(1).or(found.get(2))?;
    Some(default.as_str().to_owned())
}

#[test]
fn documented_defaults_without_a_line_are_in_sync() {
    let registry = Registry::shipped();
    let (mut wrong, mut tried) = (Vec::new(), 0);
    for (platform, definition) in registry
        .platforms()
        .flat_map(|platform| platform.type_drivers().map(move |of| (platform, of)))
    {
        let model = &definition.model;
        for attribute in model.properties() {
            let name = attribute.name.as_str();
            let Some(default) = documented_default(attribute) else {
                continue;
            };
            let Some(absent) = definition.base.default_value(name) else {
                continue;
            };
            let Ok(value) = attribute.canonicalize(&default.as_str().into()) else {
                wrong.push(format!(
                    "{}/{}: {name}: {default} is no value",
                    platform.name, model.name
                ));
                continue;
            };
            let attributes = |value: &Value| -> Attributes {
                [(name.to_owned(), value.clone())].into_iter().collect()
            };
            let driver = Driver::new(platform, &Default::default());
            let Ok(canonical) = driver.canonicalize(model, attributes(&value)) else {
                continue;
            };
            let desired = Desired {
                reference: model.name.as_str().into(),
                model: Arc::clone(model),
                attributes: canonical,
            };
            let current = Instance {
                attributes: attributes(&absent),
                ..Instance::default()
            };
            tried += 1;
            let differs = driver.differs(&desired, Some(&current), &NoSecretHistory);
            if differs.iter().any(|differing| differing == name) {
                let (value, absent) = (value.inspect(), absent.inspect());
                let of = &model.name;
                wrong.push(format!(
                    "{}/{of}: {name} => {value}, and without a line {absent}",
                    platform.name
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(tried > 50, "{tried} defaults");
}
