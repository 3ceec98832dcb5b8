//! A reader of a few lines of NX-OS, written from the command reference, without definitions: values as texts.

use std::collections::{BTreeMap, BTreeSet};

use crate::change::Instance;
use crate::value::Value;

/// The values of the lines of a configuration. The last line of several counts.
pub(super) fn values(config: &str) -> BTreeSet<String> {
    let mut last: BTreeMap<String, String> = BTreeMap::new();
    let mut lists = BTreeSet::new();
    let mut block = String::new();
    for line in config
        .lines()
        .filter(|line| !line.trim_start().starts_with('!'))
    {
        let words: Vec<&str> = line.split_whitespace().collect();
        if !line.starts_with(' ') {
            block = match words.as_slice() {
                ["interface", name] => format!("interface {}", interface(name)),
                ["vlan", number] if number.parse::<u16>().is_ok() => format!("vlan {number}"),
                _ => String::new(),
            };
            lists.extend(top_level(&words));
            continue;
        }
        let is_interface = block.starts_with("interface ");
        let indent = line.len() - line.trim_start().len();
        if block.is_empty() || indent > 2 {
            continue;
        }
        let rest = |count: usize| words.get(count..).unwrap_or_default().join(" ");
        let value = match words.as_slice() {
            ["description", ..] if is_interface => Some(("description", rest(1))),
            ["mtu", mtu] if is_interface && *mtu != "1500" => Some(("mtu", (*mtu).to_owned())),
            ["switchport", "access", "vlan", vlan] if *vlan != "1" => {
                Some(("access vlan", (*vlan).to_owned()))
            }
            ["ip", "address", prefix] if prefix.contains('/') => {
                Some(("address", (*prefix).to_owned()))
            }
            ["name", ..] if !is_interface => Some(("name", rest(1))),
            ["vn-segment", number] => Some(("segment", (*number).to_owned())),
            _ => None,
        };
        if let Some((name, value)) = value {
            last.insert(format!("{block} {name}"), value);
        }
    }
    let last = last.into_iter();
    lists.extend(last.map(|(name, value)| format!("{name} {value}")));
    lists
}

/// The value of a line outside of blocks.
fn top_level(words: &[&str]) -> Option<String> {
    Some(match words {
        ["ip", "prefix-list", list, "seq", number, action, prefix, ..] => {
            format!("prefix-list {list} {number} {action} {prefix}")
        }
        ["feature", rest @ ..] => format!("feature {}", rest.join(" ")),
        ["hostname", name] => format!("hostname {name}"),
        _ => return None,
    })
}

/// The same values of an instance.
pub(super) fn of_instance(type_name: &str, instance: &Instance) -> Vec<String> {
    let text = |name: &str| {
        let value = instance.attributes.get(name)?.unwrap_sensitive();
        let text = match value {
            Value::Symbol(text) => text.clone(),
            other => other.scalar_text()?,
        };
        (text != "default").then_some(text)
    };
    let line = |begin: String, name: &str, word: &str| {
        text(name).map(|value| format!("{begin} {word} {value}"))
    };
    let found = match type_name {
        "cisco_interface" => {
            let begin = format!(
                "interface {}",
                interface(&text("interface").unwrap_or_default())
            );
            let length = text("ipv4_netmask_length");
            let address = text("ipv4_address").zip(length);
            let address =
                address.map(|(address, length)| format!("{begin} address {address}/{length}"));
            let mtu = line(begin.clone(), "mtu", "mtu").filter(|line| !line.ends_with(" 1500"));
            let vlan = line(begin.clone(), "access_vlan", "access vlan");
            let vlan = vlan.filter(|line| !line.ends_with(" vlan 1"));
            vec![
                line(begin, "description", "description"),
                mtu,
                vlan,
                address,
            ]
        }
        "cisco_vlan" => {
            let begin = format!("vlan {}", text("vlan").unwrap_or_default());
            let name = line(begin.clone(), "vlan_name", "name");
            vec![name, line(begin, "mapped_vni", "segment")]
        }
        "nxos_prefix_list_entry" if text("afi").as_deref() == Some("ipv4") => {
            let names = ["prefix_list", "sequence", "action", "prefix"];
            let values: Option<Vec<String>> = names.into_iter().map(text).collect();
            vec![values.map(|values| format!("prefix-list {}", values.join(" ")))]
        }
        "nxos_feature" => vec![text("name").map(|name| format!("feature {name}"))],
        "nxos_system" => vec![text("hostname").map(|name| format!("hostname {name}"))],
        _ => Vec::new(),
    };
    found.into_iter().flatten().collect()
}

/// The name of an interface in small letters and without short forms.
fn interface(name: &str) -> String {
    let name = name.to_lowercase();
    let number = name.find(|letter: char| letter.is_ascii_digit());
    let (kind, number) = name.split_at(number.unwrap_or(name.len()));
    let kinds = [
        "ethernet",
        "port-channel",
        "loopback",
        "vlan",
        "mgmt",
        "nve",
        "tunnel",
    ];
    let full = kinds
        .into_iter()
        .find(|full| !kind.is_empty() && full.starts_with(kind));
    format!("{}{number}", full.unwrap_or(kind))
}
