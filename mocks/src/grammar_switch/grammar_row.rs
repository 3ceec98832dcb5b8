//! A row of a grammar: the syntax of a line, the mode that it enters, and its options.

use super::argument::{ArgumentType, InterfaceKinds};
use super::command_grammar::ModeIndex;
use super::exec_action::ExecAction;
use super::syntax::{Syntax, SyntaxTextError};

/// A row.
#[derive(Debug)]
pub(super) struct GrammarRow {
    pub(super) syntax: Syntax,
    /// The mode that the line enters.
    pub(super) enters: Option<ModeIndex>,
    options: Vec<RowOption>,
}

/// A condition on another line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LineCondition {
    /// The line is outside of blocks; otherwise it is in the same block.
    pub(super) is_global: bool,
    /// The line must not be in effect.
    pub(super) is_negative: bool,
    pub(super) line: String,
}

/// A change of a list that another line has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ListChange {
    Add,
    Remove,
    Except,
}

/// An option of a row. `{1}` in texts is its first argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RowOption {
    /// `default TEXT`: the value behind the key that the device has without the line.
    Default(String),
    /// `on [if CONDITION]`: in effect without the line; its negation is printed.
    On(Option<LineCondition>),
    /// `when CONDITION`: the line exists only then.
    When(LineCondition),
    /// `needs LINE`: the line exists only with this line outside of blocks, and goes with it.
    Needs(String),
    /// `as TEXT`: the line that is stored instead. `{rest:2}` are its words from the third on,
    /// `{next:10}` is the next free number in steps of ten, `{hash:2}` is the digest of the second argument,
    /// `{cipher:2}` its encrypted form.
    As(String),
    /// `clears TEXT`: lines of the block that begin so are removed.
    Clears(String),
    /// `no-clears TEXT`: the same for the negation.
    NegationClears(String),
    /// `creates LINE`: a line outside of blocks that is set too.
    Creates(String),
    /// `goes-with LINE`: it is removed when this line outside of blocks goes.
    GoesWith(String),
    /// `then LINE`: a line of the block that is set too.
    Then(String),
    /// `warns TEXT`: printed when a line of `creates` is new.
    Warns(String),
    /// `change add|remove|except LINE`: the argument changes the list of the line.
    Change(ListChange, String),
    /// `initial LINE`: a line of the block when it is new.
    Initial(String),
    /// `explicit`: its negation is stored and printed.
    Explicit,
    /// `always`: explicit, and the negation is printed without being configured.
    Always,
    /// `printed`: printed also at its default.
    Printed,
    /// `implicit KEY`: the block exists always, and is printed only with content.
    Implicit(String),
    /// `list`: printed as one line with all numbers, and blocks with content.
    List,
    /// `groups`: blocks with the same content are printed as one.
    Groups,
    /// `fixed TEXT`: a line with the same key and another value is refused.
    Fixed(String),
    /// `exists TEXT`: the block is part of the device; others are refused.
    Exists(String),
    /// `refuse TEXT`: always refused.
    Refuse(String),
    /// `ordered`: printed in the order of input.
    Ordered,
    /// `until WORD`: lines up to the word are text.
    Until(String),
    /// `plain`: not negated.
    Plain,
    /// `do ACTION`: an action of the session.
    Do(ExecAction),
}

/// Why a row is invalid.
#[derive(Debug, thiserror::Error)]
pub enum RowError {
    /// The syntax is invalid.
    #[error(transparent)]
    Syntax(#[from] SyntaxTextError),
    /// No section is before the row.
    #[error("no `[MODE]` is before the row")]
    NoSection,
    /// The mode does not exist.
    #[error("the mode `{0}` does not exist")]
    Mode(String),
    /// The option does not exist, or its text is invalid.
    #[error("the option `{0}` is unknown or not complete")]
    Option(String),
}

impl GrammarRow {
    /// Parses `SYNTAX [> MODE] [; OPTION]…`.
    pub(super) fn parse(
        text: &str,
        shared: &[RowOption],
        mode: impl Fn(&str) -> Option<ModeIndex>,
        kinds: &InterfaceKinds,
    ) -> Result<Self, RowError> {
        let (line, options) = text.split_once(" ; ").unwrap_or((text, ""));
        let (syntax, enters) = match line.rsplit_once(" > ") {
            None => (line, None),
            Some((syntax, name)) => {
                let name = name.trim();
                let mode = mode(name).ok_or_else(|| RowError::Mode(name.to_owned()))?;
                (syntax, Some(mode))
            }
        };
        let mut row = Self {
            syntax: Syntax::parse(syntax.trim(), kinds)?,
            enters,
            options: RowOption::parse_all(options)?,
        };
        row.options.extend_from_slice(shared);
        Ok(row)
    }

    pub(super) fn options(&self) -> &[RowOption] {
        &self.options
    }

    pub(super) fn has(&self, option: &RowOption) -> bool {
        self.options.contains(option)
    }

    /// The first result for an option.
    pub(super) fn find<T>(&self, select: impl Fn(&RowOption) -> Option<T>) -> Option<T> {
        self.options.iter().find_map(select)
    }

