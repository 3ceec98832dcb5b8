//! The running configuration as text: written by the device, and read back by the same grammar.

use super::configure::ConfigSession;
use super::device::{Device, Mode, Position};
use super::effect::Reply;
use super::grammar::access_list;
use super::grammar::global::set_banner;
use super::tree::{Block, Entry};

/// Maximum length of a VLAN list in one line.
const LIST_WIDTH: usize = 60;

/// All lines, from `version` to `end`.
pub(super) fn lines(device: &Device) -> Vec<String> {
    let train: String = device
        .profile
        .version
        .split('.')
        .take(2)
        .collect::<Vec<_>>()
        .join(".");
    let train = train.split('(').next().unwrap_or_default().to_owned();
    let mut lines = vec![format!("version {train}")];
    let mut named = false;
    let mut group = String::from("service");
    for entry in device.configuration.root.entries() {
        let first = entry
            .identity
            .split(' ')
            .next()
            .unwrap_or_default()
            .to_owned();
        if first != "service" && !named {
            named = true;
            lines.push("!".to_owned());
            lines.push(format!("hostname {}", device.hostname));
        }
        if first != group || entry.block.is_some() {
            separate(&mut lines);
            group = first;
        }
        write_entry(device, entry, &mut lines);
        if entry.block.is_some() {
            separate(&mut lines);
        }
    }
    if !named {
        lines.push("!".to_owned());
        lines.push(format!("hostname {}", device.hostname));
    }
    separate(&mut lines);
    lines.push("end".to_owned());
    lines
}

fn separate(lines: &mut Vec<String>) {
    if lines.last().is_some_and(|last| last != "!") {
        lines.push("!".to_owned());
    }
}

fn write_entry(device: &Device, entry: &Entry, lines: &mut Vec<String>) {
    if let Some((extended, name, list)) = access_list::of_entry(entry) {
        let numbers = device.profile.prints_sequence_numbers();
        lines.extend(access_list::configuration_lines(
            extended, name, list, numbers,
        ));
        return;
    }
    if is_empty_archive(entry) {
        return;
    }
    lines.extend(entry.text.split('\n').map(str::to_owned));
    if let Some(block) = &entry.block {
        let flat = device.profile.prints_flat_address_families()
            && !entry.identity.starts_with("router bgp ");
        lines.extend(
            block_lines(block, flat)
                .into_iter()
                .map(|line| format!(" {line}")),
        );
        let is_routed =
            entry.identity.starts_with("interface Vlan") || block.find("switchport").is_some();
        if is_routed
            && !block
                .entries()
                .iter()
                .any(|line| line.identity.starts_with("ip address"))
        {
            lines.push(" no ip address".to_owned());
        }
    }
}

/// Lines of a block. With `flat`, lines of an address family are not indented in it.
fn block_lines(block: &Block, flat: bool) -> Vec<String> {
    let mut lines = Vec::new();
    for entry in block
        .entries()
        .iter()
        .filter(|entry| !is_empty_archive(entry))
    {
        if let (true, Some(inner)) = (is_address_family(entry), &entry.block) {
            let indentation = if flat { "" } else { " " };
            lines.extend(["!".to_owned(), entry.text.clone()]);
            let inner = block_lines(inner, flat).into_iter();
            lines.extend(inner.map(|line| format!("{indentation}{line}")));
            lines.push("exit-address-family".to_owned());
            continue;
        }
        match entry.text.strip_prefix("switchport trunk allowed vlan ") {
            Some(list) => lines.extend(allowed_lines(list)),
            None => lines.extend(entry.text.split('\n').map(str::to_owned)),
        }
        if let Some(inner) = &entry.block {
            lines.extend(
                block_lines(inner, flat)
                    .into_iter()
                    .map(|line| format!(" {line}")),
            );
        }
    }
    lines
}

/// Whether a block is the archive, or its log, without a setting.
fn is_empty_archive(entry: &Entry) -> bool {
    let is_archive = ["archive", "log config"].contains(&entry.identity.as_str());
    let lines = entry.block.as_ref().map_or(&[][..], Block::entries);
    is_archive && lines.iter().all(is_empty_archive)
}

/// Whether a line begins an address family of a VRF.
fn is_address_family(entry: &Entry) -> bool {
    entry.rule != usize::MAX && entry.identity.starts_with("address-family ")
}

/// A long list is printed in several lines, all but the first with `add`.
fn allowed_lines(list: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    for part in list.split(',') {
        match parts.last_mut() {
            Some(line) if line.len() + part.len() < LIST_WIDTH => {
                line.push(',');
                line.push_str(part);
            }
            _ => parts.push(part.to_owned()),
        }
    }
    let word = |index: usize| if index == 0 { "" } else { "add " };
    parts
        .iter()
        .enumerate()
        .map(|(index, part)| format!("switchport trunk allowed vlan {}{part}", word(index)))
        .collect()
}

