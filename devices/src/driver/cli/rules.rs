//! The rules of a type made of command lines, as they stand in its file.

use std::ops::Range;
use std::sync::Arc;

use crate::map::IndexMap;

use super::template::LineTemplate;
use crate::diagnostic::Severity;
use crate::driver::codec::{Codec, RangeSet};
use crate::model::AttributeModel;
use crate::pattern::Pattern;
use crate::value::{Attributes, Name, Value};

/// The read whose tree is the device's configuration.
pub const CONFIG: &str = "config";

/// How instances are recognised, created and removed.
#[derive(Clone, Debug)]
pub struct CliInstanceRule {
    pub span: Range<usize>,
    /// The read that shows them.
    pub from: String,
    pub kind: InstanceKind,
    /// The mode in which lines are sent, outermost first; where it is not the block itself.
    pub mode: Option<LineTemplate>,
    pub remove: Vec<LineTemplate>,
    /// Sent instead for the last instance of a block, which then goes with it.
    pub remove_empty: Option<LineTemplate>,
    /// A changed line is removed before it is sent again.
    pub replace_first: bool,
    /// What the device's line says beyond the wanted attributes survives when it is sent again.
    pub keep_unmanaged: bool,
    pub reserved: Option<Reserved>,
    /// An instance whose block is not printed is there all the same, with nothing set.
    pub always: bool,
    /// Values for a line that neither catalog nor device gives.
    pub assume: Attributes,
    pub prompts: bool,
}

#[derive(Clone, Debug)]
pub enum InstanceKind {
    /// One instance; its name is a label.
    Singleton(String),
    /// A row of a table or a stanza; namevar and column.
    Row {
        key: Vec<(String, String)>,
        /// Entering this mode creates the instance.
        enter: Option<LineTemplate>,
    },
    /// A block of the configuration.
    Block(Vec<LineTemplate>),
    /// A line of the configuration, or of a block of it.
    Line {
        block: Vec<LineTemplate>,
        spellings: Vec<LineTemplate>,
    },
}

/// Instances that cannot be managed.
#[derive(Clone, Debug)]
pub struct Reserved {
    pub attribute: String,
    /// As the author wrote it, for messages.
    pub text: String,
    pub ranges: Vec<(i64, i64)>,
}

/// How an attribute is read and written.
#[derive(Clone, Debug)]
pub struct CliAttributeRule {
    pub name: Name,
    pub span: Range<usize>,
    pub location: CliLocation,
    pub lines: Vec<LineTemplate>,
    /// Lines for certain values, by their name in the model; `None`: nothing is sent.
    pub set: IndexMap<String, Option<LineTemplate>>,
    /// For lists that do not fit one line: the line that adds to what was sent.
    pub more: Option<LineTemplate>,
    pub many: bool,
    pub absent: Option<Value>,
    /// What a new instance has: not sent when one is created.
    pub initial: Option<Value>,
    pub default_on: bool,
    pub no: NoForm,
    pub replace_first: bool,
    pub skip: Vec<String>,
    pub prompts: bool,
    pub warn: Option<LineTemplate>,
    /// Other attributes in the same line.
    pub with: Vec<Name>,
    /// Blocks inside the instance's block, by its spelling, in which the lines stand; empty for
    /// the block itself.
    pub sub: Vec<String>,
    /// The attribute whose line this one is part of.
    pub inside: Option<String>,
    pub not_applied: Option<NotApplied>,
    pub misleading: Option<Misleading>,
    /// Values that the platform does not have, each with the reason (which may be empty).
    pub unsupported_values: IndexMap<String, String>,
    /// Most elements that the device keeps.
    pub at_most: Option<usize>,
    /// Values, by their name, whose lines go before those of all other attributes.
    pub first: Vec<String>,
    /// Values that the device may have instead of a wanted one.
    pub equivalents: IndexMap<String, Vec<EquivalentValue>>,
    pub fallback: Option<Fallback>,
}

