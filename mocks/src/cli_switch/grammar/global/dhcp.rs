//! Lines about the DHCP server and relay.

use crate::cli_switch::effect::Effect;
use crate::cli_switch::grammar::block_kind::BlockKind;
use crate::cli_switch::grammar::{Rule, rule};

/// The DHCP server and relay.
pub(super) const RULES: &[Rule] = &[
    // "ip dhcp ..." in the Cisco IOS IP Addressing Services Command Reference.
    rule("ip dhcp conflict logging", Effect::OnByDefault),
    rule(
        "ip dhcp ping packets ! <0-10>",
        Effect::Unless("ip dhcp ping packets 2"),
    ),
    rule(
        "ip dhcp ping timeout ! <100-10000>",
        Effect::Unless("ip dhcp ping timeout 500"),
    ),
    rule("ip dhcp bootp ignore", Effect::Store),
    rule(
        "ip dhcp relay information (option | trust-all)",
        Effect::Store,
    ),
    rule("ip dhcp excluded-address <ipv4> [<ipv4>]", Effect::Store),
    rule("ip dhcp pool <word>", Effect::Enter(BlockKind::DhcpPool)),
];
