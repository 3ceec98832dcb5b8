//! Parses templates into parts.

use std::collections::BTreeSet;

use super::part::{Address, Hole, HoleKind, Part, Piece, attributes_of, collect_literals};
use super::{CAPTURE_MARK, LineTemplate};
use crate::document::Item;
use crate::driver::template_error::TemplateError;

impl LineTemplate {
    /// Reads a template of a definition.
    pub(crate) fn load(item: &Item<'_>) -> Option<Self> {
        match Self::parse(&item.template()?) {
            Ok(template) => Some(template),
            Err(error) => {
                item.error("template", error.to_string());
                None
            }
        }
    }

    /// Parses a template.
    ///
    /// # Errors
    /// The template is empty or has an invalid part.
    pub(crate) fn parse(text: &str) -> Result<Self, TemplateError> {
        let tokens = tokens(text)?;
        let mut at = 0;
        let parts = sequence(&tokens, &mut at, None)?;
        let mut literals = BTreeSet::new();
        collect_literals(&parts, &mut literals);
        if parts.is_empty() {
            return Err("a template cannot be empty".into());
        }
        Ok(Self {
            text: text.to_owned(),
            attributes: attributes_of(&parts),
            parts,
            literals,
        })
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    Hole(String),
    Mark(char),
    /// Words and placeholders without blanks between them.
    Compound(Vec<Token>),
}

fn tokens(text: &str) -> Result<Vec<Token>, TemplateError> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    let mut is_attached = false;
    while let Some(first) = rest.chars().next() {
        let token = if "[]<>()|".contains(first) {
            rest = &rest[1..];
            Token::Mark(first)
        } else if first == '{' {
            let end = rest.find('}').ok_or("a `{` has no `}`")?;
            let hole = rest[1..end].to_owned();
            rest = &rest[end + 1..];
            Token::Hole(hole)
        } else {
            let end = rest
                .find(|c: char| c.is_whitespace() || "[]<>()|{".contains(c))
                .unwrap_or(rest.len());
            let word = rest[..end].to_owned();
            rest = &rest[end..];
            Token::Word(word)
        };
        let is_mark = matches!(token, Token::Mark(_));
        match tokens.last_mut().filter(|_| is_attached && !is_mark) {
            Some(Token::Compound(pieces)) => pieces.push(token),
            Some(last) if !matches!(last, Token::Mark(_)) => {
                *last = Token::Compound(vec![last.clone(), token]);
            }
            _ => tokens.push(token),
        }
        let trimmed = rest.trim_start();
        is_attached = trimmed.len() == rest.len();
        rest = trimmed;
    }
    Ok(tokens)
}

fn sequence(
    tokens: &[Token],
    at: &mut usize,
    close: Option<char>,
) -> Result<Vec<Part>, TemplateError> {
    let mut parts = Vec::new();
    loop {
        let Some(token) = tokens.get(*at) else {
            return match close {
                Some(close) => Err(TemplateError(format!("a `{close}` is missing"))),
                None => Ok(parts),
            };
        };
        *at += 1;
        match token {
            Token::Word(word) => parts.push(Part::Word(word.clone())),
            Token::Compound(tokens) => parts.push(Part::Compound(pieces(tokens)?)),
            Token::Hole(text) => parts.push(match text.split_once('=') {
                Some((name, values)) => Part::Where {
                    name: name.into(),
                    values: values.split('|').map(str::to_owned).collect(),
                },
                None => Part::Hole(hole(text)?),
            }),
            Token::Mark('[') => parts.push(Part::Optional(sequence(tokens, at, Some(']'))?)),
            Token::Mark('<') => {
                let mut inside = sequence(tokens, at, Some('>'))?;
                let list = match inside.first() {
                    Some(Part::Hole(hole)) if hole.kind == HoleKind::Word => Some(Hole {
                        name: hole.name.clone(),
                        kind: HoleKind::Words,
                    }),
                    _ => None,
                };
                inside.drain(..usize::from(list.is_some()));
                let options = inside.into_iter().map(|part| match part {
                    Part::Optional(parts) => Ok(parts),
                    _ => Err(TemplateError::from("only `[…]` is allowed inside `<…>`")),
                });
                parts.push(Part::AnyOrder {
                    list,
                    options: options.collect::<Result<_, TemplateError>>()?,
                });
            }
            Token::Mark('(') => {
                let mut options = vec![];
                loop {
                    options.push(sequence(tokens, at, Some(')'))?);
                    // The end is `)` or the `|` before the next alternative.
                    if tokens.get(*at - 1) == Some(&Token::Mark(')')) {
                        break;
                    }
                }
                parts.push(Part::Choice(options));
            }
            Token::Mark(mark) if Some(*mark) == close => return Ok(parts),
            Token::Mark('|') if close == Some(')') => return Ok(parts),
            Token::Mark(mark) => return Err(TemplateError(format!("unexpected `{mark}`"))),
        }
    }
}

