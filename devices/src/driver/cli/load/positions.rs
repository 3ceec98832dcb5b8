//! Which keys of `[attr.x]` have an effect, by the position of the value.
//!
//! A key without an effect is an error.

use crate::document::Table;
use crate::driver::cli::rules::{CliAttributeRule, CliLocation};
use crate::driver::key_table::KeyTable;

/// The position of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::driver) enum Position {
    OwnLine,
    InstanceLine,
    Cell,
    Text,
    Exists,
    OtherBlock,
    InnerBlock,
    SharedLine,
    Order,
}

use Position::{
    Cell, Exists, InnerBlock, InstanceLine, Order, OtherBlock, OwnLine, SharedLine, Text,
};

impl Position {
    /// The position of a rule; `None` if the platform has no value.
    fn of(rule: &CliAttributeRule) -> Option<Self> {
        if rule.inside.is_some() {
            return Some(SharedLine);
        }
        Some(match rule.location {
            CliLocation::Lines => OwnLine,
            CliLocation::Instance => InstanceLine,
            CliLocation::Cell(_) => Cell,
            CliLocation::Opaque { .. } => Text,
            CliLocation::Exists(_) => Exists,
            CliLocation::Elsewhere(_) => OtherBlock,
            CliLocation::InnerBlock => InnerBlock,
            CliLocation::Order(_) => Order,
            CliLocation::NumberOf(_) | CliLocation::Nowhere => return None,
        })
    }
}

const WRITTEN: &[Position] = &[OwnLine, Cell, Text, Exists, OtherBlock, InnerBlock];
const SENT: &[Position] = &[OwnLine, Cell, Text, Exists, OtherBlock, InnerBlock, Order];
const COMPARED: &[Position] = &[OwnLine, InstanceLine, Cell, Exists, OtherBlock, SharedLine];
const LISTS: &[Position] = &[OwnLine, InstanceLine, Cell, OtherBlock, SharedLine];
const ALL: &[Position] = &[
    OwnLine,
    InstanceLine,
    Cell,
    Text,
    Exists,
    OtherBlock,
    InnerBlock,
    SharedLine,
    Order,
];

/// The keys, and the positions where each has an effect.
pub(in crate::driver) const TABLE: KeyTable<Position> = KeyTable {
    forms: &[
        (OwnLine, "`line`, `set`"),
        (InstanceLine, "the line of the instance"),
        (Cell, "`column`, `field`"),
        (Text, "`opaque`"),
        (Exists, "`exists`"),
        (OtherBlock, "`elsewhere`"),
        (InnerBlock, "`sub` alone"),
        (SharedLine, "`inside`"),
        (Order, "`order`"),
    ],
    keys: &[
        ("line", &[OwnLine, Cell, Exists, OtherBlock]),
        ("set", &[OwnLine, Cell, Exists, SharedLine]),
        ("follows", &[OwnLine]),
        ("more", &[OwnLine, Cell]),
        ("less", &[OwnLine, Cell]),
        ("many", &[OwnLine, Cell]),
        ("default", &[OwnLine]),
        ("no", &[OwnLine, Cell, Exists]),
        ("identity", &[OwnLine]),
        ("replace", &[OwnLine, Cell]),
        ("skip", &[OwnLine, InstanceLine]),
        ("with", &[OwnLine, Cell, OtherBlock]),
        ("sub", &[OwnLine, Text, Exists, InnerBlock]),
        ("else", &[OwnLine, InstanceLine, Cell]),
        ("adds", &[OwnLine]),
        ("left", &[OtherBlock]),
        ("delimiters", &[Text]),
        ("when", &[Cell, SharedLine]),
        ("pattern", &[Cell, SharedLine]),
        ("codec", LISTS),
        ("alike", COMPARED),
        ("absent", ALL),
        ("implied", &[OwnLine, SharedLine]),
        ("compatible", &[SharedLine]),
        ("initial", WRITTEN),
        ("at_most", LISTS),
        ("first", WRITTEN),
        ("last", WRITTEN),
        ("prompts", SENT),
        ("warn", SENT),
        ("clears", &[OwnLine]),
        ("no_effect", ALL),
        ("values", ALL),
        ("write_only", &[OwnLine, InstanceLine, SharedLine]),
    ],
};

/// Reports keys that have no effect where the value is.
pub(super) fn check_positions(rule: &CliAttributeRule, table: &Table<'_>) {
    if let Some(position) = Position::of(rule).filter(|_| rule.is_applied()) {
        TABLE.check(position, table);
    }
}
