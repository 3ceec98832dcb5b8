//! Each line of a definition with a sensitive attribute is masked in backups, transcripts and messages.
//!
//! The lines are made from the text of the definitions, not with the templates of the driver.

use std::path::Path;

use toml::{Table, Value as Toml};

use crate::definitions::{self, DefinitionFile};
use crate::driver::{Driver, Facts, Registry};
use crate::read::{CONFIG, Reads};
use crate::secret_mask::SecretMask;
use crate::session::mask_device_text;

const SECRET: &str = "Zq7xWgeheim";
const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/definitions");

/// The keys of a type with templates of its lines, and those with headers around them.
const LINES: [&str; 9] = [
    "line", "set", "create", "remove", "no", "more", "less", "prefix", "block",
];

/// A token of a template.
#[derive(Clone, Debug, PartialEq)]
enum Token {
    Text(String),
    Placeholder(String),
    Mark(char),
}

fn tokens(template: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = template;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '{' => rest.find('}').unwrap() + 1,
            mark if "[]<>()|".contains(mark) => 1,
            _ => rest.find(|c| "{[]<>()|".contains(c)).unwrap_or(rest.len()),
        };
        let (token, after) = rest.split_at(length);
        tokens.push(match first {
            '{' => Token::Placeholder(token[1..length - 1].to_owned()),
            mark if "[]<>()|".contains(mark) => Token::Mark(mark),
            _ => Token::Text(token.to_owned()),
        });
        rest = after;
    }
    tokens
}

/// The lines of a template: each alternative, with all options.
fn lines(template: &str, is_secret: &dyn Fn(&str) -> bool) -> Vec<String> {
    let tokens = tokens(template);
    let mut at = 0;
    let lines = sequence(&tokens, &mut at, is_secret).into_iter();
    let words = lines.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    words.collect()
}

fn sequence(tokens: &[Token], at: &mut usize, is_secret: &dyn Fn(&str) -> bool) -> Vec<String> {
    let mut lines = vec![String::new()];
    while let Some(token) = tokens.get(*at) {
        let next: Vec<String> = match token {
            Token::Mark(']' | '>' | ')' | '|') => break,
            Token::Text(text) => vec![text.clone()],
            Token::Placeholder(name) => vec![word(name, is_secret)],
            Token::Mark(opening) => {
                *at += 1;
                let mut options = sequence(tokens, at, is_secret);
                while *opening == '(' && tokens.get(*at) == Some(&Token::Mark('|')) {
                    *at += 1;
                    options.extend(sequence(tokens, at, is_secret));
                }
                options
            }
        };
        *at += 1;
        lines = lines
            .iter()
            .flat_map(|line| next.iter().map(move |next| format!("{line}{next}")))
            .collect();
    }
    lines
}

/// The text for a placeholder.
fn word(placeholder: &str, is_secret: &dyn Fn(&str) -> bool) -> String {
    if let Some((_, flag)) = placeholder.split_once(['?', '!']) {
        return flag.to_owned();
    }
    if placeholder.contains('=') {
        return String::new();
    }
    let name = placeholder.split([':', '|']).next().unwrap();
    let attribute = name.split('.').next().unwrap();
    let text = match () {
        () if is_secret(attribute) => SECRET,
        () if placeholder.contains(":ipv6") => "2001:db8::1",
        () if placeholder.contains(":ip") => "192.0.2.1",
        () => "7",
    };
    match placeholder.split_once(":each ") {
        Some((_, word)) => format!("{word} {text}"),
        None => text.to_owned(),
    }
}

/// All texts of a value.
pub(super) fn texts(value: &Toml) -> Vec<&str> {
    match value {
        Toml::String(text) => vec![text],
        Toml::Array(items) => items.iter().flat_map(texts).collect(),
        Toml::Table(table) => table.values().flat_map(texts).collect(),
        _ => Vec::new(),
    }
}