/// The parts of a word. Text separates the placeholders, so that a word is split in one way.
fn pieces(tokens: &[Token]) -> Result<Vec<Piece>, TemplateError> {
    let mut pieces: Vec<Piece> = Vec::new();
    for token in tokens {
        let piece = match token {
            Token::Hole(text) => Piece::Hole(hole(text)?),
            Token::Word(text) => Piece::Text(text.clone()),
            Token::Mark(_) | Token::Compound(_) => continue,
        };
        if let Piece::Hole(hole) = &piece {
            if let Some(Piece::Hole(before)) = pieces.last() {
                let message = format!(
                    "`{{{}}}` and `{{{}}}` need text between them",
                    before.name, hole.name
                );
                return Err(TemplateError(message));
            }
            if !matches!(
                hole.kind,
                HoleKind::Word | HoleKind::Quoted | HoleKind::Address(_)
            ) {
                return Err(TemplateError(format!(
                    "`{{{}}}` has text around it: only one word, `:quoted` and addresses can have it",
                    hole.name
                )));
            }
        }
        pieces.push(piece);
    }
    Ok(pieces)
}

fn hole(text: &str) -> Result<Hole, TemplateError> {
    if text.len() == CAPTURE_MARK.len_utf8() && text.starts_with(CAPTURE_MARK) {
        return Ok(Hole {
            name: text.into(),
            kind: HoleKind::Rest,
        });
    }
    let (name, kind) = if let Some((name, word)) = text.split_once('?') {
        (name, HoleKind::Flag(word.to_owned()))
    } else if let Some((name, word)) = text.split_once('!') {
        (name, HoleKind::Mark(word.to_owned()))
    } else if let Some((name, kind)) = text.split_once(':') {
        let kind = match kind {
            _ if kind.starts_with("each ") => HoleKind::Each(kind[5..].trim().to_owned()),
            _ if kind.starts_with("as ") => {
                let words = kind[3..].split_whitespace();
                HoleKind::Phrase(
                    words
                        .map(|word| (word != "*").then(|| word.to_owned()))
                        .collect(),
                )
            }
            "rest" => HoleKind::Rest,
            "numbers" => HoleKind::Numbers,
            "words" => HoleKind::Words,
            "quoted" => HoleKind::Quoted,
            "ip" => HoleKind::Address(Address::Any),
            "ipv4" => HoleKind::Address(Address::Ipv4),
            "ipv6" => HoleKind::Address(Address::Ipv6),
            other => {
                return Err(TemplateError(format!(
                    "unknown `:{other}`; known are `:rest`, `:numbers`, `:words`, `:each WORD`, `:as WORD *`, `:quoted`, `:ip`, `:ipv4` and `:ipv6`"
                )));
            }
        };
        (name, kind)
    } else if let Some((name, filter)) = text.split_once('|') {
        if filter != "number" {
            return Err(TemplateError(format!(
                "unknown `|{filter}`; known is `|number`"
            )));
        }
        (name, HoleKind::Number)
    } else {
        (text, HoleKind::Word)
    };
    if name.is_empty() || name.contains(char::is_whitespace) {
        return Err(TemplateError(format!(
            "`{{{text}}}` is not an attribute name"
        )));
    }
    Ok(Hole {
        name: name.into(),
        kind,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parse_reports_errors_in_templates() {
        let cases = [
            ("a [b", "a `]` is missing"),
            ("a ]", "unexpected `]`"),
            ("a {b", "a `{` has no `}`"),
            ("a {b}{c}", "`{b}` and `{c}` need text between them"),
            (
                "a={b:rest}",
                "`{b}` has text around it: only one word, `:quoted` and addresses can have it",
            ),
            ("a <b>", "only `[…]` is allowed inside `<…>`"),
            (
                "{a:x}",
                "unknown `:x`; known are `:rest`, `:numbers`, `:words`, `:each WORD`, `:as WORD *`, `:quoted`, `:ip`, `:ipv4` and `:ipv6`",
            ),
            ("", "a template cannot be empty"),
        ];
        for (template, expected) in cases {
            assert_eq!(
                LineTemplate::parse(template).unwrap_err().to_string(),
                expected
            );
        }
    }
}
