//! Lines about protocols that find neighbors.

use crate::cli_switch::effect::Effect;
use crate::cli_switch::grammar::{Rule, rule};

/// CDP and LLDP.
pub(super) const RULES: &[Rule] = &[
    // CDP and LLDP: published help of `cdp timer ?` with the defaults (cciepursuit, 2007-07-07); recording i0802, "lldp run".
    rule("cdp run", Effect::OnByDefault),
    rule("cdp timer ! <5-254>", Effect::Unless("cdp timer 60")),
    rule(
        "cdp holdtime ! <10-255>",
        Effect::Unless("cdp holdtime 180"),
    ),
    rule("cdp advertise-v2", Effect::OnByDefault),
    rule("cdp log mismatch duplex", Effect::OnByDefault),
    rule("lldp run", Effect::Store),
    rule("lldp timer ! <5-65534>", Effect::Unless("lldp timer 30")),
    rule(
        "lldp holdtime ! <0-65535>",
        Effect::Unless("lldp holdtime 120"),
    ),
];
