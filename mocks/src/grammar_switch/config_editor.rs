//! Applies lines to a configuration, at a position in its blocks.

use super::argument::ArgumentType;
use super::block_position::BlockPosition;
use super::command_grammar::{CommandGrammar, Mismatch, ModeIndex, ParsedLine};
use super::config_node::ConfigNode;
use super::effective_line::BlockScope;
use super::exec_action::ExecAction;
use super::grammar_row::{GrammarRow, ListChange, RowOption};
use super::number_list::NumberList;
use super::stored_text::{filled, stored_text};
use super::syntax::Extent;
use super::typed_line::TypedLine;

/// The effect of a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum LineOutcome {
    /// The line is set; the device prints this text.
    Done(String),
    /// The line is an action of the session, with its arguments.
    Action(ExecAction, Vec<String>),
    /// The next lines are its text, up to one that ends with this.
    Text { end: String },
}

/// Why a line is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum LineRefusal {
    /// No row, or several.
    Mismatch(Mismatch),
    /// A message of the device.
    Message(String),
}

/// What a line does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineSign {
    Set,
    Negate,
    Reset,
}

/// A configuration that lines change.
#[derive(Debug)]
pub(super) struct ConfigEditor<'a> {
    pub(super) grammar: &'a CommandGrammar,
    pub(super) root: &'a mut ConfigNode,
    pub(super) position: &'a mut BlockPosition,
    /// Blocks that are parts of the device are created.
    pub(super) is_loading: bool,
}