/// The lines of a definition that have the secret, below the headers of their blocks.
fn secret_lines(definition: &Table, sensitive: &[String]) -> Vec<String> {
    let none = Table::new();
    let table = |name: &str| {
        definition
            .get(name)
            .and_then(Toml::as_table)
            .unwrap_or(&none)
    };
    let instance = table("instance");
    let first = |key: &str| instance.get(key).map(|value| texts(value)[0]);
    let header = first("block").or(first("enter")).unwrap_or_default();
    let prefix = first("prefix").unwrap_or_default();
    let sections = table("attr")
        .iter()
        .map(|(name, rule)| (name.as_str(), rule.as_table()));
    let sections = sections.filter_map(|(name, rule)| Some((name, rule?)));
    let mut found = Vec::new();
    for (name, section) in [("", instance)].into_iter().chain(sections) {
        let is_secret = |attribute: &str| {
            // The first element is the number of a key.
            let own = match attribute.parse::<usize>() {
                Ok(element) if element > 0 => name,
                _ => attribute,
            };
            sensitive.iter().any(|other| other == own)
        };
        let sub = section.get("sub").map_or("", |sub| texts(sub)[0]);
        let elsewhere = section.get("elsewhere").and_then(Toml::as_str);
        for (key, value) in section
            .iter()
            .filter(|(key, _)| LINES.contains(&key.as_str()))
        {
            for template in texts(value) {
                let is_own = name.is_empty() || elsewhere.is_some();
                let complete = if is_own {
                    template.to_owned()
                } else {
                    format!("{prefix} {template}")
                };
                let headers = match (key.as_str(), elsewhere) {
                    ("block", _) => String::new(),
                    (_, Some(outer)) => outer.to_owned(),
                    _ => format!("{header} / {sub}"),
                };
                let headers = headers.replace(" / [", " / ").replace("] / ", " / ");
                let headers = headers
                    .split(" / ")
                    .flat_map(|one| lines(one, &|_| false).pop());
                let headers: Vec<String> = headers.filter(|one| !one.is_empty()).collect();
                for line in lines(&complete, &is_secret)
                    .into_iter()
                    .filter(|line| line.contains(SECRET))
                {
                    let mut text = String::new();
                    for (depth, line) in headers.iter().chain([&line]).enumerate() {
                        text += &format!("{}{line}\n", " ".repeat(depth));
                    }
                    found.push(text);
                }
            }
        }
    }
    found
}

fn sensitive_attributes(model: &str) -> Vec<String> {
    let model: Table = model.parse().unwrap();
    let attributes = model
        .get("attr")
        .and_then(Toml::as_table)
        .into_iter()
        .flatten();
    let is_sensitive = |rule: &Toml| rule.get("sensitive").and_then(Toml::as_bool) == Some(true);
    attributes
        .filter(|(_, rule)| is_sensitive(rule))
        .map(|(name, _)| name.clone())
        .collect()
}

#[test]
fn lines_with_sensitive_attributes_are_masked_in_every_text() {
    let examples = definitions::from_directory(Path::new(EXAMPLES)).unwrap();
    let registry = Registry::load(&examples).unwrap();
    let files: Vec<DefinitionFile> = definitions::shipped().into_iter().chain(examples).collect();
    let text_of = |path: &str| {
        files
            .iter()
            .rfind(|file| file.path == path)
            .map(|file| &file.source.text)
    };
    let mut failures = String::new();
    let mut count = 0;
    for platform in registry.platforms() {
        for name in platform.type_names() {
            let model = text_of(&format!("models/{name}.toml"));
            let definition = text_of(&format!("{}/{name}.toml", platform.name));
            let (Some(model), Some(definition)) = (model, definition) else {
                continue;
            };
            let sensitive = sensitive_attributes(model);
            let driver = Driver::new(platform, &Facts::default());
            for text in secret_lines(&definition.parse().unwrap(), &sensitive) {
                count += 1;
                // Also with words that no template reads, and as a command of a transcript.
                let line = text.trim_end();
                let command = line.rsplit('\n').next().unwrap_or_default().trim();
                for text in [
                    text.clone(),
                    format!("{line} zzunknown\n"),
                    format!("no {command}\n"),
                    format!("switch(config-x)# {command}\n"),
                ] {
                    let reads = Reads::from_iter([(CONFIG.to_owned(), text.clone())]);
                    let backup = driver.backup(&reads, |text| driver.masked_text(text));
                    let transcript =
                        mask_device_text(platform.protocol(), &SecretMask::default(), &text);
                    let message = driver.masked_text(&text);
                    for output in [
                        backup.configuration.unwrap_or_default(),
                        transcript,
                        message,
                    ] {
                        if output.contains(SECRET) {
                            failures += &format!("{}/{name}: {output}", platform.name);
                            break;
                        }
                    }
                }
            }
        }
    }
    assert!(count > 40, "{count} lines");
    assert!(failures.is_empty(), "{count} lines\n{failures}");
}
