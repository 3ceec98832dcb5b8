//! Lines about the web server and SSH.

use crate::cli_switch::effect::Effect;
use crate::cli_switch::grammar::{Rule, rule};

/// The web server and SSH.
pub(super) const RULES: &[Rule] = &[
    // The web server: recordings i0802 and i0810, both forms are printed.
    rule("ip http server", Effect::BothForms),
    rule(
        "ip http authentication ! (aaa | enable | local)",
        Effect::Unless("ip http authentication enable"),
    ),
    rule("ip http secure-server", Effect::BothForms),
    rule("ip ssh version ! (1 | 2)", Effect::Store),
    rule(
        "ip ssh time-out ! <1-120>",
        Effect::Unless("ip ssh time-out 120"),
    ),
    rule(
        "ip ssh authentication-retries ! <0-5>",
        Effect::Unless("ip ssh authentication-retries 3"),
    ),
    rule("ip ssh source-interface ! <interface>", Effect::Store),
];
