//! Lines of classes and policies (Cisco IOS Quality of Service Solutions Command Reference), tracked objects and applets.

use super::block_kind::BlockKind;
use super::{Rule, rule};
use crate::cli_switch::configure::{end, exit};
use crate::cli_switch::effect::Effect;

/// `(config-cmap)#`
pub(crate) const CLASS_MAP: &[Rule] = &[
    rule("description ! <line>", Effect::Store),
    rule(
        "match [not] (any | access-group (name <word> | <1-2699>) | class-map <word> | cos <0-7> (<0-7>)* | [ip] (dscp | precedence) <word> (<word>)* | input-interface <interface> | protocol <word> | qos-group <0-99> | vlan <vlan-list>)",
        Effect::Store,
    ),
    rule("exit", Effect::Run(exit)),
    rule("end", Effect::Run(end)),
];

/// `(config-pmap)#`
pub(crate) const POLICY_MAP: &[Rule] = &[
    rule("description ! <line>", Effect::Store),
    rule("class <word>", Effect::Enter(BlockKind::PolicyClass)),
    rule("exit", Effect::Run(exit)),
    rule("end", Effect::Run(end)),
];

/// `(config-pmap-c)#`
pub(crate) const POLICY_CLASS: &[Rule] = &[
    rule(
        "priority ! [level <1-2>] [percent <1-100> | <8-2000000>]",
        Effect::Store,
    ),
    rule(
        "bandwidth ! (<8-2000000> | percent <1-100> | remaining (percent <1-100> | ratio <1-1000>))",
        Effect::Store,
    ),
    rule(
        "shape ! (average | peak) (<8000-154400000000> | percent <1-100>)",
        Effect::Store,
    ),
    rule("police ! <line>", Effect::Store),
    rule("set [ip] dscp ! <word>", Effect::Store),
    rule("set cos ! <0-7>", Effect::Store),
    rule(
        "queue-limit ! <1-8192000> [bytes | ms | packets]",
        Effect::Store,
    ),
    rule("fair-queue ! [<16-4096>]", Effect::Store),
    rule(
        "random-detect ! [dscp-based | precedence-based]",
        Effect::Store,
    ),
    rule("service-policy ! <word>", Effect::Store),
    rule("exit", Effect::Run(exit)),
    rule("end", Effect::Run(end)),
];

/// `(config-track)#`: Cisco IOS IP Application Services Command Reference, "track".
pub(crate) const TRACK: &[Rule] = &[
    rule("object <1-1000> ! [not | weight <1-255>]", Effect::Store),
    rule(
        "delay ! (up <0-180> [down <0-180>] | down <0-180> [up <0-180>])",
        Effect::Store,
    ),
    rule("exit", Effect::Run(exit)),
    rule("end", Effect::Run(end)),
];

/// `(config-applet)#`: Cisco IOS Embedded Event Manager Command Reference.
pub(crate) const APPLET: &[Rule] = &[
    rule("description ! <line>", Effect::Store),
    rule(
        "event ! (cli | interface | ioswdsysmon | none | oir | snmp | syslog | timer | track) [<line>]",
        Effect::Store,
    ),
    rule("action <word> ! <line>", Effect::Store),
    rule("exit", Effect::Run(exit)),
    rule("end", Effect::Run(end)),
];
