//! The grammar of a platform: its settings, its modes, and a row of data for each line.
//!
//! `mocks/grammars/PLATFORM/platform.toml` has the settings, `*.grammar` the rows:
//!
//! ```text
//! @mode vlan -vlan                             a mode, and its text in the prompt
//! @define ADDRESS {any|<network>}              a text for `$ADDRESS` in the rows of the file
//! [config]                                     the mode of the rows below
//! vlan <vlans> > vlan ; list                   a row: syntax, mode that it enters, options
//! [vlan] ; needs feature interface-vlan        options of all rows below
//! ```
//!
//! The configuration is printed in the order of the rows.

use std::collections::BTreeMap;

use super::argument::{ArgumentType, InterfaceKinds};
use super::grammar_row::{GrammarRow, RowError, RowOption};
use super::interface_kind::InterfaceKind;
use super::platform_settings::PlatformSettings;
use super::syntax::{Extent, Progress};
use super::typed_line::TypedLine;

/// The files of all platforms: `PLATFORM/FILE` and the text.
const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/grammars.rs"));

/// Index of a mode.
pub(super) type ModeIndex = usize;

/// The configuration mode outside of blocks.
pub(super) const CONFIG: ModeIndex = 0;
/// The privileged mode.
pub(super) const EXEC: ModeIndex = 1;
/// The mode before `enable`.
pub(super) const USER: ModeIndex = 2;

/// The start of the declaration of a mode.
const MODE: &str = "@mode ";

/// The start of the definition of a text.
const DEFINE: &str = "@define ";

/// Rows of this section are valid in all configuration modes.
const EACH_MODE: &str = "*";

/// A mode.
#[derive(Debug)]
pub(super) struct GrammarMode {
    pub(super) name: String,
    /// Text in the prompt.
    pub(super) prompt: String,
    /// Text in the prompt for several blocks at once.
    pub(super) prompt_of_several: String,
    rows: Vec<usize>,
}

/// The grammar of a platform.
#[derive(Debug)]
pub(super) struct CommandGrammar {
    pub(super) settings: PlatformSettings,
    pub(super) kinds: InterfaceKinds,
    pub(super) modes: Vec<GrammarMode>,
    pub(super) rows: Vec<GrammarRow>,
    /// Templates of outputs by name.
    pub(super) outputs: BTreeMap<String, &'static str>,
}

/// A line that has a row.
#[derive(Debug, Clone)]
pub(super) struct ParsedLine {
    pub(super) row: usize,
    /// The words as the device prints them.
    pub(super) text: String,
    /// The words that identify the line.
    pub(super) key: String,
    pub(super) words: Vec<String>,
    pub(super) arguments: Vec<String>,
}

/// Why a line has no row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mismatch {
    /// Words that match, and the column of the next one.
    Invalid {
        words: usize,
        column: usize,
    },
    Incomplete {
        words: usize,
        column: usize,
    },
    Ambiguous {
        words: usize,
        column: usize,
    },
}

/// Why a platform has no grammar.
#[derive(Debug, thiserror::Error)]
pub enum GrammarError {
    /// No files of this name.
    #[error("no mock has the grammar of the platform `{name}`; platforms: {}", platforms().join(", "))]
    Unknown {
        /// The name.
        name: String,
    },
    /// The settings are invalid.
    #[error("the settings of the platform `{platform}` are invalid")]
    Settings {
        /// The platform.
        platform: String,
        /// The reason.
        source: Box<toml::de::Error>,
    },
    /// A row is invalid.
    #[error("{file}, line {line}: the row is invalid")]
    Row {
        /// The file.
        file: String,
        /// The line.
        line: usize,
        /// The reason.
        source: RowError,
    },
}

/// The names of the platforms that have a grammar.
pub fn platforms() -> Vec<&'static str> {
    let settings = FILES
        .iter()
        .filter_map(|(path, _)| path.strip_suffix("/platform.toml"));
    settings.collect()
}

