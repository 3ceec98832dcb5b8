//! Blocks of IS-IS, of EIGRP processes with a name, of RIP, and of paths for traffic engineering.
//!
//! Cisco IOS IP Routing: ISIS, EIGRP and RIP Command References; Multiprotocol Label Switching Command Reference, "ip explicit-path".

use super::block::passive;
use super::block_kind::BlockKind;
use super::line_options::change_options;
use super::{Rule, rule};
use crate::cli_switch::configure::{Command, ConfigSession, end, exit};
use crate::cli_switch::effect::{Effect, Reply};

macro_rules! redistribution {
    () => {
        "(ip | level-1 | level-1-2 | level-2 | metric <0-4294967295> | metric-type (external | internal) | route-map <word>)*"
    };
}

const REDISTRIBUTE: &str = concat!(
    "redistribute (connected | rip | static) !",
    redistribution!()
);
const REDISTRIBUTE_PROCESS: &str = concat!(
    "redistribute (bgp | eigrp | ospf) <1-4294967295> !",
    redistribution!()
);

/// `(config-router)#` of IS-IS.
pub(crate) const ISIS: &[Rule] = &[
    rule("net <word>", Effect::Store),
    rule(
        "is-type ! (level-1 | level-1-2 | level-2-only)",
        Effect::Unless("is-type level-1-2"),
    ),
    rule("authentication mode ! (md5 | text)", Effect::Store),
    rule("authentication key-chain ! <word>", Effect::Store),
    rule("area-password ! <word>", Effect::Store),
    rule("domain-password ! <word>", Effect::Store),
    rule(
        "metric-style ! (narrow | transition | wide [transition])",
        Effect::Unless("metric-style narrow"),
    ),
    rule("fast-flood", Effect::Store),
    rule(
        "set-overload-bit ! [on-startup (<5-86400> | wait-for-bgp)]",
        Effect::Store,
    ),
    rule(
        "max-lsp-lifetime ! <1-65535>",
        Effect::Unless("max-lsp-lifetime 1200"),
    ),
    rule(
        "lsp-refresh-interval ! <1-65535>",
        Effect::Unless("lsp-refresh-interval 900"),
    ),
    rule(
        "spf-interval ! <1-120> [<1-120000> <1-120000>]",
        Effect::Store,
    ),
    rule(
        "prc-interval ! <1-120> [<1-120000> <1-120000>]",
        Effect::Store,
    ),
    rule(
        "lsp-gen-interval ! <1-120> [<1-120000> <1-120000>]",
        Effect::Store,
    ),
    rule("hello padding", Effect::OnByDefault),
    rule("advertise passive-only", Effect::Store),
    rule("log-adjacency-changes", Effect::Store),
    rule("nsf ! (cisco | ietf)", Effect::Store),
    rule(
        "summary-address <ipv4> <mask> ! [level-1 | level-1-2 | level-2]",
        Effect::Store,
    ),
    rule(REDISTRIBUTE, Effect::Run(change_options)),
    rule(REDISTRIBUTE_PROCESS, Effect::Run(change_options)),
    rule("passive-interface default", Effect::Store),
    rule("passive-interface <interface>", Effect::Run(passive)),
    rule("default-information originate", Effect::Store),
    rule("maximum-paths ! <1-32>", Effect::Unless("maximum-paths 4")),
    rule("distance ! <1-255>", Effect::Unless("distance 115")),
    rule("bfd all-interfaces", Effect::Store),
    rule("mpls ldp (autoconfig | sync)", Effect::Store),
    rule("mpls traffic-eng router-id ! <interface>", Effect::Store),
    rule("mpls traffic-eng (level-1 | level-2)", Effect::Store),
    rule(
        "address-family ipv6 ! [unicast]",
        Effect::Enter(BlockKind::IsisFamily),
    ),
    rule("exit", Effect::Run(exit)),
    rule("end", Effect::Run(end)),
];

/// `(config-router-af)#` of IS-IS.
pub(crate) const ISIS_FAMILY: &[Rule] = &[
    rule("multi-topology ! [transition]", Effect::Store),
    rule(REDISTRIBUTE, Effect::Run(change_options)),
    rule(REDISTRIBUTE_PROCESS, Effect::Run(change_options)),
    rule("exit-address-family", Effect::Run(exit)),
    rule("exit", Effect::Run(exit)),
    rule("end", Effect::Run(end)),
];

/// `(config-router)#` of an EIGRP process with a name.
pub(crate) const EIGRP_NAMED: &[Rule] = &[
    rule(
        "address-family (ipv4 | ipv6) [unicast] [vrf <word>] autonomous-system <1-65535>",
        Effect::Enter(BlockKind::EigrpFamily),
    ),
    rule("exit", Effect::Run(exit)),
    rule("end", Effect::Run(end)),
];

