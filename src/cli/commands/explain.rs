//! `switchtender explain`: rules, statuses, exit codes and other words of the output.

mod topic;

use std::sync::Arc;

use switchtender_devices::driver::{DefinitionKey, Platform};
use switchtender_devices::session::LineTransport;

use crate::cli::exit::{CommandError, Exit, print};
use crate::cli::options::definitions;
use crate::cli::options::global::Global;
use crate::diagnostic::{severity_word, suggest};
use crate::terminal_text::{Style, TerminalText};
use crate::validate::rule::{RULES, Rule};
use topic::Topic;

/// Explain a finding, status, exit code, message or platform
///
/// Examples:
///   switchtender explain host-resource
///   switchtender explain 'error[unknown-key]: unknown key `host`'
///   switchtender explain not run
///   switchtender explain 6
///   switchtender explain cisco_ios
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ExplainArgs {
    /// Code in the brackets of a finding, the whole finding, another word of the output, or a platform
    #[arg(value_name = "CODE")]
    words: Vec<String>,
}

pub(crate) fn run(args: &ExplainArgs, global: &Global) -> Result<Exit, CommandError> {
    let mut text = TerminalText::with_colors(global.is_stdout_colored());
    if args.words.is_empty() {
        list(&mut text);
    } else {
        let words = args.words.join(" ");
        let mut code = code_of(&words);
        let joined = code.trim().replace(' ', "-");
        if Rule::find(&joined).is_some() {
            code = &joined;
        }
        if Rule::find(code).is_none() && topic::find(code).is_none() {
            code = code_in(code).unwrap_or(code);
        }
        if let Some(rule) = Rule::find(code) {
            add_rule(&mut text, rule);
        } else if let Some(topic) = topic::find(code) {
            add_topic(&mut text, topic);
            if let Some(key) = DefinitionKey::find(code) {
                text.end_line();
                add_key(&mut text, &key);
            }
        } else if let Some(key) = DefinitionKey::find(code) {
            add_key(&mut text, &key);
        } else if let Some(platform) = registry_platform(&words)?.as_deref() {
            add_platform(&mut text, platform);
        } else if !code.is_empty() && code.chars().all(|character| character.is_ascii_digit()) {
            let error = CommandError::new(format!("unknown exit code `{code}`"));
            return Err(error.hint(format!("the exit codes are {}", topic::exit_codes())));
        } else {
            let codes = RULES.iter().map(|rule| rule.code);
            let names = codes.chain(topic::all().map(|topic| topic.name));
            let list = "list all with `switchtender explain`";
            let hint = suggest(code, names, list);
            return Err(CommandError::new(format!("nothing is known about `{code}`")).hint(hint));
        }
    }
    print(&text);
    Ok(Exit::SUCCESS)
}

/// The code of a finding, `error[CODE]: message`; other words as they are.
fn code_of(words: &str) -> &str {
    let inside = words.split_once('[').and_then(|(severity, rest)| {
        let is_finding = matches!(severity.trim(), "error" | "warning" | "note");
        is_finding.then(|| rest.split_once(']')).flatten()
    });
    inside.map_or(words, |(code, _)| code)
}

/// The code that a message contains, such as that of an option: `--allow own-path` permits it.
fn code_in(message: &str) -> Option<&'static str> {
    let names = RULES.iter().map(|rule| rule.code);
    let mut names = names.chain(topic::all().map(|topic| topic.name));
    let is_part = |character: char| character.is_alphanumeric() || character == '-';
    let words = message.split(|character| !is_part(character));
    let codes: Vec<&str> = words.filter(|word| word.contains('-')).collect();
    names.find(|name| codes.contains(name))
}

fn list(text: &mut TerminalText) {
    let names = RULES.iter().map(|rule| rule.code);
    let names = names.chain(topic::all().map(|topic| topic.name));
    let width = names.map(str::len).max().unwrap_or(0);
    for rule in RULES {
        let severity = severity_word(rule.severity);
        text.paint(Style::Bold, format_args!("{:width$}", rule.code))
            .line(format_args!("  {severity:7}  {}", rule.summary));
    }
    for (heading, topics) in topic::GROUPS {
        text.end_line().line(format_args!("{heading}:"));
        for topic in topics {
            text.paint(Style::Bold, format_args!("{:width$}", topic.name))
                .line(format_args!("  {}", topic.summary));
        }
    }
}

fn add_rule(text: &mut TerminalText, rule: &Rule) {
    let severity = severity_word(rule.severity);
    text.paint(Style::Bold, rule.code)
        .line(format_args!(" ({severity}): {}", rule.summary))
        .end_line()
        .block("", rule.explanation);
    if !rule.bad.is_empty() {
        for (title, example) in [("Wrong:", rule.bad), ("Right:", rule.good)] {
            text.end_line().paint(Style::Bold, title).end_line();
            text.block("    ", &Rule::render_example(example));
        }
    }
}

