//! Normalization of fields: full paths, trailing spaces, encrypted secrets, mutually exclusive fields.

mod addresses;
mod application;
mod records;

use std::net::IpAddr;

use serde_json::{Map, Value, json};

pub(super) use self::application::folder;
use super::path::{FullPath, host_and_port, port};
use super::refusal::Refusal;
use super::tree::{Fields, Object, Tree};

/// The monitors named in an expression.
pub(super) fn monitors(expression: &str) -> Vec<String> {
    expression
        .split(' ')
        .filter(|word| word.starts_with('/'))
        .map(str::to_owned)
        .collect()
}

/// A reference as a full path; `None` clears it.
pub(super) fn reference(text: &str) -> Option<String> {
    match text.trim() {
        "" | "none" => None,
        path => Some(FullPath::parse(path, "Common").text()),
    }
}

/// A monitor expression with full paths and the trailing space of the device.
pub(super) fn monitor(text: &str) -> Result<Option<String>, Refusal> {
    let text = text.trim();
    if text == "default" {
        return Ok(Some("default".to_owned()));
    }
    if text.is_empty() || text == "none" || text == "/Common/none" {
        return Ok(None);
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    let full = |word: &str| FullPath::parse(word, "Common").text();
    if let ["min", count, "of", "{", names @ .., "}"] = &words[..] {
        let desired: usize = count
            .parse()
            .map_err(|_| Refusal::invalid_value("monitor", &json!(text)))?;
        if desired == 0 || desired > names.len() {
            return Err(Refusal::configuration(
                "The minimum number of monitors exceeds the number of monitors.",
            ));
        }
        let names: Vec<String> = names.iter().map(|name| full(name)).collect();
        return Ok(Some(format!("min {desired} of {{ {} }} ", names.join(" "))));
    }
    let alternate = words
        .iter()
        .enumerate()
        .all(|(index, word)| (index % 2 == 1) == (*word == "and"));
    if !alternate || words.len().is_multiple_of(2) {
        return Err(Refusal::invalid_value("monitor", &json!(text)));
    }
    let names: Vec<String> = words.iter().step_by(2).map(|name| full(name)).collect();
    Ok(Some(format!("{} ", names.join(" and "))))
}

/// The encrypted format of a secret, the same for the same text.
pub(super) fn encrypted(secret: &str) -> String {
    if secret.starts_with("$M$") {
        return secret.to_owned();
    }
    let mark = secret
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
    format!("$M$Mk${mark:016x}==")
}

/// The default route domain of a partition.
fn default_domain(tree: &Tree, partition: &str) -> u64 {
    let partition = tree.object("auth/partition", partition);
    let domain =
        partition.and_then(|partition| partition.fields.get("defaultRouteDomain")?.as_u64());
    domain.unwrap_or_default()
}

/// Applies the rules of the kind to validated fields. `supplied` are the fields of the request.
pub(super) fn object(
    tree: &Tree,
    kind: &str,
    object: &mut Object,
    supplied: &Fields,
) -> Result<(), Refusal> {
    let domain = default_domain(tree, &object.path.partition);
    addresses::addresses(kind, object, domain);
    match kind {
        "ltm/node" => {
            address(object, "address")?;
            state(&mut object.fields, false);
        }
        "ltm/pool" => {
            members(object);
            // The field is missing rather than `none`.
            if object.text("serviceDownAction") == "none" {
                object.fields.remove("serviceDownAction");
            }
        }
        "ltm/virtual" => virtual_server(object, supplied, domain)?,
        "ltm/rule" => rule(object)?,
        "net/vlan" => interfaces(object),
        "net/self" => self_ip(object, supplied)?,
        "net/route" => {
            let ways = ["gw", "pool", "tmInterface"]
                .iter()
                .filter(|name| object.fields.contains_key(**name))
                .count();
            if ways != 1 {
                return Err(Refusal::configuration(
                    "A route needs exactly one of gateway, pool and interface.",
                ));
            }
        }
        "ltm/snatpool" => prefix_addresses(object, domain),
        "ltm/snat" => records::origins(object, domain)?,
        "ltm/data-group/internal" => records::records(object, domain)?,
        "ltm/profile/client-ssl" => records::certificates(object),
        "sys/application/service" => application::application(object)?,
        // Only a hash of the password is returned.
        "auth/user" => {
            if let Some(password) = object.fields.remove("password") {
                let hash = encrypted(password.as_str().unwrap_or_default());
                let hash = hash.replace("$M$", "$6$");
                object
                    .fields
                    .insert("encryptedPassword".to_owned(), json!(hash));
            }
        }
        "ltm/monitor/icmp" if object.text("destination") == "*:*" => {
            object.fields.insert("destination".to_owned(), json!("*"));
        }
        _ => {}
    }
    if kind.starts_with("ltm/monitor/") {
        for name in ["send", "recv", "recvDisable"] {
            if let Some(text) = object.fields.get(name).and_then(Value::as_str) {
                let blank = if name == "recv" { " " } else { "" };
                let escaped = text.replace('\r', "\\r").replace('\n', "\\n");
                object.fields.insert(
                    name.to_owned(),
                    json!(format!("{}{blank}", escaped.trim_end())),
                );
            }
        }
    }
    Ok(())
}

fn address(object: &Object, name: &str) -> Result<(), Refusal> {
    let text = object.text(name);
    let host = text.split('%').next().unwrap_or_default();
    if host.parse::<IpAddr>().is_ok() || text == "any" || text == "any6" {
        Ok(())
    } else {
        Err(Refusal::invalid_value(name, &json!(text)))
    }
}

/// Monitors determine state and session unless the user sets them.
fn state(fields: &mut Fields, inherits: bool) {
    let text = |fields: &Fields, name: &str| {
        fields
            .get(name)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    let monitor = text(fields, "monitor");
    let watched = inherits || !(monitor.is_empty() || monitor == "default");
    if text(fields, "state") != "user-down" {
        fields.insert(
            "state".to_owned(),
            json!(if watched { "up" } else { "unchecked" }),
        );
    }
    if text(fields, "session") != "user-disabled" {
        fields.insert(
            "session".to_owned(),
            json!(if watched {
                "monitor-enabled"
            } else {
                "user-enabled"
            }),
        );
    }
}

fn members(object: &mut Object) {
    let watched = object.fields.contains_key("monitor");
    for member in object
        .subs
        .get_mut("members")
        .into_iter()
        .flat_map(|members| members.values_mut())
    {
        let inherits = watched && member.text("monitor") == "default";
        state(&mut member.fields, inherits);
    }
}

/// Two fields of which exactly one is set.
fn either(fields: &mut Fields, supplied: &Fields, first: &str, second: &str) {
    let desired = |name: &str| supplied.get(name).and_then(Value::as_bool);
    let first_wins = match (desired(first), desired(second)) {
        (Some(true), _) | (_, Some(false)) => true,
        (_, Some(true)) | (Some(false), _) => false,
        (None, None) => return,
    };
    fields.remove(if first_wins { second } else { first });
    fields.insert(
        if first_wins { first } else { second }.to_owned(),
        json!(true),
    );
}

fn virtual_server(object: &mut Object, supplied: &Fields, domain: u64) -> Result<(), Refusal> {
    let partition = object.path.partition.clone();
    either(&mut object.fields, supplied, "enabled", "disabled");
    either(
        &mut object.fields,
        supplied,
        "vlansDisabled",
        "vlansEnabled",
    );
    let desired = object.text("destination").to_owned();
    let path = FullPath::parse(&desired, &partition);
    let bad = || Refusal::invalid_value("destination", &json!(desired));
    let (host, service) = host_and_port(&path.name).ok_or_else(bad)?;
    let service = port(service).ok_or_else(bad)?;
    let address = host.split('%').next().unwrap_or_default();
    let address = match address {
        "any" => "0.0.0.0",
        "any6" => "::",
        other => other,
    };
    let ip: IpAddr = address.parse().map_err(|_| bad())?;
    let separator = if ip.is_ipv6() { '.' } else { ':' };
    object.fields.insert(
        "destination".to_owned(),
        json!(format!(
            "/{}/{}{separator}{service}",
            path.partition,
            addresses::stored(host, domain)
        )),
    );
    if !supplied.contains_key("mask") && ip.is_unspecified() {
        object.fields.insert("mask".to_owned(), json!("any"));
    } else if !supplied.contains_key("mask")
        && ip.is_ipv6()
        && object.text("mask") == "255.255.255.255"
    {
        object.fields.insert(
            "mask".to_owned(),
            json!("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
        );
    } else if object.text("mask") == "0.0.0.0" {
        object.fields.insert("mask".to_owned(), json!("any"));
    }
    if let Some(Value::Object(translation)) = object.fields.get_mut("sourceAddressTranslation") {
        let kind = translation
            .get("type")
            .and_then(Value::as_str)
            .unwrap_or("none")
            .to_owned();
        match (
            kind.as_str(),
            translation
                .get("pool")
                .and_then(Value::as_str)
                .and_then(reference),
        ) {
            ("snat" | "lsn", Some(pool)) => {
                translation.insert("pool".to_owned(), json!(pool));
            }
            ("snat" | "lsn", None) => return Err(Refusal::missing("pool")),
            ("none" | "automap", _) => {
                translation.remove("pool");
            }
            _ => {
                return Err(Refusal::invalid_value(
                    "source-address-translation",
                    &json!(kind),
                ));
            }
        }
    }
    persistence(&mut object.fields);
    profiles(object)
}

fn persistence(fields: &mut Fields) {
    let Some(Value::Array(entries)) = fields.get_mut("persist") else {
        return;
    };
    for entry in entries {
        let name = match &*entry {
            Value::String(name) => name.clone(),
            other => other
                .get("name")
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned(),
        };
        let partition = entry
            .get("partition")
            .and_then(Value::as_str)
            .unwrap_or("Common")
            .to_owned();
        let default = entry
            .get("tmDefault")
            .and_then(Value::as_str)
            .unwrap_or("yes")
            .to_owned();
        let path = FullPath::parse(&name, &partition);
        *entry = json!({"name": path.name, "partition": path.partition, "tmDefault": default});
    }
}

/// A virtual server without a protocol profile gets `fastL4`; HTTP requires TCP.
fn profiles(object: &mut Object) -> Result<(), Refusal> {
    let path = object.path.text();
    let entries = object.subs.entry("profiles".to_owned()).or_default();
    let has = |names: &[&str]| {
        entries
            .keys()
            .any(|name| names.contains(&name.rsplit('/').next().unwrap_or_default()))
    };
    if has(&["http"])
        && !entries
            .keys()
            .any(|name| name.contains("tcp") || name.contains("fasthttp"))
    {
        return Err(Refusal::configuration(&format!(
            "In Virtual Server ({path}) an http profile requires a tcp profile."
        )));
    }
    for entry in entries.values_mut() {
        let name = entry.path.name.clone();
        if entry.fields.get("context").is_none() {
            let context = match name.as_str() {
                "clientssl" => "clientside",
                "serverssl" => "serverside",
                _ => "all",
            };
            entry.fields.insert("context".to_owned(), json!(context));
        }
    }
    let is_standard = !["reject", "stateless"]
        .iter()
        .any(|flag| object.fields.contains_key(*flag));
    if entries.is_empty() && is_standard {
        let mut entry = Object::new(FullPath::parse("/Common/fastL4", "Common"));
        entry.fields.insert("context".to_owned(), json!("all"));
        entries.insert(entry.path.text(), entry);
    }
    Ok(())
}

/// Checks that a rule consists of events with balanced braces.
fn rule(object: &mut Object) -> Result<(), Refusal> {
    let text = object
        .text("apiAnonymous")
        .trim_matches('\n')
        .replace("\r\n", "\n");
    let path = object.path.text();
    let mut depth = 0_i64;
    for (number, line) in text.lines().enumerate() {
        let line = if line.trim_start().starts_with('#') {
            ""
        } else {
            line
        };
        let word = line.split_whitespace().next();
        if depth == 0
            && word.is_some_and(|word| {
                !["when", "proc", "timing", "priority", "ltm", "}"].contains(&word)
            })
        {
            let word = word.unwrap_or_default();
            return Err(Refusal::coded(format!(
                "01070151:3: Rule [{path}] error: {path}:{}: error: [command is not valid in the current scope][{word}]",
                number + 1
            )));
        }
        let count = |brace| i64::try_from(line.matches(brace).count()).unwrap_or(0);
        depth += count('{') - count('}');
        if depth < 0 {
            break;
        }
    }
    if depth != 0 {
        return Err(Refusal::coded(format!(
            "01070151:3: Rule [{path}] error: {path}:{}: error: [parse error: missing close-brace]",
            text.lines().count()
        )));
    }
    // Comments after the last command are lost.
    let lines: Vec<&str> = text.lines().collect();
    let is_command = |line: &&str| !matches!(line.trim_start().chars().next(), None | Some('#'));
    let stored = match lines.iter().rposition(is_command) {
        Some(last) => lines[..=last].join("\n"),
        None => text,
    };
    object
        .fields
        .insert("apiAnonymous".to_owned(), json!(stored));
    Ok(())
}

fn interfaces(object: &mut Object) {
    for entry in object
        .subs
        .get_mut("interfaces")
        .into_iter()
        .flat_map(|entries| entries.values_mut())
    {
        // The last field wins, as with other pairs of flags; it is the later field,
        // because an interface has one of the two.
        let set = |name: &str| {
            let mut fields = entry.fields.iter();
            fields.position(|(field, value)| field == name && *value == json!(true))
        };
        let tagged = set("tagged") > set("untagged");
        entry
            .fields
            .remove(if tagged { "untagged" } else { "tagged" });
        entry.fields.insert(
            if tagged { "tagged" } else { "untagged" }.to_owned(),
            json!(true),
        );
    }
}

fn self_ip(object: &mut Object, supplied: &Fields) -> Result<(), Refusal> {
    let text = object.text("address").to_owned();
    let bad = || Refusal::invalid_value("address", &json!(text));
    let (host, length) = text.split_once('/').ok_or_else(bad)?;
    let ip: IpAddr = host
        .split('%')
        .next()
        .unwrap_or_default()
        .parse()
        .map_err(|_| bad())?;
    let longest = if ip.is_ipv6() { 128 } else { 32 };
    length
        .parse::<u8>()
        .ok()
        .filter(|length| *length <= longest)
        .ok_or_else(bad)?;
    let floats = object.text("trafficGroup") == "/Common/traffic-group-1";
    object.fields.insert(
        "floating".to_owned(),
        json!(if floats { "enabled" } else { "disabled" }),
    );
    if supplied.contains_key("allowService") {
        services(&mut object.fields)?;
    }
    Ok(())
}

fn services(fields: &mut Fields) -> Result<(), Refusal> {
    let Some(value) = fields.get("allowService").cloned() else {
        return Ok(());
    };
    let words: Vec<String> = match &value {
        Value::String(word) => vec![word.clone()],
        Value::Array(words) => words
            .iter()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect(),
        other => return Err(Refusal::invalid_value("allow-service", other)),
    };
    match &words[..] {
        [] => {
            fields.remove("allowService");
        }
        [word] if word == "none" => {
            fields.remove("allowService");
        }
        [word] if word == "all" => {
            fields.insert("allowService".to_owned(), json!("all"));
        }
        words => {
            let fine = |word: &String| {
                word == "default"
                    || word.split_once(':').is_some_and(|(protocol, service)| {
                        ["tcp", "udp", "sctp", "icmp", "ospf", "igmp", "pim"].contains(&protocol)
                            && port(service).is_some()
                    })
            };
            if let Some(wrong) = words.iter().find(|word| !fine(word)) {
                return Err(Refusal::invalid_value("allow-service", &json!(wrong)));
            }
            fields.insert("allowService".to_owned(), json!(words));
        }
    }
    Ok(())
}

fn prefix_addresses(object: &mut Object, domain: u64) {
    let partition = object.path.partition.clone();
    if let Some(Value::Array(members)) = object.fields.get_mut("members") {
        for member in members {
            if let Some(text) = member.as_str() {
                let mut path = FullPath::parse(text, &partition);
                path.name = addresses::stored(&path.name, domain);
                *member = json!(path.text());
            }
        }
    }
}

/// Merges the given parts of an object field into the existing ones.
pub(super) fn merged(old: Option<&Value>, new: &Map<String, Value>) -> Value {
    let mut fields = old.and_then(Value::as_object).cloned().unwrap_or_default();
    fields.extend(new.clone());
    Value::Object(fields)
}