impl ConfigEditor<'_> {
    /// Executes a line: in the innermost block that has it, or in one outside of it.
    ///
    /// # Errors
    /// The device refuses the line.
    pub(super) fn line(&mut self, text: &str) -> Result<LineOutcome, LineRefusal> {
        let mut refusal: Option<Mismatch> = None;
        let innermost = self.position.depth();
        // The indentation of a printed configuration decides where a line is.
        let outermost = if self.is_loading { innermost } else { 0 };
        for depth in (outermost..=innermost).rev() {
            match self.parse(depth, text) {
                Ok((sign, parsed)) => {
                    if self.grammar.rows[parsed.row].action().is_none() {
                        self.position.truncate(depth);
                    }
                    return self.apply(depth, sign, parsed);
                }
                Err(other) => {
                    if refusal.is_none_or(|first| first.words() < other.words()) {
                        refusal = Some(other);
                    }
                }
            }
        }
        let nothing = Mismatch::Invalid {
            words: 0,
            column: 0,
        };
        Err(LineRefusal::Mismatch(refusal.unwrap_or(nothing)))
    }

    /// The row of a line in the block at a depth.
    fn parse(&self, depth: usize, text: &str) -> Result<(LineSign, ParsedLine), Mismatch> {
        let settings = &self.grammar.settings;
        let mode = self.position.mode(depth);
        let path = self
            .position
            .targets()
            .first()
            .map(|target| target[..depth].to_vec());
        let block = self
            .root
            .block(&path.unwrap_or_default())
            .unwrap_or(self.root);
        let scope = BlockScope {
            grammar: self.grammar,
            root: self.root,
            block,
            mode,
        };
        let parse = |from: usize, extent: Extent| {
            let line = TypedLine::new(text, from, extent);
            self.grammar
                .parse(mode, &line, |row| scope.is_available(row))
        };
        let direct = parse(0, Extent::Complete);
        let start = text.len() - text.trim_start().len();
        let (first, rest) = text.trim_start().split_once(' ').unwrap_or((text, ""));
        let sign = match first {
            _ if direct.is_ok() || rest.trim().is_empty() => None,
            first if first == settings.negate => Some(LineSign::Negate),
            first if settings.reset.as_deref() == Some(first) => Some(LineSign::Reset),
            _ => None,
        };
        match sign {
            None => direct.map(|parsed| (LineSign::Set, parsed)),
            Some(sign) => parse(start + first.len(), Extent::Key).map(|parsed| (sign, parsed)),
        }
    }

    fn apply(
        &mut self,
        depth: usize,
        sign: LineSign,
        parsed: ParsedLine,
    ) -> Result<LineOutcome, LineRefusal> {
        let row = &self.grammar.rows[parsed.row];
        let is_command = row.action().is_some() || row.has(&RowOption::Plain);
        if sign != LineSign::Set && is_command {
            let invalid = Mismatch::Invalid {
                words: 0,
                column: 0,
            };
            return Err(LineRefusal::Mismatch(invalid));
        }
        if let Some(action) = row.action() {
            return Ok(LineOutcome::Action(action.clone(), parsed.arguments));
        }
        let refused = row.find(|option| match option {
            RowOption::Refuse(text) => Some(filled(text, &parsed.arguments)),
            _ => None,
        });
        if let Some(message) = refused {
            return Err(LineRefusal::Message(message));
        }
        match sign {
            LineSign::Set => self.set(depth, parsed),
            LineSign::Negate | LineSign::Reset => self.unset(depth, sign, &parsed),
        }
    }

    fn set(&mut self, depth: usize, parsed: ParsedLine) -> Result<LineOutcome, LineRefusal> {
        let grammar = self.grammar;
        let mode = self.position.mode(depth);
        let original = &grammar.rows[parsed.row];
        let stored = self.stored_line(mode, &parsed)?;
        let row = &grammar.rows[stored.row];
        let lines = separate_lines(grammar, &stored);
        self.check(row, &lines)?;
        let mut targets = Vec::new();
        let is_new = self.is_new(&lines);
        for path in self.position.targets() {
            let changed = self.changed_list(original, &path, &parsed, &stored)?;
            let Some(block) = self.root.block_mut(&path) else {
                continue;
            };
            for option in original.options() {
                if let RowOption::Clears(start) = option {
                    block.clear(&filled(start, &parsed.arguments), &stored.key);
                }
            }
            for line in changed
                .as_ref()
                .map_or(lines.as_slice(), std::slice::from_ref)
            {
                if begins_negation(grammar, original) {
                    continue;
                }
                block.set(ConfigNode {
                    row: Some(line.row),
                    key: line.key.clone(),
                    text: line.text.clone(),
                    arguments: line.arguments.clone(),
                    ..ConfigNode::default()
                });
                let mut target = path.clone();
                target.push(line.key.clone());
                targets.push(target);
            }
        }
        let message = self.create(original, &parsed.arguments)?;
        if let Some(entered) = row.enters {
            let mode = &grammar.modes[entered];
            let prompt = if targets.len() > 1 {
                &mode.prompt_of_several
            } else {
                &mode.prompt
            };
            let arguments: Vec<String> = stored
                .arguments
                .iter()
                .map(|text| grammar.short(text))
                .collect();
            self.position
                .enter(entered, filled(prompt, &arguments), targets);
        }
        for option in original.options() {
            match option {
                RowOption::Then(line) => {
                    let line = stored_text(line, &parsed, self.root);
                    self.line(&line)?;
                }
                RowOption::Initial(line) if is_new => {
                    self.line(line)?;
                }
                _ => {}
            }
        }
        if original.enters.is_none() {
            self.position.truncate(depth);
        }
        let end = text_end(row, &stored);
        Ok(end.map_or(LineOutcome::Done(message), |end| LineOutcome::Text { end }))
    }

    /// Whether no block has one of the lines yet.
    fn is_new(&self, lines: &[ParsedLine]) -> bool {
        let targets = self.position.targets();
        let mut blocks = targets.iter().filter_map(|path| self.root.block(path));
        blocks.all(|block| lines.iter().all(|line| block.child(&line.key).is_none()))
    }

    /// The line that is stored for a typed one.
    fn stored_line(&self, mode: ModeIndex, parsed: &ParsedLine) -> Result<ParsedLine, LineRefusal> {
        let other = self.grammar.rows[parsed.row].find(|option| match option {
            RowOption::As(text) => Some(text.clone()),
            _ => None,
        });
        let Some(template) = other else {
            return Ok(parsed.clone());
        };
        let targets = self.position.targets();
        let block = targets.first().and_then(|path| self.root.block(path));
        let text = stored_text(&template, parsed, block.unwrap_or(self.root));
        let invalid = || LineRefusal::Message(format!("the grammar has no line `{text}`"));
        self.grammar.parse_own(mode, &text).ok_or_else(invalid)
    }

    /// Refuses blocks that the device does not have, and other values of fixed lines.
    fn check(&self, row: &GrammarRow, lines: &[ParsedLine]) -> Result<(), LineRefusal> {
        for option in row.options() {
            for path in self.position.targets() {
                let Some(block) = self.root.block(&path) else {
                    continue;
                };
                for line in lines {
                    let current = block.child(&line.key);
                    let message = match (option, current) {
                        (RowOption::Exists(text), None) if !self.is_loading => text,
                        (RowOption::Fixed(text), Some(current)) if current.text != line.text => {
                            let old = current.arguments.first().map_or("", String::as_str);
                            let text = text.replace("{old}", old);
                            return Err(LineRefusal::Message(filled(&text, &line.arguments)));
                        }
                        _ => continue,
                    };
                    return Err(LineRefusal::Message(filled(message, &line.arguments)));
                }
            }
        }
        Ok(())
    }

    /// The line whose list the row changes, with its new list.
    fn changed_list(
        &self,
        row: &GrammarRow,
        path: &[String],
        parsed: &ParsedLine,
        stored: &ParsedLine,
    ) -> Result<Option<ParsedLine>, LineRefusal> {
        let change = row.find(|option| match option {
            RowOption::Change(change, line) => Some((*change, line.clone())),
            _ => None,
        });
        let Some((change, line)) = change else {
            return Ok(None);
        };
        let mode = self.position.mode(path.len());
        let Some(ArgumentType::Numbers(low, high)) = self.grammar.list_argument(parsed.row) else {
            return self.changed_words(change, &line, path, stored);
        };
        let bounds = (*low, *high);
        let all: NumberList = (*low..=*high).collect();
        let current = self.root.block(path).and_then(|block| block.child(&line));
        let current = current.map_or(Some(all.clone()), |node| {
            let list = node.arguments.last()?;
            NumberList::parse(list, bounds)
        });
        let current = current.unwrap_or_default();
        let typed = stored
            .arguments
            .last()
            .and_then(|list| NumberList::parse(list, bounds));
        let typed = typed.unwrap_or_default();
        let list = match change {
            ListChange::Add => current.union(&typed),
            ListChange::Remove => current.difference(&typed),
            ListChange::Except => all.difference(&typed),
        };
        let value = if list.is_empty() {
            "none".to_owned()
        } else {
            list.to_string()
        };
        let text = format!("{line} {value}");
        let invalid = || LineRefusal::Message(format!("cannot change `{line}`"));
        self.grammar
            .parse_own(mode, &text)
            .map(Some)
            .ok_or_else(invalid)
    }

    /// The line with a list of words, with its new list.
    fn changed_words(
        &self,
        change: ListChange,
        line: &str,
        path: &[String],
        stored: &ParsedLine,
    ) -> Result<Option<ParsedLine>, LineRefusal> {
        let mode = self.position.mode(path.len());
        let current = self.root.block(path).and_then(|block| block.child(line));
        let mut words = current.map_or_else(Vec::new, |node| node.arguments.clone());
        let is_typed = |word: &String| stored.arguments.contains(word);
        words.retain(|word| change == ListChange::Add || !is_typed(word));
        if change == ListChange::Add {
            let new = stored.arguments.iter();
            let new: Vec<String> = new.filter(|word| !words.contains(word)).cloned().collect();
            words.extend(new);
        }
        let text = format!("{line} {}", words.join(" "));
        let changed = self.grammar.parse_own(mode, &text);
        let invalid = || LineRefusal::Message(format!("cannot change `{line}`"));
        changed.map(Some).ok_or_else(invalid)
    }

    /// Sets the lines outside of blocks that a row creates. Returns the message about a new one.
    fn create(&mut self, row: &GrammarRow, arguments: &[String]) -> Result<String, LineRefusal> {
        let mut message = String::new();
        for option in row.options() {
            let RowOption::Creates(line) = option else {
                continue;
            };
            let before = self.root.children.len();
            let mut editor = ConfigEditor {
                grammar: self.grammar,
                root: self.root,
                position: &mut BlockPosition::default(),
                is_loading: true,
            };
            editor.line(&filled(line, arguments))?;
            let warning = row.find(|option| match option {
                RowOption::Warns(text) => Some(filled(text, arguments)),
                _ => None,
            });
            if self.root.children.len() > before {
                message.push_str(&warning.unwrap_or_default());
            }
        }
        Ok(message)
    }

    fn unset(
        &mut self,
        depth: usize,
        sign: LineSign,
        parsed: &ParsedLine,
    ) -> Result<LineOutcome, LineRefusal> {
        let grammar = self.grammar;
        let mode = self.position.mode(depth);
        let row = &grammar.rows[parsed.row];
        let stored = self.stored_line(mode, parsed)?;
        for path in self.position.targets() {
            for line in separate_lines(grammar, &stored) {
                let Some(block) = self.root.block(&path) else {
                    continue;
                };
                let scope = BlockScope {
                    grammar,
                    root: self.root,
                    block,
                    mode,
                };
                let is_on = scope.is_on(row);
                let is_permanent = block.child(&line.key).is_some_and(|node| node.is_permanent);
                let Some(block) = self.root.block_mut(&path) else {
                    continue;
                };
                if row.enters.is_some() && sign == LineSign::Reset {
                    if let Some(node) = block.child_mut(&line.key) {
                        node.children.clear();
                    }
                } else if is_permanent {
                    let message = filled(&grammar.settings.message.permanent, &line.arguments);
                    return Err(LineRefusal::Message(message));
                } else if (is_on || row.stores_negation()) && sign == LineSign::Negate {
                    block.set(ConfigNode {
                        row: Some(line.row),
                        key: line.key.clone(),
                        text: line.key.clone(),
                        is_negative: true,
                        ..ConfigNode::default()
                    });
                } else {
                    block.remove(&line.key);
                }
                for option in row.options() {
                    if let RowOption::NegationClears(start) = option {
                        block.clear(&filled(start, &line.arguments), &line.key);
                    }
                }
            }
        }
        if depth == 0 {
            self.remove_dependents();
        }
        Ok(LineOutcome::Done(String::new()))
    }

    /// Removes the lines that need another line which has gone.
    fn remove_dependents(&mut self) {
        let lines: Vec<String> = self
            .root
            .children
            .iter()
            .map(|node| node.text.clone())
            .collect();
        let is_met = |needed: &str| lines.iter().any(|line| line == needed);
        remove_unmet(self.root, self.grammar, &is_met);
    }
}

