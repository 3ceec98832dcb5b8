//! The syntax of a line: words, arguments, choices and options, and the comparison with what was typed.
//!
//! It is written as in command references: `ip route <network> {<ip>|<interface>} = [name <word>]`. A
//! typed line matches if its words are keywords or their abbreviations, and its arguments have their
//! types. The equals sign ends the key: a later line with the same key replaces the line.
//!
//! | syntax | matches |
//! |---|---|
//! | `word` | the keyword, or an abbreviation of it |
//! | `<type>` | an argument, see `argument.rs` |
//! | `{a\|b}` | one of them |
//! | `x+` | `x` once or more; `x` is an argument or a choice |
//! | `[a\|b]` | one of them, or nothing |
//! | `*{a\|b}` | any of them in any order, each at most once |
//! | `=` | nothing: the words before it are the key |
//! | `x!` | `x`, whose words are not part of the key |

use super::argument::{ArgumentType, ArgumentTypeError, InterfaceKinds};
use super::typed_line::TypedLine;

/// A part of a syntax.
#[derive(Debug)]
pub(super) enum Syntax {
    Keyword(String),
    Argument(ArgumentType),
    /// Once or more.
    Repeat(Box<Syntax>),
    KeyEnd,
    /// Words that are not part of the key.
    Value(Box<Syntax>),
    Sequence(Vec<Syntax>),
    Choice(Vec<Syntax>),
    AnyOrder(Vec<Syntax>),
}

/// The part of a line that matches so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Progress {
    /// Number of words of the typed line.
    pub(super) typed: usize,
    /// The words as the device prints them.
    pub(super) words: Vec<String>,
    /// The arguments as the device prints them.
    pub(super) arguments: Vec<String>,
    /// The words of the key.
    pub(super) key: Vec<String>,
    /// The key is complete.
    pub(super) has_key: bool,
    /// Within words that are not part of the key.
    is_value: bool,
    /// How far the line is from the exact words of the syntax.
    pub(super) distance: usize,
    /// Keywords are abbreviated.
    pub(super) is_abbreviated: bool,
}

impl Progress {
    fn push(&mut self, word: &str) {
        self.words.push(word.to_owned());
        if !self.has_key && !self.is_value {
            self.key.push(word.to_owned());
        }
    }
}

/// How much of a line must be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// All of it.
    Complete,
    /// At least the key, as after a negation.
    Key,
}

/// Why a syntax is invalid.
#[derive(Debug, thiserror::Error)]
pub enum SyntaxTextError {
    /// A bracket has no partner.
    #[error("`{0}` has no partner")]
    Bracket(String),
    /// A star stands before something else than a choice.
    #[error("`*` is not before `{{`")]
    Star,
    /// The type of an argument is unknown.
    #[error(transparent)]
    Argument(#[from] ArgumentTypeError),
}

/// The piece of a repetition.
const REPEAT: &str = "+";

/// The parser of a syntax text.
struct SyntaxParser<'a> {
    pieces: std::iter::Peekable<std::vec::IntoIter<String>>,
    kinds: &'a InterfaceKinds,
}

impl Syntax {
    /// Parses the text of a syntax.
    ///
    /// # Errors
    /// A bracket has no partner, or a type is unknown.
    pub(super) fn parse(text: &str, kinds: &InterfaceKinds) -> Result<Self, SyntaxTextError> {
        let mut parser = SyntaxParser {
            pieces: pieces(text).into_iter().peekable(),
            kinds,
        };
        let mut alternatives = parser.alternatives(None)?;
        match (alternatives.len(), parser.pieces.next()) {
            (1, None) => Ok(alternatives.remove(0)),
            (_, piece) => Err(SyntaxTextError::Bracket(piece.unwrap_or("|".to_owned()))),
        }
    }

    /// The first keyword, if the syntax begins with one.
    pub(super) fn first_keyword(&self) -> Option<&str> {
        match self {
            Self::Keyword(word) => Some(word),
            Self::Sequence(parts) => parts.first().and_then(Self::first_keyword),
            _ => None,
        }
    }

    /// Calls `matched` for each match of the line from a position.
    pub(super) fn compare(
        &self,
        line: &TypedLine<'_>,
        at: Progress,
        matched: &mut dyn FnMut(Progress),
    ) {
        // All alternatives would match: a negation needs only the key.
        if at.has_key && line.extent() == Extent::Key && at.typed >= line.words().len() {
            return matched(at);
        }
        match self {
            Self::Keyword(word) => compare_keyword(word, line, at, matched),
            Self::Argument(argument) => compare_argument(argument, line, &at, matched),
            Self::Repeat(part) => part.compare(line, at, &mut |next| {
                matched(next.clone());
                if next.typed < line.words().len() {
                    self.compare(line, next, matched);
                }
            }),
            Self::KeyEnd => matched(Progress {
                has_key: true,
                ..at
            }),
            Self::Value(part) => {
                let before = Progress {
                    is_value: true,
                    ..at
                };
                part.compare(line, before, &mut |next| {
                    matched(Progress {
                        is_value: false,
                        ..next
                    });
                });
            }
            Self::Sequence(parts) => compare_sequence(parts, line, at, matched),
            Self::Choice(parts) => {
                for part in parts {
                    part.compare(line, at.clone(), matched);
                }
            }
            Self::AnyOrder(parts) => {
                let rest: Vec<&Syntax> = parts.iter().collect();
                compare_any_order(&rest, line, at, matched);
            }
        }
    }
}

fn compare_sequence(
    parts: &[Syntax],
    line: &TypedLine<'_>,
    at: Progress,
    matched: &mut dyn FnMut(Progress),
) {
    match parts.split_first() {
        None => matched(at),
        Some((first, rest)) => first.compare(line, at, &mut |next| {
            compare_sequence(rest, line, next, matched);
        }),
    }
}

