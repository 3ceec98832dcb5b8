//! The rules of a type with command lines, as loaded from its file.

use std::ops::Range;
use std::sync::Arc;

use crate::map::IndexMap;

use super::block_path::BlockPath;
use super::row_rule::RowRule;
use super::template::LineTemplate;
use crate::document::At;
use crate::driver::codec::{Codec, RangeSet};
use crate::driver::explanation::NotApplied;
use crate::driver::offline_rule::RowBlocks;
use crate::model::AttributeModel;
use crate::pattern::Pattern;
use crate::value::{Attributes, Name, Value};

pub(crate) use crate::read::CONFIG;

/// How instances are recognized, created and removed.
#[derive(Clone, Debug)]
pub(crate) struct CliInstanceRule {
    pub(crate) span: Range<usize>,
    /// The read that lists them.
    pub(crate) from: String,
    pub(crate) kind: InstanceKind,
    /// The mode in which lines are sent, outermost first, if it differs from the block.
    pub(crate) mode: Option<BlockPath>,
    /// Lines that create an instance.
    pub(crate) create: Vec<LineTemplate>,
    pub(crate) remove: Vec<LineTemplate>,
    /// Lines of the top level that the device needs before those of the type. They are never removed.
    pub(crate) needs: Vec<NeededLine>,
    /// Sent instead for the last instance of a block; removes the block.
    pub(crate) remove_empty: Option<LineTemplate>,
    /// What is removed before a line is sent.
    pub(crate) replace: Option<Replacement>,
    /// Words of the device's line that are not managed are preserved when the line is sent again.
    pub(crate) keep_unmanaged: bool,
    pub(crate) reserved: Option<Reserved>,
    /// By namevar: patterns of the names that instances of the type have.
    pub(crate) only: Vec<(String, Pattern)>,
    /// Instances can be changed, but not removed.
    pub(crate) is_permanent: bool,
    /// The names of instances that every device has and that cannot be removed: ports.
    pub(crate) permanent: Vec<(String, Pattern)>,
    /// An instance without a printed block exists, with no attributes set.
    pub(crate) always: bool,
    /// Values for a line if catalog and device have none.
    pub(crate) assume: Attributes,
    pub(crate) prompts: bool,
    /// A warning before the instance is removed.
    pub(crate) warn: Option<LineTemplate>,
    /// Lines of the type that no attribute expresses.
    pub(crate) other_lines: Vec<LineTemplate>,
    /// In the form of a table for the configuration: which blocks are instances.
    pub(crate) row_blocks: Option<RowBlocks>,
}

/// What is removed before a line of an instance is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Replacement {
    /// The line of the instance.
    OldLine,
    /// Also a line that differs in the last name of the instance only: a block has no two of them.
    EqualLines,
}

#[derive(Clone, Debug)]
pub(crate) enum InstanceKind {
    /// One instance; its title is a label.
    Singleton(String),
    /// A row of a table, a stanza or a JSON object; namevar and cell.
    Row {
        key: Vec<(String, String)>,
        rows: RowRule,
        /// Entering this mode creates the instance.
        enter: Option<LineTemplate>,
    },
    /// A block of the configuration.
    Block(Vec<BlockPath>),
    /// All lines of the configuration, or of a block of it, that have the names.
    Named {
        block: Vec<BlockPath>,
        lines: NamedLines,
    },
    /// A line of the configuration, or of a block of it.
    Line {
        block: Vec<BlockPath>,
        spellings: Vec<LineTemplate>,
    },
}

impl CliInstanceRule {
    /// The lines that remove an instance of a syntax.
    pub(crate) fn removal(&self, spelling: usize) -> &[LineTemplate] {
        if self.kind.has_forms() {
            self.remove.get(spelling..=spelling).unwrap_or_default()
        } else {
            &self.remove
        }
    }
}

impl InstanceKind {
    /// The places of the instances or of the blocks around them.
    pub(crate) fn paths(&self) -> &[BlockPath] {
        match self {
            InstanceKind::Block(paths)
            | InstanceKind::Named { block: paths, .. }
            | InstanceKind::Line { block: paths, .. } => paths,
            InstanceKind::Singleton(_) | InstanceKind::Row { .. } => &[],
        }
    }

    /// Whether lines stand in blocks and at the top level, each with a syntax of its own.
    pub(crate) fn has_forms(&self) -> bool {
        let paths = self.paths();
        self.is_line() && paths.len() > 1 && paths.iter().any(BlockPath::is_top_level)
    }

