//! Lists of objects in a field: origins of a SNAT, records of a data group, the certificates of a profile.

use std::net::IpAddr;

use serde_json::{Value, json};

use super::addresses::stored;
use crate::load_balancer::refusal::Refusal;
use crate::load_balancer::tree::Object;

/// Origins as networks; a SNAT has one way of translation.
pub(super) fn origins(object: &mut Object, domain: u64) -> Result<(), Refusal> {
    for origin in list_mut(object, "origins") {
        let text = match &*origin {
            Value::String(text) => Some(text.clone()),
            other => text_of(other, "name"),
        };
        let name = text
            .as_deref()
            .and_then(|text| network(text, domain))
            .ok_or_else(|| Refusal::invalid_value("origins", origin))?;
        *origin = json!({"name": name, "appService": "none"});
    }
    let ways = ["automap", "snatpool", "translation"].iter();
    if ways
        .filter(|name| object.fields.contains_key(**name))
        .count()
        > 1
    {
        return Err(Refusal::configuration(
            "Only one of automap, snatpool and translation can be used.",
        ));
    }
    Ok(())
}

/// Records in the order of their names, each with its data.
pub(super) fn records(object: &mut Object, domain: u64) -> Result<(), Refusal> {
    let kind = object.text("type").to_owned();
    let records = list_mut(object, "records");
    for record in records.iter_mut() {
        let bad = || Refusal::invalid_value("records", record);
        let name = text_of(record, "name").ok_or_else(bad)?;
        let name = match kind.as_str() {
            "ip" => network(&name, domain).ok_or_else(bad)?,
            "integer" => name.parse::<i64>().map_err(|_| bad())?.to_string(),
            _ => name,
        };
        let data = text_of(record, "data").unwrap_or_default();
        *record = json!({"name": name, "data": data});
    }
    records.sort_by_key(|record| text_of(record, "name"));
    let names: Vec<_> = records
        .iter()
        .map(|record| text_of(record, "name"))
        .collect();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        None => Ok(()),
        Some(pair) => Err(Refusal::configuration(&format!(
            "The record {} is in the class more than once.",
            pair[0].as_deref().unwrap_or_default()
        ))),
    }
}

/// The certificate of a profile for clients is also the only entry of its chain.
pub(super) fn certificates(object: &mut Object) {
    let entry: Vec<(&str, Value)> = ["cert", "key", "chain"]
        .into_iter()
        .map(|name| {
            let value = object.fields.get(name);
            (name, value.cloned().unwrap_or_else(|| json!("none")))
        })
        .collect();
    let mut chain = json!({"name": "default", "appService": "none"});
    for (name, value) in entry {
        chain[name] = value;
    }
    object
        .fields
        .insert("certKeyChain".to_owned(), json!([chain]));
}

fn list_mut<'a>(object: &'a mut Object, name: &str) -> &'a mut [Value] {
    let list = object.fields.get_mut(name).and_then(Value::as_array_mut);
    list.map(Vec::as_mut_slice).unwrap_or_default()
}

fn text_of(value: &Value, name: &str) -> Option<String> {
    match value.get(name)? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// A network with its prefix length, which is complete by default.
fn network(text: &str, domain: u64) -> Option<String> {
    let (address, length) = text.split_once('/').unwrap_or((text, ""));
    let host = address.split('%').next().unwrap_or_default();
    let ip: IpAddr = host.parse().ok()?;
    let longest = if ip.is_ipv6() { 128 } else { 32 };
    let length: u8 = match length {
        "" => longest,
        length => length.parse().ok()?,
    };
    (length <= longest).then(|| stored(&format!("{address}/{length}"), domain))
}