/// Where an attribute's value is found.
#[derive(Clone, Debug)]
pub enum CliLocation {
    /// In lines of its own.
    Lines,
    /// In the line or the key of the instance.
    Instance,
    Cell(Cell),
    /// In the free text that follows these words.
    Opaque {
        words: String,
        delimiters: Vec<char>,
    },
    /// True when a line begins with one of these texts.
    Exists(Vec<String>),
    /// In lines of other blocks.
    Elsewhere(LineTemplate),
    /// It is the number at the end of another attribute, and never set.
    NumberOf(String),
    /// Nowhere: it is not supported.
    Nowhere,
}

/// A column of a table or a key of a stanza.
#[derive(Clone, Debug)]
pub struct Cell {
    pub name: String,
    /// By the value's name: how the cell shows it. First match wins.
    pub when: IndexMap<String, Pattern>,
    /// The first group is the value.
    pub pattern: Option<Pattern>,
}

/// A value, or all texts of a kind.
#[derive(Clone, Debug)]
pub enum EquivalentValue {
    Value(Value),
    Pattern(Pattern),
}

impl EquivalentValue {
    pub fn is(&self, actual: Option<&Value>) -> bool {
        match self {
            EquivalentValue::Value(value) => Some(value) == actual,
            EquivalentValue::Pattern(pattern) => actual
                .and_then(Value::as_str)
                .is_some_and(|text| pattern.is_match(text)),
        }
    }
}

/// Where else a value stands when there is no line.
#[derive(Clone, Debug)]
pub enum Fallback {
    /// In another read.
    Cell {
        read: String,
        key: String,
        cell: Cell,
    },
    /// In a line outside of all blocks, which says what the instances have by themselves.
    Line {
        line: LineTemplate,
        /// By namevar: which instances it is about.
        only: Vec<(String, Pattern)>,
    },
}

/// What undoes a line.
#[derive(Clone, Debug)]
pub enum NoForm {
    /// `no` and the literal words.
    Head,
    /// `no` and the line as the device has it.
    Full,
    Text(LineTemplate),
}

/// An attribute that is not applied.
#[derive(Clone, Debug)]
pub struct NotApplied {
    pub severity: Severity,
    pub reason: String,
}

/// What an attribute does instead of what it seems to do.
#[derive(Clone, Debug)]
pub struct Misleading {
    /// Other attributes with the names of values: all must have one of theirs.
    pub when: Vec<(String, Vec<String>)>,
    pub effect: String,
}

impl CliAttributeRule {
    pub fn nowhere(name: &str, span: Range<usize>) -> Self {
        Self {
            name: name.into(),
            span,
            location: CliLocation::Nowhere,
            lines: Vec::new(),
            set: IndexMap::default(),
            more: None,
            many: false,
            absent: None,
            initial: None,
            default_on: false,
            no: NoForm::Head,
            replace_first: false,
            skip: Vec::new(),
            prompts: false,
            warn: None,
            with: Vec::new(),
            sub: Vec::new(),
            inside: None,
            not_applied: None,
            misleading: None,
            unsupported_values: IndexMap::default(),
            at_most: None,
            first: Vec::new(),
            equivalents: IndexMap::default(),
            fallback: None,
        }
    }

    /// Whether its line tells its value, as opposed to being there or not.
    pub fn has_own_hole(&self) -> bool {
        self.lines
            .iter()
            .any(|line| line.is_tuple() || line.attributes().contains(&self.name.as_str()))
    }

    pub fn takes_true(&self, known: &AttributeModel) -> bool {
        known.canonicalize(&true.into()).is_ok()
    }

    /// Whether it is applied at all.
    pub fn is_applied(&self) -> bool {
        self.not_applied.is_none()
    }
}

/// The numbers that a range codec knows, if the codec is one.
pub fn range_set(codec: Option<&Arc<Codec>>) -> Option<RangeSet> {
    match codec.map(AsRef::as_ref) {
        Some(Codec::RangeSet(ranges)) => Some(*ranges),
        _ => None,
    }
}
