//! Lists of AS paths and of communities of BGP.
//!
//! Cisco IOS IP Routing: BGP Command Reference, "ip as-path access-list", "ip bgp-community new-format", "ip community-list".

use crate::cli_switch::configure::{Command, ConfigSession};
use crate::cli_switch::effect::{Effect, Reply};
use crate::cli_switch::grammar::parameter::Community;
use crate::cli_switch::grammar::{Rule, communities, rule};

/// The lists, and the form of communities.
pub(super) const RULES: &[Rule] = &[
    rule("ip bgp-community new-format", Effect::Store),
    rule(
        concat!(
            "ip community-list (standard <word> | <1-99>) ! (permit | deny) (",
            communities!(),
            ")*"
        ),
        Effect::Run(standard_communities),
    ),
    rule(
        "ip community-list (expanded <word> | <100-500>) ! (permit | deny) <line>",
        Effect::Run(entry),
    ),
    rule(
        "ip as-path access-list <1-500> ! (permit | deny) <line>",
        Effect::Run(entry),
    ),
];

/// The identity of the line for communities as two numbers.
const NEW_FORMAT: &str = "ip bgp-community new-format";

/// A word with a community in the form in which the device prints it; other words are unchanged.
pub(in crate::cli_switch::grammar) fn community(session: &ConfigSession<'_>, word: &str) -> String {
    let root = &session.device.configuration.root;
    match Community::parse(word) {
        Some(community) if root.find(NEW_FORMAT).is_some() => community.in_two_numbers(),
        Some(community) => community.0.to_string(),
        None => word.to_owned(),
    }
}

/// An entry of a list of communities: one that permits or denies no community is about all.
fn standard_communities(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let printed = |(index, word): (usize, &String)| {
        if index < command.identity {
            word.clone()
        } else {
            community(session, word)
        }
    };
    let words = command.words.iter().enumerate().map(printed).collect();
    entry(
        session,
        &Command {
            words,
            ..command.clone()
        },
    )
}

/// An entry of a list, after those that the list has. `no` without an entry removes the list.
fn entry(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let list = command.identity_text();
    let is_list = command.words.len() == command.identity;
    let root = &mut session.device.edit().root;
    match (command.is_set(), is_list) {
        (true, true) => return Reply::Incomplete,
        (true, false) => {
            let number = command.words[command.identity - 1].parse::<u32>();
            let mut entry = command.entry(command.text());
            entry.sort = match number {
                Ok(number) => vec![number],
                Err(_) => list.bytes().map(u32::from).collect(),
            };
            entry.identity = command.text();
            root.set(entry);
        }
        (false, true) => {
            let all = format!("{list} ");
            root.retain(|entry| !entry.identity.starts_with(&all));
        }
        (false, false) => drop(root.remove(&command.text())),
    }
    Reply::Silent
}