    /// The syntaxes of lines in the block with this index.
    pub(crate) fn spellings_in(&self, block: usize) -> &[LineTemplate] {
        if self.has_forms() {
            self.lines().get(block..=block).unwrap_or_default()
        } else {
            self.lines()
        }
    }

    /// Whether a syntax of the place of instances has an attribute.
    pub(crate) fn has_attribute(&self, spelling: usize, name: &str) -> bool {
        let mut headers = self.paths().get(spelling).into_iter();
        let mut lines = self.spellings_in(spelling).iter();
        headers.any(|path| path.has_attribute(name)) || lines.any(|line| line.has_attribute(name))
    }

    pub(crate) fn is_singleton(&self) -> bool {
        matches!(self, InstanceKind::Singleton(_))
    }

    pub(crate) fn is_row(&self) -> bool {
        matches!(self, InstanceKind::Row { .. })
    }

    /// Whether each instance is a line.
    pub(crate) fn is_line(&self) -> bool {
        matches!(self, InstanceKind::Line { .. })
    }

    /// The places of instances that are blocks.
    pub(crate) fn blocks(&self) -> Option<&[BlockPath]> {
        match self {
            InstanceKind::Block(paths) => Some(paths),
            _ => None,
        }
    }

    /// The namevars of rows, and the cells that have them.
    pub(crate) fn key(&self) -> &[(String, String)] {
        match self {
            InstanceKind::Row { key, .. } => key,
            _ => &[],
        }
    }

    /// The mode whose entry creates a row.
    pub(crate) fn enter(&self) -> Option<&LineTemplate> {
        match self {
            InstanceKind::Row { enter, .. } => enter.as_ref(),
            _ => None,
        }
    }

    /// The syntaxes of instances that are lines.
    pub(crate) fn lines(&self) -> &[LineTemplate] {
        match self {
            InstanceKind::Line { spellings, .. } => spellings,
            _ => &[],
        }
    }

    /// The common beginning of the lines of an instance.
    pub(crate) fn prefix(&self) -> Option<&LineTemplate> {
        self.named()?.prefix.as_ref()
    }

    pub(crate) fn named(&self) -> Option<&NamedLines> {
        match self {
            InstanceKind::Named { lines, .. } => Some(lines),
            _ => None,
        }
    }

    /// The templates of the lines that have the names of an instance.
    pub(crate) fn templates(&self) -> Vec<&LineTemplate> {
        let blocks = self.paths().iter().flat_map(BlockPath::templates);
        let openings = self.named().into_iter().flat_map(|lines| &lines.openings);
        let own = self.lines().iter().chain(openings).chain(self.enter());
        blocks.chain(own).collect()
    }
}

/// How the lines of an instance that each have the names are recognized.
#[derive(Clone, Debug, Default)]
pub(crate) struct NamedLines {
    /// The names that each line has.
    pub(crate) names: Vec<String>,
    /// The beginnings of lines, up to the last name.
    pub(crate) openings: Vec<LineTemplate>,
    /// The common beginning of all lines.
    pub(crate) prefix: Option<LineTemplate>,
}

impl NamedLines {
    /// Adds the beginning of a line.
    pub(crate) fn add_opening(&mut self, line: &LineTemplate) {
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        let opening = line.opening(&names);
        if !self.openings.iter().any(|known| known.is_like(&opening)) {
            self.openings.push(opening);
        }
    }
}

/// The lines that move an instance behind another one, and before the first one.
#[derive(Clone, Debug)]
pub(crate) struct MoveRule {
    pub(crate) after: LineTemplate,
    pub(crate) before: LineTemplate,
}

/// Reserved instances that cannot be managed.
#[derive(Clone, Debug)]
pub(crate) struct Reserved {
    pub(crate) attribute: String,
    /// The source text, for messages.
    pub(crate) text: String,
    pub(crate) ranges: Vec<(i64, i64)>,
}

/// The name of the lines that members have after the removal of their instance.
pub(crate) const REMOVED: &str = "absent";

