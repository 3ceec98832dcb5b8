//! The keys of `[attr.x]`, and the positions of values where each has an effect.

use super::defaults::DefaultKeys;
use super::toml::{ReplaceFirst, SetLine};
use crate::document::{At, Named, SectionForm, keys, word_values};
use crate::driver::cli::rules::{
    CliAttributeRule, CliLocation, EquivalentValue, NeededLine, NoForm, WriteOnly,
};
use crate::driver::cli::template::LineTemplate;
use crate::driver::unsupported::Unsupported;
use crate::model::load::value_spec::Values;
use crate::pattern::Pattern;
use crate::value::Value;

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

impl SectionForm for Position {
    const FORMS: &'static [(Self, &'static str)] = &[
        (OwnLine, "`line`, `set`"),
        (InstanceLine, "the line of the instance"),
        (Cell, "`column`, `field`"),
        (Text, "`body`"),
        (Exists, "`exists`"),
        (OtherBlock, "`elsewhere`"),
        (InnerBlock, "`sub` alone"),
        (SharedLine, "`inside`"),
        (Order, "`order`"),
    ];
}

impl Position {
    /// The position of a rule; `None` if the platform has no value.
    pub(super) fn of(rule: &CliAttributeRule) -> Option<Self> {
        if rule.inside.is_some() {
            return Some(SharedLine);
        }
        Some(match rule.location {
            CliLocation::Lines => OwnLine,
            CliLocation::Instance => InstanceLine,
            CliLocation::Cell(_) => Cell,
            CliLocation::Body(_) => Text,
            CliLocation::Exists(_) => Exists,
            CliLocation::Elsewhere(_) => OtherBlock,
            CliLocation::InnerBlock => InnerBlock,
            CliLocation::Order(_) => Order,
            CliLocation::Part { .. } | CliLocation::Nowhere => return None,
        })
    }
}

const WRITTEN: [Position; 6] = [OwnLine, Cell, Text, Exists, OtherBlock, InnerBlock];
const SENT: [Position; 7] = [OwnLine, Cell, Text, Exists, OtherBlock, InnerBlock, Order];
const COMPARED: [Position; 6] = [OwnLine, InstanceLine, Cell, Exists, OtherBlock, SharedLine];
const LISTS: [Position; 5] = [OwnLine, InstanceLine, Cell, OtherBlock, SharedLine];

