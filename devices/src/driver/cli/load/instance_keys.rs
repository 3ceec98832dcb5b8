//! Which keys of `[instance]` have an effect, by how instances are recognized.
//!
//! A key without an effect is an error.

use crate::document::Table;
use crate::driver::cli::rules::InstanceKind;
use crate::driver::key_table::KeyTable;

/// How instances are recognized.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::driver) enum InstanceForm {
    Singleton,
    Row,
    Block,
    Prefix,
    Named,
    Line,
}

use InstanceForm::{Block, Line, Named, Prefix, Row, Singleton};

impl InstanceForm {
    fn of(kind: &InstanceKind) -> Self {
        match kind {
            InstanceKind::Singleton(_) => Singleton,
            InstanceKind::Row { .. } => Row,
            InstanceKind::Block(_) => Block,
            InstanceKind::Named { lines, .. } if lines.prefix.is_some() => Prefix,
            InstanceKind::Named { .. } => Named,
            InstanceKind::Line { .. } => Line,
        }
    }
}

const ALL: &[InstanceForm] = &[Singleton, Row, Block, Prefix, Named, Line];
const WITH_NAMES: &[InstanceForm] = &[Row, Block, Prefix, Named, Line];

/// The keys, and the forms of instances for which each has an effect.
pub(in crate::driver) const TABLE: KeyTable<InstanceForm> = KeyTable {
    forms: &[
        (Singleton, "`singleton`"),
        (Row, "`key`"),
        (Block, "`block`"),
        (Prefix, "`prefix`"),
        (Named, "`named`"),
        (Line, "`line`"),
    ],
    keys: &[
        ("rows", &[Row]),
        ("headings", &[Row]),
        ("enter", &[Row]),
        ("create", &[Row, Named]),
        ("mode", ALL),
        ("remove", WITH_NAMES),
        ("remove_empty", &[Line]),
        ("only", WITH_NAMES),
        ("permanent", WITH_NAMES),
        ("reserved", WITH_NAMES),
        ("always", &[Row, Block, Prefix, Named]),
        ("warn_removal", WITH_NAMES),
        ("prompts", ALL),
        ("codec", ALL),
        ("keep_unmanaged", ALL),
        ("replace", &[Line]),
        ("assume", &[Line]),
        ("distinct", &[Line]),
        ("other_lines", &[Singleton]),
    ],
};

/// Reports keys that have no effect for these instances.
pub(super) fn check_instance_keys(kind: &InstanceKind, table: &Table<'_>) {
    let form = InstanceForm::of(kind);
    TABLE.check(form, table);
    if let Some(item) = table.get("remove_empty")
        && form == Line
        && kind.paths().is_empty()
    {
        let message = "`remove_empty` has no effect: the lines are in no block";
        item.error("no-effect", message);
    }
}