/// The output of `show running-config`.
pub(super) fn show(device: &Device) -> String {
    let body = lines(device).join("\n");
    format!(
        "Building configuration...\n\nCurrent configuration : {} bytes\n!\n{body}\n\n",
        body.len() + 1
    )
}

/// The output of `show running-config interface X`.
pub(super) fn show_interface(device: &Device, identity: &str) -> Option<String> {
    let entry = device.configuration.root.find(identity)?;
    let mut lines = Vec::new();
    write_entry(device, entry, &mut lines);
    let body = lines.join("\n");
    Some(format!(
        "Building configuration...\n\nCurrent configuration : {} bytes\n!\n{body}\nend\n\n",
        body.len()
    ))
}

/// Loads a configuration text into the device.
///
/// Unknown lines are stored as text, with the lines indented below them, and returned: a real
/// configuration always has some. Only typed lines are refused.
pub(super) fn load(device: &mut Device, text: &str) -> Vec<String> {
    let mut unknown = Vec::new();
    let mut position = Position {
        mode: Mode::Config,
        pending: None,
    };
    let mut last_rule = 0;
    let mut foreign: Option<String> = None;
    let mut lines = text.lines().map(|line| line.trim_end_matches('\r'));
    // The lines of a text that somebody typed may have no indentation at all.
    let is_indented = text.lines().any(|line| line.starts_with(' '));
    while let Some(line) = lines.next() {
        let content = line.trim();
        let noise = content.is_empty()
            || content.starts_with('!')
            || content.starts_with("Building configuration")
            || content.starts_with("Current configuration")
            || content == "end";
        if noise {
            continue;
        }
        if line.starts_with(' ') {
            if let Some(identity) = &foreign {
                if let Some(entry) = device.edit().root.find_mut(identity) {
                    let inner = line.strip_prefix(' ').unwrap_or(line);
                    entry
                        .block
                        .get_or_insert_default()
                        .set(Entry::line(usize::MAX, inner, inner));
                }
                continue;
            }
        } else {
            foreign = None;
            if is_indented {
                ConfigSession {
                    device,
                    position: &mut position,
                }
                .leave();
            }
        }
        if !is_indented && content == "exit" {
            ConfigSession {
                device,
                position: &mut position,
            }
            .leave();
            continue;
        }
        if content.starts_with("banner ") {
            load_banner(device, &mut position, line, &mut lines);
            continue;
        }
        let mode = position.mode.clone();
        let mut session = ConfigSession {
            device,
            position: &mut position,
        };
        match session.line(content, true) {
            // An indented line that only the global mode accepts belongs to an unknown block.
            Ok(Reply::Silent | Reply::Text(_))
                if mode == Mode::Config || position.mode != Mode::Config =>
            {
                if mode == Mode::Config {
                    last_rule = device
                        .configuration
                        .root
                        .entries()
                        .iter()
                        .map(|entry| entry.rule)
                        .max()
                        .unwrap_or(0);
                }
            }
            _ => {
                unknown.push(line.to_owned());
                position.mode = mode;
                let mut session = ConfigSession {
                    device,
                    position: &mut position,
                };
                let rule = if session.position.mode == Mode::Config {
                    last_rule
                } else {
                    usize::MAX
                };
                session.block().set(Entry::line(rule, content, content));
                if !line.starts_with(' ') {
                    foreign = Some(content.to_owned());
                }
            }
        }
    }
    ConfigSession {
        device,
        position: &mut position,
    }
    .leave();
    unknown
}

/// In a stored configuration the delimiter is the two characters `^C`, or any single one.
fn load_banner<'a>(
    device: &mut Device,
    position: &mut Position,
    line: &str,
    lines: &mut impl Iterator<Item = &'a str>,
) {
    let mut words = line.splitn(3, ' ');
    let (Some(_), Some(kind), Some(rest)) = (words.next(), words.next(), words.next()) else {
        return;
    };
    let delimiter = if rest.starts_with("^C") {
        "^C"
    } else {
        &rest[..rest.chars().next().map_or(0, char::len_utf8)]
    };
    let mut text = rest[delimiter.len()..].to_owned();
    while !text.contains(delimiter) {
        let Some(next) = lines.next() else { break };
        text.push('\n');
        text.push_str(next);
    }
    let end = text.find(delimiter).unwrap_or(text.len());
    set_banner(
        &mut ConfigSession { device, position },
        &format!("banner {kind}"),
        &text[..end],
    );
}