/// How an attribute is read and written.
#[derive(Clone, Debug, Default)]
pub(crate) struct CliAttributeRule {
    pub(crate) name: Name,
    pub(crate) span: Range<usize>,
    pub(crate) location: CliLocation,
    pub(crate) lines: Vec<LineTemplate>,
    /// Global lines, one for each syntax of `lines`: a new line has the syntax whose global line
    /// the device has.
    pub(crate) follows: Vec<LineTemplate>,
    /// Lines for certain values, by their name in the model. `None`: no line is sent.
    pub(crate) set: IndexMap<String, Option<LineTemplate>>,
    /// The words that several lines of `set` begin with: another word after them is a value that is
    /// not understood.
    pub(crate) value_heads: Vec<LineTemplate>,
    /// For sets of numbers: the lines that add numbers to the set of the device and remove some.
    pub(crate) more: Option<LineTemplate>,
    pub(crate) less: Option<LineTemplate>,
    pub(crate) many: bool,
    pub(crate) absent: Option<Value>,
    /// The value if the shared line has no word for the attribute.
    pub implied: Option<Value>,
    /// For lines in the blocks of members: the values, by name, that members of one instance may
    /// have at the same time. Empty: all.
    pub(crate) compatible: Vec<Vec<String>>,
    /// The device prints a line for each value; only a new instance has `absent` without a line.
    pub(crate) is_always_printed: bool,
    pub(crate) no: NoForm,
    /// The beginning of a line that identifies it among those of the list; only this part is sent
    /// to remove the line.
    pub(crate) identity: Option<Pattern>,
    pub(crate) replace_first: bool,
    pub(crate) skip: Vec<String>,
    pub(crate) prompts: bool,
    pub(crate) warn: Option<LineTemplate>,
    /// Attributes whose lines the device removes when this value changes.
    pub(crate) clears: Vec<Name>,
    /// Lines that the device adds with a value, by its name, and removes with another one. For members,
    /// by [`REMOVED`]: those in their blocks after the removal of the instance.
    pub(crate) adds: IndexMap<String, Vec<LineTemplate>>,
    /// Other attributes in the same line.
    pub(crate) with: Vec<Name>,
    /// The inner blocks that contain the lines, outermost first, by the spelling of the instance's
    /// block; one for all spellings. Empty for the instance's block itself.
    pub(crate) sub: Vec<Vec<String>>,
    /// The attribute whose line contains this one.
    pub(crate) inside: Option<String>,
    pub(crate) not_applied: Option<NotApplied>,
    pub(crate) misleading: Option<Box<Misleading>>,
    /// Attributes with the names of values: with these the attribute has no effect. What the
    /// device shows of it is not its value then, and any value is in sync.
    pub(crate) no_effect: Vec<(String, Vec<String>)>,
    /// Unsupported values, each with the reason (may be empty).
    pub(crate) unsupported_values: IndexMap<String, String>,
    /// The valid values on the platform, if it has fewer than the model.
    pub(crate) narrowed: Option<Box<AttributeModel>>,
    /// Maximum number of elements that the device stores.
    pub(crate) at_most: Option<usize>,
    /// Values, by name, whose lines are sent before those of all other attributes.
    pub(crate) first: Vec<String>,
    /// Values, by their name, whose lines go after those of all other attributes.
    pub(crate) last: Vec<String>,
    /// Values of the device that satisfy a desired value.
    pub(crate) equivalents: IndexMap<String, Vec<EquivalentValue>>,
    pub(crate) default_cell: Option<Box<DefaultCell>>,
    pub(crate) default_line: Option<Box<DefaultLine>>,
    /// The value without a line of instances with certain names or values; the first that applies counts.
    pub(crate) default_values: Vec<DefaultValue>,
    /// Lines of the top level that the device needs before a line with a value. They are never removed.
    pub(crate) needs: Vec<NeededLine>,
    pub(crate) write_only: Option<WriteOnly>,
}

/// What the device shows of a value that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WriteOnly {
    /// Nothing.
    Hidden,
    /// Another form of it, in the place of the value.
    Hashed,
}

/// Source of an attribute's value.
#[derive(Clone, Debug, Default)]
pub(crate) enum CliLocation {
    /// In separate lines.
    Lines,
    /// In the line or the key of the instance.
    Instance,
    Cell(Cell),
    /// In a text of several lines.
    Body(TextBody),
    /// True when a line begins like one of these.
    Exists(Vec<LineTemplate>),
    /// In lines of other blocks.
    Elsewhere(LineTemplate),
    /// True when the inner block of the attribute exists.
    InnerBlock,
    /// A part of another attribute, the first group of the pattern; never sent.
    Part {
        of: String,
        pattern: Pattern,
    },
    /// The position among the instances.
    Order(Box<MoveRule>),
    /// Not supported.
    #[default]
    Nowhere,
}