impl CommandGrammar {
    /// Loads the grammar of a platform.
    ///
    /// # Errors
    /// The platform has none, or it is invalid.
    pub(super) fn load(platform: &str) -> Result<Self, GrammarError> {
        let prefix = format!("{platform}/");
        let of_platform = || {
            FILES.iter().filter_map(|(path, text)| {
                Some((path.strip_prefix(prefix.as_str())?, *path, *text))
            })
        };
        let settings = of_platform().find(|(name, ..)| *name == "platform.toml");
        let Some((_, _, settings)) = settings else {
            return Err(GrammarError::Unknown {
                name: platform.to_owned(),
            });
        };
        let settings: PlatformSettings =
            toml::from_str(settings).map_err(|source| GrammarError::Settings {
                platform: platform.to_owned(),
                source: Box::new(source),
            })?;
        let kinds = settings.interface.iter();
        let kinds = kinds.map(|(key, kind)| InterfaceKind::with_key(kind.clone(), key.clone()));
        let mut grammar = Self {
            kinds: kinds.collect(),
            settings,
            modes: ["config", "exec", "user"].map(GrammarMode::new).into(),
            rows: Vec::new(),
            outputs: BTreeMap::new(),
        };
        let files = || of_platform().filter(|(name, ..)| name.ends_with(".grammar"));
        for (_, path, text) in files() {
            grammar.read_file(path, text, Self::read_mode)?;
        }
        for (_, path, text) in files() {
            let mut section = Section::default();
            grammar.read_file(path, text, |grammar, line| {
                grammar.read_row(line, &mut section)
            })?;
        }
        for (name, _, text) in of_platform() {
            if let Some(output) = name.strip_prefix("show/") {
                grammar.outputs.insert(output.to_owned(), text);
            }
        }
        Ok(grammar)
    }

    fn read_file(
        &mut self,
        path: &str,
        text: &str,
        mut read: impl FnMut(&mut Self, &str) -> Result<(), RowError>,
    ) -> Result<(), GrammarError> {
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            read(self, line).map_err(|source| GrammarError::Row {
                file: path.to_owned(),
                line: index + 1,
                source,
            })?;
        }
        Ok(())
    }

    /// `@mode NAME TEXT [TEXT]`: text in the prompt, and in the prompt for several blocks.
    fn read_mode(&mut self, line: &str) -> Result<(), RowError> {
        let Some(declared) = line.strip_prefix(MODE) else {
            return Ok(());
        };
        let words: Vec<&str> = declared.split_whitespace().collect();
        let [name, prompt, others @ ..] = words.as_slice() else {
            return Err(RowError::Mode(declared.trim().to_owned()));
        };
        let mut mode = GrammarMode::new(name);
        (*prompt).clone_into(&mut mode.prompt);
        let several = others.last().unwrap_or(prompt);
        mode.prompt_of_several = (*several).to_owned();
        self.modes.push(mode);
        Ok(())
    }

    fn read_row(&mut self, line: &str, section: &mut Section) -> Result<(), RowError> {
        if line.starts_with(MODE) {
            return Ok(());
        }
        if let Some(definition) = line.strip_prefix(DEFINE) {
            let (name, text) = definition
                .trim()
                .split_once(' ')
                .unwrap_or((definition, ""));
            let text = section.defined(text.trim());
            section.define(name, text);
            return Ok(());
        }
        let line = section.defined(line);
        let line = line.as_str();
        if let Some(header) = line.strip_prefix('[') {
            return section.enter(header, self);
        }
        if section.modes.is_empty() {
            return Err(RowError::NoSection);
        }
        let row = GrammarRow::parse(line, &section.options, |name| self.mode(name), &self.kinds)?;
        let index = self.rows.len();
        for mode in &section.modes {
            self.modes[*mode].rows.push(index);
        }
        self.rows.push(row);
        Ok(())
    }

    /// The mode of a name.
    fn mode(&self, name: &str) -> Option<ModeIndex> {
        self.modes.iter().position(|mode| mode.name == name)
    }

    /// The rows of a mode.
    pub(super) fn rows_of(&self, mode: ModeIndex) -> impl Iterator<Item = (usize, &GrammarRow)> {
        self.modes[mode]
            .rows
            .iter()
            .map(|row| (*row, &self.rows[*row]))
    }

    /// The row of a line in a mode, among the rows that are available.
    ///
    /// # Errors
    /// No row matches, or several do.
    pub(super) fn parse(
        &self,
        mode: ModeIndex,
        line: &TypedLine<'_>,
        available: impl Fn(&GrammarRow) -> bool,
    ) -> Result<ParsedLine, Mismatch> {
        let mut best: Option<(usize, Progress)> = None;
        let mut is_ambiguous = false;
        let count = line.words().len();
        for (index, row) in self.rows_of(mode) {
            let first = row.syntax.first_keyword().zip(line.word(0));
            let may_match = first.is_none_or(|(keyword, typed)| starts(keyword, typed));
            if !may_match || !available(row) {
                continue;
            }
            row.syntax.compare(line, Progress::default(), &mut |found| {
                if found.typed != count {
                    return;
                }
                let Some((_, other)) = &best else {
                    best = Some((index, found));
                    return;
                };
                if found.distance < other.distance {
                    is_ambiguous = false;
                    best = Some((index, found));
                } else if found.distance == other.distance {
                    is_ambiguous |= found.is_abbreviated && found.words != other.words;
                }
            });
        }
        let (words, column) = (line.seen(), line.column());
        match best {
            Some(_) if is_ambiguous => Err(Mismatch::Ambiguous { words, column }),
            Some((row, found)) => Ok(ParsedLine::new(row, found)),
            None if line.is_incomplete() && words == count => {
                Err(Mismatch::Incomplete { words, column })
            }
            None => Err(Mismatch::Invalid { words, column }),
        }
    }

    /// Parses a line that the platform itself writes.
    pub(super) fn parse_own(&self, mode: ModeIndex, text: &str) -> Option<ParsedLine> {
        let line = TypedLine::new(text, 0, Extent::Complete);
        self.parse(mode, &line, |_| true).ok()
    }

    /// The type of the first argument of a row that is a list.
    pub(super) fn list_argument(&self, row: usize) -> Option<&ArgumentType> {
        self.rows[row].list_argument()
    }

    /// An interface, or several, in the short form of prompts.
    pub(super) fn short(&self, text: &str) -> String {
        InterfaceKind::short_list(&self.kinds, text)
    }
}

