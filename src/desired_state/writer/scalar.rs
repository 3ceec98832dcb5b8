//! Texts and keys of YAML, with quotation marks where a parser would read something else.
//!
//! Other programs read the files, too: what YAML 1.1 takes for a Boolean, a number or a time has quotation marks.

use switchtender_devices::printable::is_printable;

/// A key. A whole number needs no quotation marks.
pub(super) fn key(text: &str) -> String {
    if is_integer(text) {
        text.to_owned()
    } else {
        self::text(text)
    }
}

/// A text in one line.
pub(super) fn text(text: &str) -> String {
    if is_plain(text) {
        text.to_owned()
    } else {
        quoted(text)
    }
}

/// Whether a text is written in lines of its own: it has several, and all are printable.
pub(super) fn is_block(text: &str) -> bool {
    let has_lines = text.trim_end_matches('\n').contains('\n');
    let is_readable = text
        .chars()
        .all(|c| c == '\n' || (is_printable(c) && c != '\u{feff}'));
    // A blank at the beginning would belong to the indentation.
    let begins_with_text = text.starts_with(|c: char| !c.is_whitespace());
    has_lines && is_readable && begins_with_text
}

/// The mark of a text in lines: which line ends at its end belong to it.
pub(super) fn block_mark(text: &str) -> &'static str {
    match text.strip_suffix('\n') {
        None => "|-",
        Some(rest) if rest.ends_with('\n') => "|+",
        Some(_) => "|",
    }
}

fn is_integer(text: &str) -> bool {
    let is_number = !text.is_empty() && text.len() < 10 && text.bytes().all(|b| b.is_ascii_digit());
    is_number && (text == "0" || !text.starts_with('0'))
}

fn is_plain(text: &str) -> bool {
    let may_begin = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '_');
    let may_contain = |c: char| {
        c.is_ascii_alphanumeric()
            || matches!(
                c,
                ' ' | '_'
                    | '.'
                    | '/'
                    | '-'
                    | '+'
                    | '@'
                    | '='
                    | '('
                    | ')'
                    | ';'
                    | '%'
                    | '^'
                    | '$'
                    | '*'
            )
    };
    text.starts_with(may_begin)
        && text.chars().all(may_contain)
        && !text.ends_with(' ')
        && !is_word(text)
        && !is_like_number(text)
}

/// Whether a parser takes a word for a Boolean or for nothing.
fn is_word(text: &str) -> bool {
    const WORDS: [&str; 9] = ["true", "false", "yes", "no", "on", "off", "null", "y", "n"];
    WORDS.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// Whether a parser can take a text for a number or a date. Addresses and ranges are none.
fn is_like_number(text: &str) -> bool {
    let is_part =
        |c: char| c.is_ascii_hexdigit() || matches!(c, '_' | '.' | '+' | '-' | 'x' | 'X' | 'o');
    let is_address = text.matches('.').count() > 1;
    let is_range = text.split_once('-').is_some_and(|(first, last)| {
        let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        is_number(first) && is_number(last)
    });
    text.starts_with(|c: char| c.is_ascii_digit())
        && text.chars().all(is_part)
        && !is_address
        && !is_range
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            c if is_printable(c) => quoted.push(c),
            c => quoted.push_str(&format!("\\U{:08x}", u32::from(c))),
        }
    }
    quoted.push('"');
    quoted
}
