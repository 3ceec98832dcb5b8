//! Which keys of `[instance]` have an effect, by how instances are recognized.
//!
//! A key without an effect is an error. The table in `docs/definitions.md` is generated from [`KEYS`].

use std::fmt::Write as _;

use crate::document::Table;
use crate::driver::cli::rules::InstanceKind;

/// How instances are recognized.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::driver::cli) enum InstanceForm {
    Singleton,
    Row,
    Block,
    Prefix,
    Line,
}

use InstanceForm::{Block, Line, Prefix, Row, Singleton};

impl InstanceForm {
    /// All forms, with the keys that select them.
    pub(in crate::driver::cli) const ALL: [(InstanceForm, &str); 5] = [
        (Singleton, "`singleton`"),
        (Row, "`key`"),
        (Block, "`block`"),
        (Prefix, "`prefix`"),
        (Line, "`line`"),
    ];

    fn of(kind: &InstanceKind) -> Self {
        match kind {
            InstanceKind::Singleton(_) => Singleton,
            InstanceKind::Row { .. } => Row,
            InstanceKind::Block(_) => Block,
            InstanceKind::Prefix { .. } => Prefix,
            InstanceKind::Line { .. } => Line,
        }
    }
}

const ALL: &[InstanceForm] = &[Singleton, Row, Block, Prefix, Line];
const NAMED: &[InstanceForm] = &[Row, Block, Prefix, Line];

/// The keys, and the forms of instances for which each has an effect.
pub(in crate::driver::cli) const KEYS: [(&str, &[InstanceForm]); 18] = [
    ("rows", &[Row]),
    ("headings", &[Row]),
    ("enter", &[Row]),
    ("create", &[Row]),
    ("mode", ALL),
    ("remove", NAMED),
    ("remove_empty", &[Line]),
    ("only", NAMED),
    ("reserved", NAMED),
    ("always", &[Row, Block, Prefix]),
    ("warn_removal", NAMED),
    ("prompts", ALL),
    ("codec", ALL),
    ("keep_unmanaged", ALL),
    ("replace", &[Line]),
    ("assume", &[Line]),
    ("distinct", &[Line]),
    ("other_lines", &[Singleton]),
];

/// Reports keys that have no effect for these instances.
pub(super) fn check_instance_keys(kind: &InstanceKind, table: &Table<'_>) {
    let form = InstanceForm::of(kind);
    for (key, forms) in KEYS {
        // Without a block there is no last line of a block.
        let is_without_block = key == "remove_empty" && kind.paths().is_empty();
        let has_effect = forms.contains(&form) && !is_without_block;
        if let Some(item) = table.get(key).filter(|_| !has_effect) {
            let message = format!("`{key}` has no effect for this kind of instances");
            item.error("no-effect", message);
        }
    }
}

/// The table of the keys and the forms of instances, in Markdown.
pub fn instance_key_table() -> String {
    let mut table = "| key |".to_owned();
    for (_, name) in InstanceForm::ALL {
        let _ = write!(table, " {name} |");
    }
    table.push_str("\n|---|");
    table.push_str(&"---|".repeat(InstanceForm::ALL.len()));
    table.push('\n');
    for (key, forms) in KEYS {
        let _ = write!(table, "| `{key}` |");
        for (form, _) in InstanceForm::ALL {
            table.push_str(match forms.contains(&form) {
                true => " yes |",
                false => "  |",
            });
        }
        table.push('\n');
    }
    table
}