fn compare_any_order(
    parts: &[&Syntax],
    line: &TypedLine<'_>,
    at: Progress,
    matched: &mut dyn FnMut(Progress),
) {
    for (index, part) in parts.iter().enumerate() {
        let mut rest = parts.to_vec();
        rest.remove(index);
        part.compare(line, at.clone(), &mut |next| {
            compare_any_order(&rest, line, next, matched);
        });
    }
    matched(at);
}

fn compare_keyword(
    word: &str,
    line: &TypedLine<'_>,
    mut at: Progress,
    matched: &mut dyn FnMut(Progress),
) {
    let Some(typed) = line.word(at.typed) else {
        return line.needs_more();
    };
    let is_exact = typed.eq_ignore_ascii_case(word);
    let is_start = word.len() > typed.len()
        && word.is_char_boundary(typed.len())
        && word[..typed.len()].eq_ignore_ascii_case(typed);
    if !is_exact && !is_start {
        return;
    }
    at.typed += 1;
    line.saw(at.typed);
    at.push(word);
    if !is_exact {
        at.is_abbreviated = true;
        at.distance += 3;
    }
    matched(at);
}

fn compare_argument(
    argument: &ArgumentType,
    line: &TypedLine<'_>,
    at: &Progress,
    matched: &mut dyn FnMut(Progress),
) {
    if at.typed >= line.words().len() {
        return line.needs_more();
    }
    for found in argument.read(line, at.typed) {
        let mut next = at.clone();
        next.typed += found.words;
        line.saw(next.typed);
        next.distance += argument.distance();
        next.push(&found.text);
        next.arguments.push(found.text);
        matched(next);
    }
}

/// Keywords, arguments and brackets of a syntax.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    let mut is_open = false;
    let mut is_argument = false;
    for letter in text.chars() {
        match letter {
            '>' if is_argument => {
                is_argument = false;
                append(&mut pieces, letter, true);
                is_open = true;
            }
            _ if is_argument => append(&mut pieces, letter, true),
            '<' => {
                is_argument = true;
                append(&mut pieces, letter, false);
            }
            // Behind an argument or a choice; otherwise it is a letter of a keyword.
            '+' if is_adjacent(&pieces, is_open) => {
                append(&mut pieces, letter, false);
                is_open = false;
            }
            '{' | '}' | '[' | ']' | '|' | '=' | '*' | '!' => {
                append(&mut pieces, letter, false);
                is_open = false;
            }
            ' ' => is_open = false,
            _ => {
                append(&mut pieces, letter, is_open);
                is_open = true;
            }
        }
    }
    pieces
}

/// Whether the last piece ends with a bracket, and no blank follows it.
fn is_adjacent(pieces: &[String], is_open: bool) -> bool {
    let last = pieces.last().map_or("", String::as_str);
    (is_open && last.ends_with('>')) || last == "}"
}

fn append(pieces: &mut Vec<String>, letter: char, is_open: bool) {
    match pieces.last_mut() {
        Some(last) if is_open => last.push(letter),
        _ => pieces.push(letter.to_string()),
    }
}

impl SyntaxParser<'_> {
    /// The alternatives up to a closing bracket.
    fn alternatives(&mut self, close: Option<&str>) -> Result<Vec<Syntax>, SyntaxTextError> {
        let mut alternatives = Vec::new();
        let mut parts = Vec::new();
        loop {
            let piece = self
                .pieces
                .next_if(|piece| close.is_some() || !is_end(piece));
            let Some(piece) = piece else {
                if let Some(close) = close {
                    return Err(SyntaxTextError::Bracket(close.to_owned()));
                }
                break;
            };
            if Some(piece.as_str()) == close {
                break;
            }
            match piece.as_str() {
                "|" => alternatives.push(sequence(std::mem::take(&mut parts))),
                "{" => parts.push(Syntax::Choice(self.alternatives(Some("}"))?)),
                "[" => {
                    let mut optional = self.alternatives(Some("]"))?;
                    optional.push(Syntax::Sequence(Vec::new()));
                    parts.push(Syntax::Choice(optional));
                }
                "*" => match self.pieces.next().as_deref() {
                    Some("{") => parts.push(Syntax::AnyOrder(self.alternatives(Some("}"))?)),
                    _ => return Err(SyntaxTextError::Star),
                },
                "=" => parts.push(Syntax::KeyEnd),
                REPEAT => {
                    let last = parts.pop().ok_or(SyntaxTextError::Bracket(piece))?;
                    parts.push(Syntax::Repeat(Box::new(last)));
                }
                "!" => {
                    let last = parts.pop().ok_or(SyntaxTextError::Bracket(piece))?;
                    parts.push(Syntax::Value(Box::new(last)));
                }
                "}" | "]" => return Err(SyntaxTextError::Bracket(piece)),
                _ => parts.push(self.word(&piece)?),
            }
        }
        alternatives.push(sequence(parts));
        Ok(alternatives)
    }

    fn word(&self, piece: &str) -> Result<Syntax, SyntaxTextError> {
        let Some(argument) = piece.strip_prefix('<') else {
            return Ok(Syntax::Keyword(piece.to_owned()));
        };
        let Some(once) = argument.strip_suffix('>') else {
            return Err(SyntaxTextError::Bracket(piece.to_owned()));
        };
        Ok(Syntax::Argument(ArgumentType::parse(once, self.kinds)?))
    }
}

fn is_end(piece: &str) -> bool {
    matches!(piece, "}" | "]")
}

fn sequence(mut parts: Vec<Syntax>) -> Syntax {
    if parts.len() == 1 {
        parts.remove(0)
    } else {
        Syntax::Sequence(parts)
    }
}