fn add_topic(text: &mut TerminalText, topic: &Topic) {
    text.paint(Style::Bold, topic.name)
        .line(format_args!(": {}", topic.summary))
        .end_line()
        .block("", topic.explanation);
}

fn registry_platform(name: &str) -> Result<Option<Arc<Platform>>, CommandError> {
    let registry = definitions::load(None)?;
    Ok(registry.platform(name).cloned())
}

/// A platform, with what becomes of a late write of a process that lost a device.
fn add_platform(text: &mut TerminalText, platform: &Platform) {
    let protocol = platform.protocol();
    text.paint(Style::Bold, &platform.name)
        .line(": a platform")
        .end_line();
    let guarantee = protocol.guarantee(LineTransport::Ssh);
    text.line(format_args!("guarantee: {guarantee}"));
    if protocol.has_line_requests() {
        let guarantee = protocol.guarantee(LineTransport::Http);
        text.line(format_args!(
            "guarantee with `transport = \"http\"`: {guarantee}"
        ));
    }
    text.line(format_args!(
        "`switchtender explain guarantee` says what it promises; `switchtender type --platform {}` lists its types.",
        platform.name
    ));
}

/// A key of definitions, which is the code of findings about it.
fn add_key(text: &mut TerminalText, key: &DefinitionKey) {
    text.paint(Style::Bold, &key.name)
        .line(": a key of definitions, and the code of errors about it")
        .end_line();
    for (section, meaning) in &key.meanings {
        text.line(format_args!("{section}: {meaning}"));
    }
    text.end_line()
        .line("docs/reference/definition-keys.md has all keys.");
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::cli::commands::report;
    use crate::cli::output::view::summary;
    use crate::coverage::LineClass;

    #[test]
    fn code_is_found_in_a_finding() {
        for (words, expected) in [
            ("error[unknown-key]: unknown key `a[b]`", "unknown-key"),
            ("warning[title-space]", "title-space"),
            ("not run", "not run"),
            ("Network_vlan[10]", "Network_vlan[10]"),
        ] {
            assert_eq!(code_of(words), expected);
        }
        assert_eq!(topic::find("not run").unwrap().name, "not-run");
    }

    #[test]
    fn code_in_a_message_is_found() {
        for (message, expected) in [
            (
                "the session uses it; `--allow own-path` permits it",
                Some("own-path"),
            ),
            ("Network_vlan[10] failed", None),
        ] {
            assert_eq!(code_in(message), expected);
        }
    }

    #[test]
    fn topics_have_names_of_their_own() {
        let mut names: BTreeSet<&str> = RULES.iter().map(|rule| rule.code).collect();
        for topic in topic::all() {
            assert!(names.insert(topic.name), "{}", topic.name);
        }
    }

    #[test]
    fn columns_and_statuses_of_tables_are_explained() {
        let classes = LineClass::ALL.iter().map(|class| class.word());
        for word in summary::words().chain(report::COLUMNS).chain(classes) {
            assert!(topic::find(word).is_some(), "{word}");
        }
    }

    /// The codes in the sources of a directory: the first argument of a finding.
    fn codes(directory: &Path, found: &mut BTreeSet<String>) {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                codes(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                let text = text.split("#[cfg(test)]").next().unwrap();
                for call in ["error(", "error_with_help(", "warning(", "finding("] {
                    for rest in text.split(call).skip(1) {
                        let quoted = rest.trim_start().strip_prefix('"');
                        let code = quoted.and_then(|rest| rest.split_once('"'));
                        // Other arguments are messages.
                        let is_code = |code: &&str| !code.contains([' ', '{']);
                        let code = code.map(|(code, _)| code).filter(is_code);
                        found.extend(code.map(str::to_owned));
                    }
                }
            }
        }
    }

    #[test]
    fn errors_of_desired_state_are_explained() {
        let mut found = BTreeSet::new();
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        codes(&root.join("src/desired_state"), &mut found);
        assert!(found.len() > 4, "{found:?}");
        let is_unknown = |code: &String| Rule::find(code).is_none() && topic::find(code).is_none();
        found.retain(is_unknown);
        assert!(found.is_empty(), "{found:?}");
    }

    #[test]
    fn errors_of_definitions_are_explained() {
        let mut found = BTreeSet::new();
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("devices/src");
        for folder in ["dialogue", "document", "driver", "model", "read"] {
            codes(&root.join(folder), &mut found);
        }
        assert!(found.len() > 80, "{found:?}");
        let is_word = |code: &String| {
            let is_part = |c: char| c.is_ascii_lowercase() || c == '-';
            code.chars().all(is_part)
        };
        let is_unknown = |code: &String| {
            let is_topic = Rule::find(code).is_some() || topic::find(code).is_some();
            !is_topic && DefinitionKey::find(code).is_none()
        };
        // Errors of changes have the name of the attribute.
        found.retain(|code| is_word(code) && is_unknown(code) && code != "ensure");
        assert!(found.is_empty(), "{found:?}");
    }
}
