//! Lines of the global configuration mode, in the order in which the running configuration prints them.

mod access;
mod banner;
pub(super) mod bgp_list;
mod blocks;
mod clock;
mod dhcp;
mod ip;
pub(crate) mod keys;
mod logging;
mod management;
mod mpls;
mod multicast;
mod naming;
mod nat;
mod neighbors;
mod ntp;
mod ports;
mod routing;
mod servers;
mod snmp;
pub(crate) mod spanning_tree;
mod system;

use std::sync::LazyLock;

pub(crate) use banner::set_banner;

use super::block_kind::BlockKind;
use super::{Rule, RuleScope, access_list, crypto, rule};
use crate::cli_switch::configure::{end, exit};
use crate::cli_switch::effect::Effect;

/// The parts of the configuration, in its order.
const ORDER: &[&[Rule]] = &[
    system::IDENTITY,
    logging::DESTINATIONS,
    access::RULES,
    &[rule("archive", Effect::Enter(BlockKind::Archive))],
    ports::RULES,
    dhcp::RULES,
    blocks::POLICIES,
    multicast::ROUTING,
    mpls::RULES,
    crypto::GLOBAL,
    clock::RULES,
    ip::FORWARDING,
    naming::SERVERS,
    access::LOGIN,
    ip::VERSION_6,
    naming::DOMAINS,
    ports::VTP,
    spanning_tree::RULES,
    blocks::PORTS,
    routing::PROCESSES,
    ports::DOT1X,
    neighbors::RULES,
    ip::HOST,
    nat::RULES,
    bgp_list::RULES,
    multicast::PIM,
    mpls::PATHS,
    management::RULES,
    routing::ROUTES,
    access_list::GLOBAL,
    servers::SOURCES,
    logging::HOSTS,
    snmp::RULES,
    servers::RULES,
    banner::RULES,
    &[
        // Cisco IOS Configuration Fundamentals Command Reference, "alias".
        rule("alias <word> <word> ! <line>", Effect::Store),
    ],
    blocks::LINES,
    ntp::RULES,
    system::SCHEDULER,
    &[
        rule("exit", Effect::Run(exit)),
        rule("end", Effect::Run(end)),
    ],
];

/// All rules of the mode.
pub(crate) static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| ORDER.concat());

fn has_routing(scope: &RuleScope<'_>) -> bool {
    scope.profile.has_routing
}

fn has_switching(scope: &RuleScope<'_>) -> bool {
    scope.profile.has_switching
}

fn has_port_types(scope: &RuleScope<'_>) -> bool {
    scope.profile.has_port_types()
}

fn is_router(scope: &RuleScope<'_>) -> bool {
    !scope.profile.has_switching
}

fn is_ios_xe(scope: &RuleScope<'_>) -> bool {
    scope.profile.is_ios_xe
}

/// IOS 12 configures a server by its address in one line.
fn has_named_servers(scope: &RuleScope<'_>) -> bool {
    !scope.profile.is_release_12()
}

fn is_classic_ios(scope: &RuleScope<'_>) -> bool {
    !scope.profile.is_ios_xe
}