    /// The value behind the key that the device has without the line.
    pub(super) fn default_value(&self) -> Option<&str> {
        self.options.iter().find_map(|option| match option {
            RowOption::Default(text) => Some(text.as_str()),
            _ => None,
        })
    }

    pub(super) fn action(&self) -> Option<&ExecAction> {
        self.options.iter().find_map(|option| match option {
            RowOption::Do(action) => Some(action),
            _ => None,
        })
    }

    /// Whether the negation of the row is stored.
    pub(super) fn stores_negation(&self) -> bool {
        self.has(&RowOption::Explicit) || self.has(&RowOption::Always)
    }

    /// The lines outside of blocks that the row needs.
    pub(super) fn needs(&self) -> impl Iterator<Item = &str> {
        self.options.iter().filter_map(|option| match option {
            RowOption::Needs(line) => Some(line.as_str()),
            _ => None,
        })
    }

    /// The words of a row without arguments and choices.
    pub(super) fn constant_text(&self) -> Option<String> {
        constant(&self.syntax)
    }

    /// Whether the line ends with text between two equal letters.
    pub(super) fn has_delimited_text(&self) -> bool {
        match &self.syntax {
            Syntax::Sequence(parts) => {
                matches!(
                    parts.last(),
                    Some(Syntax::Argument(ArgumentType::Delimited))
                )
            }
            _ => false,
        }
    }

    /// The first argument that is a list.
    pub(super) fn list_argument(&self) -> Option<&ArgumentType> {
        list(&self.syntax)
    }
}

/// The keywords up to the end of the key; `None` with arguments or choices before it.
fn constant(syntax: &Syntax) -> Option<String> {
    match syntax {
        Syntax::Keyword(word) => Some(word.clone()),
        Syntax::Sequence(parts) => {
            let key = parts
                .iter()
                .take_while(|part| !matches!(part, Syntax::KeyEnd));
            let words: Option<Vec<String>> = key.map(constant).collect();
            words.map(|words| words.join(" "))
        }
        _ => None,
    }
}

fn list(syntax: &Syntax) -> Option<&ArgumentType> {
    match syntax {
        Syntax::Argument(argument @ (ArgumentType::Numbers(..) | ArgumentType::Interfaces(_))) => {
            Some(argument)
        }
        Syntax::Sequence(parts) | Syntax::Choice(parts) => parts.iter().find_map(list),
        _ => None,
    }
}

impl LineCondition {
    /// Parses `[/][no ]LINE`; the slash is for lines outside of blocks.
    fn parse(text: &str) -> Self {
        let (is_global, line) = match text.strip_prefix('/') {
            Some(line) => (true, line),
            None => (false, text),
        };
        let (is_negative, line) = match line.strip_prefix("no ") {
            Some(line) => (true, line),
            None => (false, line),
        };
        Self {
            is_global,
            is_negative,
            line: line.to_owned(),
        }
    }
}

impl RowOption {
    /// Parses `[;] OPTION ; OPTION…`.
    pub(super) fn parse_all(text: &str) -> Result<Vec<Self>, RowError> {
        let options = text
            .split(" ; ")
            .map(|option| option.trim().trim_start_matches(';'));
        let options = options.map(str::trim).filter(|option| !option.is_empty());
        options.map(Self::parse).collect()
    }

    fn parse(text: &str) -> Result<Self, RowError> {
        let (name, detail) = text.split_once(' ').unwrap_or((text, ""));
        let owned = detail.trim().to_owned();
        let invalid = || RowError::Option(text.to_owned());
        let is_flag = matches!(
            name,
            "on" | "list" | "groups" | "ordered" | "plain" | "explicit" | "always" | "printed"
        );
        if detail.is_empty() != is_flag && name != "on" {
            return Err(invalid());
        }
        Ok(match name {
            "default" => Self::Default(owned),
            "on" => Self::On(detail.strip_prefix("if ").map(LineCondition::parse)),
            "when" => Self::When(LineCondition::parse(detail)),
            "needs" => Self::Needs(owned),
            "as" => Self::As(owned),
            "clears" => Self::Clears(owned),
            "no-clears" => Self::NegationClears(owned),
            "creates" => Self::Creates(owned),
            "goes-with" => Self::GoesWith(owned),
            "then" => Self::Then(owned),
            "warns" => Self::Warns(owned),
            "change" => {
                let (change, line) = detail.split_once(' ').ok_or_else(invalid)?;
                let change = match change {
                    "add" => ListChange::Add,
                    "remove" => ListChange::Remove,
                    "except" => ListChange::Except,
                    _ => return Err(invalid()),
                };
                Self::Change(change, line.to_owned())
            }
            "initial" => Self::Initial(owned),
            "explicit" => Self::Explicit,
            "always" => Self::Always,
            "printed" => Self::Printed,
            "implicit" => Self::Implicit(owned),
            "list" => Self::List,
            "groups" => Self::Groups,
            "fixed" => Self::Fixed(owned),
            "exists" => Self::Exists(owned),
            "refuse" => Self::Refuse(owned),
            "ordered" => Self::Ordered,
            "until" => Self::Until(owned),
            "plain" => Self::Plain,
            "do" => Self::Do(ExecAction::parse(detail).ok_or_else(invalid)?),
            _ => return Err(invalid()),
        })
    }
}