/// How a device marks the beginning and the end of a text.
#[derive(Clone, Debug)]
pub(crate) enum TextBody {
    /// It follows these words.
    After { words: String, limit: TextLimit },
    /// It is the content of the instance's block, and this line ends it.
    UpTo { end: String },
}

/// What ends a text behind its words.
#[derive(Clone, Debug)]
pub(crate) enum TextLimit {
    /// One of these signs, which stands before the text, too.
    Delimiters(Vec<char>),
    /// This line. The text begins in the line after the words.
    Line(String),
}

/// The first group of a pattern in a text.
pub(crate) fn part_of<'t>(text: &'t str, pattern: &Pattern) -> Option<&'t str> {
    Some(pattern.captures(text)?.get(1)?.as_str())
}

/// A column of a table, a key of a stanza or a field of a JSON object.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    pub(crate) name: String,
    /// Patterns of cell texts by the value's name. First match wins.
    pub(crate) when: IndexMap<String, Pattern>,
    /// The first capture group is the value.
    pub(crate) pattern: Option<Pattern>,
}

impl Cell {
    /// A cell whose text is the value.
    pub(crate) fn named(name: String) -> Self {
        Self {
            name,
            when: IndexMap::default(),
            pattern: None,
        }
    }

    /// The patterns that find the value in the text.
    pub(crate) fn patterns(&self) -> String {
        let named = self.when.iter();
        let named = named.map(|(value, pattern)| format!("{value}\0{}\0", pattern.as_str()));
        let part = self
            .pattern
            .iter()
            .map(|pattern| pattern.as_str().to_owned());
        named.chain(part).collect()
    }
}

/// A value, or a pattern for texts.
#[derive(Clone, Debug)]
pub(crate) enum EquivalentValue {
    Value(Value),
    Pattern(Pattern),
}

impl EquivalentValue {
    pub(crate) fn is(&self, actual: Option<&Value>) -> bool {
        let actual = actual.map(Value::unwrap_sensitive);
        match self {
            EquivalentValue::Value(value) => Some(value) == actual,
            EquivalentValue::Pattern(pattern) => match actual {
                Some(Value::List(items)) => {
                    let words: Option<Vec<String>> = items.iter().map(Value::scalar_text).collect();
                    words.is_some_and(|words| pattern.is_match(&words.join(" ")))
                }
                other => other
                    .and_then(Value::as_str)
                    .is_some_and(|text| pattern.is_match(text)),
            },
        }
    }
}

/// The value of an instance without a line, in another read.
#[derive(Clone, Debug)]
pub(crate) struct DefaultCell {
    pub(crate) read: String,
    /// The column with the name of the instance.
    pub(crate) key: String,
    pub(crate) cell: Cell,
}

/// A global line that sets the default of instances.
#[derive(Clone, Debug)]
pub(crate) struct DefaultLine {
    pub(crate) line: LineTemplate,
    /// By namevar: the instances to which it applies.
    pub(crate) only: Vec<(String, Pattern)>,
}

/// The value without a line of some instances.
#[derive(Clone, Debug)]
pub(crate) struct DefaultValue {
    pub(crate) value: Value,
    /// By attribute: the instances to which it applies.
    pub(crate) only: Vec<(String, Pattern)>,
}

/// A line of the top level that must come before others.
#[derive(Clone, Debug)]
pub(crate) struct NeededLine {
    pub(crate) text: String,
    /// By attribute: patterns of the resources that need it.
    pub(crate) only: Vec<(At<String>, Pattern)>,
    /// Lines of the top level that the device adds with it.
    pub(crate) adds: Vec<String>,
}

/// The removal of a line.
#[derive(Clone, Debug, Default)]
pub(crate) enum NoForm {
    /// `no` and the literal words.
    #[default]
    Head,
    /// `no` and the line as the device prints it.
    Full,
    Text(LineTemplate),
}

/// An unexpected effect of an attribute.
#[derive(Clone, Debug)]
pub(crate) struct Misleading {
    /// Other attributes with value names: each must have one of its values.
    pub(crate) when: Vec<(String, Vec<String>)>,
    pub(crate) effect: String,
}

/// The valid numbers, if the codec is a range codec.
pub(crate) fn range_set(codec: Option<&Arc<Codec>>) -> Option<RangeSet> {
    match codec.map(AsRef::as_ref) {
        Some(Codec::RangeSet(ranges)) => Some(*ranges),
        _ => None,
    }
}
