//! Addresses as the device stores them: in the form of RFC 5952, without the default route domain of
//! the partition.

use std::net::IpAddr;

use serde_json::{Value, json};

use crate::load_balancer::tree::Object;

/// Normalizes the addresses of an object in a partition with this default route domain.
pub(super) fn addresses(kind: &str, object: &mut Object, default_domain: u64) {
    let fields: &[&str] = match kind {
        "ltm/node" | "net/self" => &["address"],
        "net/route" => &["gw", "network"],
        "ltm/virtual" => &["source", "mask"],
        _ => &[],
    };
    for name in fields {
        if let Some(text) = object.fields.get(*name).and_then(Value::as_str) {
            let stored = stored(text, default_domain);
            object.fields.insert((*name).to_owned(), json!(stored));
        }
    }
}

/// An address, with or without route domain and prefix length. Other texts are unchanged.
pub(super) fn stored(text: &str, default_domain: u64) -> String {
    let (host, length) = match text.split_once('/') {
        Some((host, length)) => (host, format!("/{length}")),
        None => (text, String::new()),
    };
    let (address, domain) = host.split_once('%').unwrap_or((host, ""));
    let Ok(address) = address.parse::<IpAddr>() else {
        return text.to_owned();
    };
    match domain.parse::<u64>() {
        Ok(domain) if domain != default_domain => format!("{address}%{domain}{length}"),
        _ => format!("{address}{length}"),
    }
}
