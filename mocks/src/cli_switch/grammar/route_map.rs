//! Lines of an entry of a route map.
//!
//! Recording i0737; Cisco IOS IP Routing: Protocol-Independent Command Reference, "route-map", "match ...", "set ...";
//! BGP Command Reference, "match community", "continue", "set community", "set weight".

use super::global::bgp_list::community;
use super::{Rule, communities, rule};
use crate::cli_switch::configure::{Command, ConfigSession, end, exit};
use crate::cli_switch::effect::{Effect, Reply};

/// `(config-route-map)#`
pub(crate) const RULES: &[Rule] = &[
    rule("description ! <line>", Effect::Store),
    rule("match as-path ! (<1-500>)*", Effect::Run(values)),
    rule(
        "match ip address prefix-list ! (<word>)*",
        Effect::Run(values),
    ),
    rule("match ip address ! (<word>)*", Effect::Run(values)),
    rule("match tag ! (<0-4294967295>)*", Effect::Run(values)),
    rule("match community ! (<word>)*", Effect::Run(values)),
    rule("match metric ! (<0-4294967295>)*", Effect::Run(values)),
    rule("continue ! [<1-65535>]", Effect::Store),
    rule("set as-path prepend ! <line>", Effect::Store),
    rule(
        concat!(
            "set community ! (none | (",
            communities!(),
            ") (",
            communities!(),
            ")* [additive])"
        ),
        Effect::Run(set_community),
    ),
    rule("set local-preference ! <0-4294967295>", Effect::Store),
    rule("set metric ! <word>", Effect::Store),
    rule("set tag ! <0-4294967295>", Effect::Store),
    rule(
        "set ip next-hop ! (<ipv4> | peer-address | self)*",
        Effect::Run(values),
    ),
    rule("set weight ! <0-65535>", Effect::Store),
    rule("exit", Effect::Run(exit)),
    rule("end", Effect::Run(end)),
];

/// A further line adds its values to the condition, `no` with values removes these.
fn values(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let identity = command.identity_text();
    let named = &command.words[command.identity..];
    if command.is_set() && named.is_empty() {
        return Reply::Incomplete;
    }
    let block = session.block();
    let before = block.value(&identity).unwrap_or_default().to_owned();
    let mut all: Vec<&str> = before.split_whitespace().collect();
    if command.is_set() {
        for name in named {
            if !all.contains(&name.as_str()) {
                all.push(name);
            }
        }
    } else {
        all.retain(|name| !named.is_empty() && !named.iter().any(|other| other == name));
    }
    match all.as_slice() {
        [] => {
            block.remove(&identity);
        }
        all => block.set(command.entry(format!("{identity} {}", all.join(" ")))),
    }
    Reply::Silent
}

fn set_community(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let identity = command.identity_text();
    if !command.is_set() {
        session.block().remove(&identity);
        return Reply::Silent;
    }
    let values = command.words[command.identity..].iter();
    let values: Vec<String> = values.map(|word| community(session, word)).collect();
    let text = format!("{identity} {}", values.join(" "));
    session.block().set(command.entry(text));
    Reply::Silent
}