fn remove_unmet(block: &mut ConfigNode, grammar: &CommandGrammar, is_met: &dyn Fn(&str) -> bool) {
    block.children.retain(|node| {
        node.row.is_none_or(|row| {
            let row = &grammar.rows[row];
            let has_gone = row.options().iter().any(|option| match option {
                RowOption::GoesWith(line) => !is_met(&filled(line, &node.arguments)),
                _ => false,
            });
            !has_gone && row.needs().all(is_met)
        })
    });
    for child in &mut block.children {
        remove_unmet(child, grammar, is_met);
    }
}

/// Whether the row is a negation, which is not stored.
fn begins_negation(grammar: &CommandGrammar, row: &GrammarRow) -> bool {
    row.syntax.first_keyword() == Some(grammar.settings.negate.as_str())
}

/// The lines of a line with a list in its key that enters a block for each value.
fn separate_lines(grammar: &CommandGrammar, line: &ParsedLine) -> Vec<ParsedLine> {
    let row = &grammar.rows[line.row];
    let list = grammar
        .list_argument(line.row)
        .filter(|_| row.enters.is_some());
    let Some((argument, typed)) = list.zip(line.arguments.first()) else {
        return vec![line.clone()];
    };
    let values = argument.values(typed);
    let lines = values.into_iter().map(|value| ParsedLine {
        row: line.row,
        words: line.words.clone(),
        text: line.text.replacen(typed.as_str(), &value, 1),
        key: line.key.replacen(typed.as_str(), &value, 1),
        arguments: std::iter::once(value)
            .chain(line.arguments[1..].iter().cloned())
            .collect(),
    });
    lines.collect()
}

/// What ends the text that begins with the line.
fn text_end(row: &GrammarRow, line: &ParsedLine) -> Option<String> {
    if let Some(word) = row.find(|option| match option {
        RowOption::Until(word) => Some(word.clone()),
        _ => None,
    }) {
        return Some(word);
    }
    let text = row.has_delimited_text().then(|| line.arguments.last())??;
    let delimiter = text.chars().next()?;
    let is_closed = text[delimiter.len_utf8()..].contains(delimiter);
    (!is_closed).then(|| delimiter.to_string())
}