fn starts(keyword: &str, typed: &str) -> bool {
    keyword
        .get(..typed.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(typed))
}

impl GrammarMode {
    fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            prompt: String::new(),
            prompt_of_several: String::new(),
            rows: Vec::new(),
        }
    }
}

impl ParsedLine {
    fn new(row: usize, found: Progress) -> Self {
        Self {
            row,
            text: found.words.join(" "),
            key: found.key.join(" "),
            words: found.words,
            arguments: found.arguments,
        }
    }
}

impl Mismatch {
    /// Number of words that match.
    pub(super) fn words(self) -> usize {
        match self {
            Self::Invalid { words, .. }
            | Self::Incomplete { words, .. }
            | Self::Ambiguous { words, .. } => words,
        }
    }
}

/// The section of a file that is read.
#[derive(Debug, Default)]
struct Section {
    modes: Vec<ModeIndex>,
    options: Vec<RowOption>,
    /// Names with the dollar sign, and their texts.
    definitions: Vec<(String, String)>,
}

impl Section {
    /// Adds a definition. Longer names come first: `$PORT` is a part of `$PORTS`.
    fn define(&mut self, name: &str, text: String) {
        self.definitions.push((format!("${name}"), text));
        self.definitions
            .sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
    }

    /// A text with the definitions of the file.
    fn defined(&self, text: &str) -> String {
        let definitions = self.definitions.iter();
        definitions.fold(text.to_owned(), |text, (name, value)| {
            text.replace(name, value)
        })
    }

    /// Parses the text behind the opening bracket.
    fn enter(&mut self, header: &str, grammar: &CommandGrammar) -> Result<(), RowError> {
        let unknown = |name: &str| RowError::Mode(name.to_owned());
        let (names, options) = header.split_once(']').ok_or_else(|| unknown(header))?;
        self.modes = if names == EACH_MODE {
            (0..grammar.modes.len())
                .filter(|mode| !matches!(*mode, EXEC | USER))
                .collect()
        } else {
            let modes = names.split_whitespace();
            let modes = modes.map(|name| grammar.mode(name).ok_or_else(|| unknown(name)));
            modes.collect::<Result<_, _>>()?
        };
        self.options = RowOption::parse_all(options)?;
        Ok(())
    }
}
