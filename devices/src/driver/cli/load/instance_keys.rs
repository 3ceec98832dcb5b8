//! The keys of `[instance]`, and the forms of instances for which each has an effect.

use crate::document::{At, Item, KeyValue, Named, SectionForm, Table, Template, ValueShape, keys};
use crate::driver::cli::block_path::BlockPath;
use crate::driver::cli::rules::{InstanceKind, NeededLine, Replacement};
use crate::driver::cli::template::LineTemplate;
use crate::pattern::Pattern;
use crate::read::field_path::FieldPath;
use crate::read::nested_rows::NestedRows;
use crate::value::Value;

/// How instances are recognized.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::driver) enum InstanceForm {
    Singleton,
    Row,
    Block,
    Prefix,
    NamedLines,
    Line,
}

use InstanceForm::{Block, Line, NamedLines, Prefix, Row, Singleton};

impl SectionForm for InstanceForm {
    const FORMS: &'static [(Self, &'static str)] = &[
        (Singleton, "`singleton`"),
        (Row, "`key`"),
        (Block, "`block`"),
        (Prefix, "`prefix`"),
        (NamedLines, "`named`"),
        (Line, "`line`"),
    ];
}

impl InstanceForm {
    fn of(kind: &InstanceKind) -> Self {
        match kind {
            InstanceKind::Singleton(_) => Singleton,
            InstanceKind::Row { .. } => Row,
            InstanceKind::Block(_) => Block,
            InstanceKind::Named { lines, .. } if lines.prefix.is_some() => Prefix,
            InstanceKind::Named { .. } => NamedLines,
            InstanceKind::Line { .. } => Line,
        }
    }
}

const WITH_NAMES: [InstanceForm; 5] = [Row, Block, Prefix, NamedLines, Line];
const IN_BLOCKS: [InstanceForm; 4] = [Block, Prefix, NamedLines, Line];
const UNPRINTED: [InstanceForm; 4] = [Row, Block, Prefix, NamedLines];

keys! {
    /// Where the instances are, and how they are created and removed.
    pub(in crate::driver) struct InstanceKeys at InstanceForm {
        /// The read that contains the instances.
        from: At<String>,
        /// There is exactly one instance, under any title.
        singleton: Option<String> where [Singleton],
        /// Namevars and the columns or fields that have them.
        key: Option<Named<Template>> where [Row],
        /// Instances are blocks; ` / ` separates blocks in blocks.
        block: Vec<BlockPath> where IN_BLOCKS,
        /// Instances are all lines that begin with these words.
        prefix: Option<At<LineTemplate>> where [Prefix],
        /// Instances are all lines that have the names.
        named: bool where [NamedLines],
        /// Instances are lines; the first syntax is written.
        line: Vec<LineTemplate> where [Line],
        /// Path of the list of rows or objects in the answer.
        rows: Option<At<NestedRows>> where [Row],
        /// Path of the names of the values, if each row is a list.
        headings: Option<At<FieldPath>> where [Row],
        /// Mode whose entry creates the instance.
        enter: Option<LineTemplate> where [Row],
        /// Mode in which lines are sent.
        mode: Option<BlockPath>,
        /// Lines, or the request, that create an instance.
        create: Vec<LineTemplate> where [Row, NamedLines],
        /// Lines, or the form of the request, that remove an instance; `false`: none.
        remove: RemovalLines where WITH_NAMES = RemovalLines::default(),
        /// Lines of the top level that come before those of the type, and stay.
        needs: Vec<NeededLine>,
        /// Line for the last line of a block.
        remove_empty: Option<LineTemplate> where [Line],
        /// Patterns of the names of the type.
        only: Named<CompleteName> where WITH_NAMES,
        /// Patterns of the names of instances that cannot be removed.
        permanent: Named<CompleteName> where WITH_NAMES,
        /// Instances that belong to the device.
        reserved: Option<ReservedKeys> where WITH_NAMES,
        /// An instance exists even if it is not printed.
        always: bool where UNPRINTED,
        /// Warning before the instance is removed.
        warn: Option<LineTemplate> where WITH_NAMES,
        /// The command may ask for confirmation.
        prompts: bool,
        /// Value formats of attributes without a section.
        codec: Named<At<String>>,
        /// `false`: values that the catalog does not set are not repeated.
        keep_unmanaged: bool = true,
        /// `remove-first`: a changed line is removed before the new one is sent. `remove-equal`: also a
        /// line that differs in the last namevar only, because the device refuses the second one.
        replace: Option<Replacement> where [Line],
        /// Values for a line that neither catalog nor device has.
        assume: Named<At<Value>> where [Line],
        /// Lines of the type that no attribute expresses.
        other_lines: Vec<LineTemplate> where [Singleton],
    }
}

keys! {
    /// Instances that belong to the device.
    pub(in crate::driver) struct ReservedKeys {
        /// Attribute with the number.
        attr: String,
        /// The reserved numbers.
        ranges: At<String>,
    }
}

/// The lines that remove an instance, or none: it is permanent.
#[derive(Clone, Debug, Default)]
pub(in crate::driver) struct RemovalLines {
    pub(super) is_permanent: bool,
    pub(super) lines: Vec<LineTemplate>,
}

impl KeyValue for RemovalLines {
    fn declare(shape: &ValueShape) {
        Vec::<LineTemplate>::declare(shape);
        bool::declare(shape);
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        if item.as_bool() == Some(false) {
            return Some(Self {
                is_permanent: true,
                lines: Vec::new(),
            });
        }
        let lines = Vec::read(item)?;
        Some(Self {
            is_permanent: false,
            lines,
        })
    }
}

/// A pattern of complete names.
#[derive(Clone, Debug)]
pub(in crate::driver) struct CompleteName(pub(super) At<Pattern>);

impl KeyValue for CompleteName {
    fn declare(shape: &ValueShape) {
        Pattern::declare(shape);
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        let value = item.compile(&format!("^(?:{})$", item.string()?))?;
        let span = item.span.clone();
        Some(Self(At { value, span }))
    }
}

/// Reports keys that have no effect for these instances.
pub(super) fn check_instance_keys(kind: &InstanceKind, table: &Table<'_>) {
    let form = InstanceForm::of(kind);
    InstanceKeys::KEYS.check(form, table);
    if let Some(item) = table.get("remove_empty")
        && form == Line
        && kind.paths().is_empty()
    {
        let message = "`remove_empty` has no effect: the lines are in no block";
        item.error("no-effect", message);
    }
}
