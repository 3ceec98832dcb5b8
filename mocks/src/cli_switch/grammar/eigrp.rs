//! Lines of an EIGRP process of the classic form.
//!
//! Cisco IOS IP Routing: EIGRP Command Reference, "router eigrp", "network (EIGRP)", "eigrp router-id", "eigrp stub", "variance
//! (EIGRP)"; Protocol-Independent Command Reference, "redistribute (IP)", "passive-interface", "maximum-paths"; recordings i0780,
//! i0792 and i0793 for the order of lines.

use std::net::Ipv4Addr;

use super::block::passive;
use super::line_options::change_options;
use super::{Rule, rule};
use crate::cli_switch::configure::{Command, ConfigSession, end, exit};
use crate::cli_switch::effect::{Effect, Reply};

macro_rules! options {
    () => {
        "(match (external | internal | nssa-external) | metric <1-4294967295> <0-4294967295> <0-255> <1-255> <1-65535> | route-map <word>)*"
    };
}

/// `(config-router)#`
pub(crate) const PROCESS: &[Rule] = &[
    rule("variance ! <1-128>", Effect::Unless("variance 1")),
    rule("maximum-paths ! <1-32>", Effect::Unless("maximum-paths 4")),
    rule("network <ipv4> [<ipv4>]", Effect::Run(network)),
    rule(
        concat!("redistribute (connected | rip | static) !", options!()),
        Effect::Run(change_options),
    ),
    rule(
        concat!(
            "redistribute (bgp | eigrp | ospf) <1-4294967295> !",
            options!()
        ),
        Effect::Run(change_options),
    ),
    rule("passive-interface default", Effect::Store),
    rule("passive-interface <interface>", Effect::Run(passive)),
    rule("auto-summary", Effect::Store),
    rule(
        "default-metric ! <1-4294967295> <0-4294967295> <0-255> <1-255> <1-65535>",
        Effect::Store,
    ),
    rule("distance eigrp ! <1-255> <1-255>", Effect::Store),
    rule("neighbor <ipv4> <interface>", Effect::Store),
    rule("nsf", Effect::Store),
    rule("eigrp log-neighbor-changes", Effect::OnByDefault),
    rule("eigrp router-id ! <ipv4>", Effect::Store),
    rule(
        "eigrp stub ! [receive-only | (connected | leak-map <word> | redistributed | static | summary)*]",
        Effect::Run(stub),
    ),
    rule("exit", Effect::Run(exit)),
    rule("end", Effect::Run(end)),
];

/// The wildcard mask of the class of an address.
fn class_wildcard(address: Ipv4Addr) -> u32 {
    match address.octets()[0] {
        0..128 => 0x00ff_ffff,
        128..192 => 0x0000_ffff,
        _ => 0x0000_00ff,
    }
}

/// A network is printed without host bits, and without the mask of its class.
fn network(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let Ok(address) = command.word(1).parse::<Ipv4Addr>() else {
        return Reply::Invalid(1);
    };
    let class = class_wildcard(address);
    let wildcard = command.word(2).parse().map_or(class, Ipv4Addr::to_bits);
    let network = Ipv4Addr::from(address.to_bits() & !wildcard);
    let text = if wildcard == class {
        format!("network {network}")
    } else {
        format!("network {network} {}", Ipv4Addr::from(wildcard))
    };
    if command.is_set() {
        let mut entry = command.entry(text.clone());
        entry.identity = text;
        session.block().set(entry);
    } else {
        drop(session.block().remove(&text))
    }
    Reply::Silent
}

/// Without words, connected and summary routes are advertised.
fn stub(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let identity = command.identity_text();
    if !command.is_set() {
        session.block().remove(&identity);
        return Reply::Silent;
    }
    let text = if command.words.len() == command.identity {
        format!("{identity} connected summary")
    } else {
        command.text()
    };
    session.block().set(command.entry(text));
    Reply::Silent
}