keys! {
    /// How an attribute is read and written.
    pub(in crate::driver) struct AttributeKeys at Position {
        /// The line with the value; the first syntax is written.
        line: Vec<LineTemplate> where [OwnLine, Cell, Exists, OtherBlock],
        /// The line, or the fields, for a value, by its name in the model.
        set: Named<SetLine> where [OwnLine, Cell, Exists, SharedLine],
        /// Column of the table.
        column: Option<At<String>> where [Cell, SharedLine],
        /// Key of a stanza, or path of a field.
        field: Option<At<String>> where [Cell, SharedLine],
        /// Patterns or fields by the name of the value.
        when: Named<Pattern> where [Cell, SharedLine],
        /// Pattern; the first group is the value.
        pattern: Option<Pattern> where [Cell, SharedLine],
        /// A text of several lines.
        body: Option<BodyKeys> where [Text],
        /// True if a line begins with one of these texts.
        exists: Option<Vec<LineTemplate>> where [Exists],
        /// Blocks of members that have the lines.
        elsewhere: Option<LineTemplate> where [OtherBlock],
        /// Attribute whose line or fields have the value. With `pattern` and no other place of the value:
        /// a part of that attribute, which is never sent.
        inside: Option<String> where [SharedLine],
        /// Attributes in the same line or fields.
        with: Vec<String> where [OwnLine, Cell, OtherBlock],
        /// The position among the instances.
        order: Option<OrderKeys> where [Order],
        /// Value without a line or field.
        absent: Option<At<Value>>,
        /// Value of a line without a word for the attribute.
        implied: Option<At<Value>> where [OwnLine, SharedLine],
        /// Lists of values that members of one instance may have at the same time.
        compatible: Vec<At<Vec<String>>> where [SharedLine],
        /// `always`: the device prints a line for each value, also for `absent`; only a new instance
        /// has `absent` without a line.
        printed: Option<Always> where WRITTEN,
        /// The command that removes a line.
        no: Option<NoForm> where [OwnLine, Cell, Exists],
        /// One line for each element.
        many: bool where [OwnLine, Cell],
        /// `remove-first`: the old line is removed before the new one is sent.
        replace: Option<ReplaceFirst> where [OwnLine, Cell],
        /// Words that belong to other lines.
        skip: Vec<String> where [OwnLine, InstanceLine],
        /// Global lines that select the syntax of a new line.
        follows: Option<At<Vec<LineTemplate>>> where [OwnLine],
        /// The line that adds numbers to a set.
        more: Option<LineTemplate> where [OwnLine, Cell],
        /// The line that removes numbers from a set.
        less: Option<LineTemplate> where [OwnLine, Cell],
        /// The inner block with the lines, or the list of members.
        sub: Vec<String> where [OwnLine, Text, Exists, InnerBlock],
        /// Location of the value if there is no line.
        fallback as "else": Vec<DefaultKeys> where [OwnLine, InstanceLine, Cell],
        /// Lines of the top level that come before a line with a value, and stay.
        needs: Vec<NeededLine> where SENT,
        /// Value format.
        codec: Option<At<String>> where LISTS,
        /// Words of the device by value. Of several, the first is written. Other values are unchanged.
        map: Named<Vec<String>> where LISTS,
        /// Pattern of the beginning of a line that `no` has.
        identity: Option<Pattern> where [OwnLine],
        /// Current values that are in sync with a value.
        alike: Named<Vec<EquivalentValue>> where COMPARED,
        /// Values whose lines are sent before all others.
        first: Vec<String> where WRITTEN,
        /// Values whose lines are sent after all others.
        last: Vec<String> where WRITTEN,
        /// Maximum of elements on the device.
        at_most: Option<usize> where LISTS,
        /// The command may ask for confirmation.
        prompts: bool where SENT,
        /// Attributes whose lines the device removes when this value changes; they are sent again.
        clears: Vec<String> where [OwnLine],
        /// Lines that the device adds by itself with a value, for predictions: below the line of the
        /// value, and with another value they go. With `elsewhere` and the name `absent`: in the block of
        /// each member when the instance is removed.
        adds: Named<Vec<LineTemplate>> where [OwnLine, OtherBlock],
        /// Warning before the line is sent.
        warn: Option<LineTemplate> where SENT,
        /// Reason why the attribute has no effect; noted.
        ignored: Option<String>,
        /// Reason why the platform does not have the attribute, or names of values that it does not
        /// have, with reasons.
        unsupported: Option<At<Unsupported>>,
        /// Reason why the attribute is an error.
        refused: Option<String>,
        /// Values of others with which the attribute has no effect.
        no_effect: Named<Vec<String>>,
        /// A surprising effect, of which `validate` warns.
        misleading: Option<MisleadingKeys>,
        /// The value cannot be read; it is sent if it is not the one that was set last.
        write_only: Option<WriteOnly> where [OwnLine, InstanceLine, SharedLine],
        /// Valid values on the platform, if they are only a part of those of the model.
        values: Option<At<Values>>,
    }
}

/// The device prints a line for each value.
#[derive(Clone, Copy, Debug)]
pub(in crate::driver) struct Always;

word_values!(Always { "always" => Always });

keys! {
    /// Where a text of several lines begins and ends.
    pub(in crate::driver) struct BodyKeys {
        /// Words before the text.
        after: Option<String>,
        /// Signs that can enclose the text behind these words.
        delimiters: Option<At<String>>,
        /// Line that ends the text: the content of the instance's block, or with `after` the lines behind these words.
        end: Option<String>,
    }
}

keys! {
    /// The lines that move an instance.
    pub(in crate::driver) struct OrderKeys {
        /// Line or path that moves an instance behind another one.
        after: LineTemplate,
        /// Line or path that moves an instance to the first place.
        before: LineTemplate,
    }
}

keys! {
    /// A surprising effect, of which `validate` warns.
    pub(in crate::driver) struct MisleadingKeys {
        /// Values of attributes with the effect.
        when: Named<Vec<String>>,
        /// The effect.
        reason: String,
    }
}
