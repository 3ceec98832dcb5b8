//! Lines with options that are added and removed one by one.
//!
//! Cisco IOS IP Routing: Protocol-Independent Command Reference, "redistribute (IP)", section "Using the no Form of the
//! redistribute Command": for BGP, OSPF and RIP, `no redistribute static route-map X` removes the route map only. Old
//! images do the same for EIGRP. OSPF Command Reference, "area stub", "area nssa", "area range": `no` has the same options.

use crate::cli_switch::configure::{Command, ConfigSession};
use crate::cli_switch::effect::Reply;

/// The first words of options, in the order in which they are printed.
const KEYWORDS: [&str; 15] = [
    "advertise",
    "not-advertise",
    "message-digest",
    "no-redistribution",
    "default-information-originate",
    "no-summary",
    "cost",
    "match",
    "metric",
    "metric-type",
    "nssa-only",
    "subnets",
    "tag",
    "route-map",
    "weight",
];

/// The options in some words, each with its values.
fn options(words: &[String]) -> Vec<Vec<String>> {
    let mut all: Vec<Vec<String>> = Vec::new();
    for word in words {
        let is_name = all.last().is_some_and(|one| *one == ["route-map"]);
        match all.last_mut() {
            Some(option) if is_name || !KEYWORDS.contains(&word.as_str()) => {
                option.push(word.clone());
            }
            _ => all.push(vec![word.clone()]),
        }
    }
    all
}

/// A further line changes the options that it has, and `no` with options removes these only.
pub(super) fn change_options(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let identity = command.identity_text();
    let named = options(&command.words[command.identity..]);
    let before = session.block().value(&identity).map(str::to_owned);
    if !command.is_set() && (named.is_empty() || before.is_none()) {
        session.block().remove(&identity);
        return Reply::Silent;
    }
    let before: Vec<String> = before
        .iter()
        .flat_map(|text| text.split_whitespace().map(str::to_owned))
        .collect();
    let mut all = options(&before);
    all.retain(|option| !named.iter().any(|other| other[0] == option[0]));
    if command.is_set() {
        all.extend(named);
    }
    all.sort_by_key(|option| KEYWORDS.iter().position(|word| *word == option[0]));
    let words = [identity].into_iter().chain(all.into_iter().flatten());
    let text = words.collect::<Vec<_>>().join(" ");
    session.block().set(command.entry(text));
    Reply::Silent
}