/// `(config-router-af)#` of EIGRP.
pub(crate) const EIGRP_FAMILY: &[Rule] = &[
    rule(
        "af-interface (default | <interface>)",
        Effect::Enter(BlockKind::EigrpFamilyInterface),
    ),
    rule("topology base", Effect::Enter(BlockKind::EigrpTopology)),
    rule("shutdown", Effect::Store),
    rule("network <ipv4> [<ipv4>]", Effect::Store),
    rule("eigrp router-id ! <ipv4>", Effect::Store),
    rule(
        "eigrp stub ! [receive-only | (connected | leak-map <word> | redistributed | static | summary)*]",
        Effect::Store,
    ),
    rule("exit-address-family", Effect::Run(exit)),
    rule("exit", Effect::Run(exit)),
    rule("end", Effect::Run(end)),
];

/// `(config-router-af-interface)#`
pub(crate) const EIGRP_FAMILY_INTERFACE: &[Rule] = &[
    rule("summary-address <ipv4> <mask> ! [<line>]", Effect::Store),
    rule("authentication mode ! md5", Effect::Store),
    rule("authentication key-chain ! <word>", Effect::Store),
    rule(
        "hello-interval ! <1-65535>",
        Effect::Unless("hello-interval 5"),
    ),
    rule("hold-time ! <1-65535>", Effect::Unless("hold-time 15")),
    rule("passive-interface", Effect::Store),
    rule("split-horizon", Effect::OnByDefault),
    rule("next-hop-self", Effect::OnByDefault),
    rule(
        "bandwidth-percent ! <1-999999>",
        Effect::Unless("bandwidth-percent 50"),
    ),
    rule("bfd", Effect::Store),
    rule("shutdown", Effect::Store),
    rule("exit-af-interface", Effect::Run(exit)),
    rule("exit", Effect::Run(exit)),
    rule("end", Effect::Run(end)),
];

/// `(config-router-af-topology)#`
pub(crate) const EIGRP_TOPOLOGY: &[Rule] = &[
    rule("variance ! <1-128>", Effect::Unless("variance 1")),
    rule("maximum-paths ! <1-32>", Effect::Unless("maximum-paths 4")),
    rule(REDISTRIBUTE, Effect::Run(change_options)),
    rule(
        "default-metric ! <1-4294967295> <0-4294967295> <0-255> <1-255> <1-65535>",
        Effect::Store,
    ),
    rule("distance eigrp ! <1-255> <1-255>", Effect::Store),
    rule("exit-af-topology", Effect::Run(exit)),
    rule("exit", Effect::Run(exit)),
    rule("end", Effect::Run(end)),
];

/// `(config-router)#` of RIP.
pub(crate) const RIP: &[Rule] = &[
    rule("version ! <1-2>", Effect::Store),
    rule(
        "timers basic ! <1-4294967295> <1-4294967295> <0-4294967295> <1-4294967295>",
        Effect::Store,
    ),
    rule(REDISTRIBUTE, Effect::Run(change_options)),
    rule(REDISTRIBUTE_PROCESS, Effect::Run(change_options)),
    rule("passive-interface default", Effect::Store),
    rule("passive-interface <interface>", Effect::Run(passive)),
    rule("network <ipv4>", Effect::Store),
    rule("neighbor <ipv4>", Effect::Store),
    rule("default-metric ! <1-16>", Effect::Store),
    rule("default-information originate", Effect::Store),
    rule("maximum-paths ! <1-32>", Effect::Unless("maximum-paths 4")),
    rule("distance ! <1-255>", Effect::Unless("distance 120")),
    rule("auto-summary", Effect::OnByDefault),
    rule("exit", Effect::Run(exit)),
    rule("end", Effect::Run(end)),
];

/// `(cfg-ip-expl-path)#`
pub(crate) const EXPLICIT_PATH: &[Rule] = &[
    rule(
        "index <1-65535> ! (next-address [loose | strict] | exclude-address) <ipv4>",
        Effect::Store,
    ),
    rule("exit", Effect::Run(exit)),
    rule("end", Effect::Run(end)),
];

/// A path is printed with its state. Its `no` form has the name alone.
pub(super) fn explicit_path(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let identity = command.identity_text();
    if !command.is_set() {
        return session.remove(command);
    }
    session.enter(BlockKind::ExplicitPath, command);
    let root = &mut session.device.edit().root;
    if let Some(entry) = root.find_mut(&identity)
        && command.words.len() == command.identity
    {
        entry.text = format!("{identity} enable");
    }
    Reply::Silent
}
