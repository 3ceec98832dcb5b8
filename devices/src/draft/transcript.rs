//! Finds prompts and commands in a recorded session.

use std::sync::LazyLock;

use regex::Regex;

use super::toml_text::escaped;
use crate::map::IndexMap;

/// `host#`, `host(config-if)#`, `user@host:~$`, and with a number of commands `* host.7 #`.
static OPEN_PROMPT: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"^(?<prompt>(?:\* )?(?:(?<user>[\w.-]+)@)?(?<host>[A-Za-z0-9][\w.-]*?)(?:(?<count>[.:]\d+) ?)?(?<rest>\([^)\s]*\)|:[^\s#>$%]*)?(?<end>[#>$%])) ?(?<command>.*)$";
    Regex::new(pattern).expect("a valid pattern")
});

/// `<host>`, `[host]`, `[host-view]`.
static ENCLOSED_PROMPT: LazyLock<Regex> = LazyLock::new(|| {
    let pattern =
        r"^(?<prompt>(?<start>[<\[])[*~]?(?<host>[A-Za-z0-9][^\s>\]]*)[>\]]) ?(?<command>.*)$";
    Regex::new(pattern).expect("a valid pattern")
});

/// A recorded session.
#[derive(Debug, Default)]
pub(super) struct RecordedSession {
    /// Commands in order.
    pub(super) entries: Vec<Entry>,
    /// The patterns of the modes that were seen.
    pub(super) modes: IndexMap<&'static str, ModeDraft>,
}

/// A command with its output.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) mode: &'static str,
    pub(super) command: String,
    pub(super) output: Vec<String>,
}

/// A mode: an example of each kind of its prompts, and a pattern.
#[derive(Debug)]
pub(super) struct ModeDraft {
    pub(super) prompts: Vec<String>,
    /// The pattern of the first prompt.
    first: String,
    /// The different first words of the names of submodes.
    words: Vec<String>,
}

impl ModeDraft {
    /// The pattern of all its prompts.
    pub(super) fn pattern(&self) -> String {
        match self.words.as_slice() {
            [first, _, ..] => {
                let words = self.words.join("|");
                let all = format!("(?<sub>(?:{words})-");
                self.first.replacen(&format!("(?<sub>{first}-"), &all, 1)
            }
            _ => self.first.clone(),
        }
    }

    fn add(&mut self, prompt: &str, word: Option<String>) {
        if let Some(word) = word.filter(|word| !self.words.contains(word)) {
            self.words.push(word);
            self.prompts.push(prompt.to_owned());
        }
    }
}

pub(super) const USER: &str = "user";
pub(super) const EXEC: &str = "exec";
pub(super) const CONFIG: &str = "config";
pub(super) const SUB: &str = "config-sub";

/// A line that looks like a prompt with a command.
struct PromptLine<'t> {
    prompt: &'t str,
    host: &'t str,
    /// The text between the host name and the end.
    rest: &'t str,
    end: &'t str,
    has_user: bool,
    /// A number that grows with each command follows the host name.
    has_count: bool,
    command: &'t str,
}

fn prompt_line(line: &str) -> Option<PromptLine<'_>> {
    let text = |found: &regex::Captures<'_>, name: &str| {
        found.name(name).map_or(0..0, |group| group.range())
    };
    if let Some(found) = ENCLOSED_PROMPT.captures(line) {
        return Some(PromptLine {
            prompt: &line[text(&found, "prompt")],
            host: &line[text(&found, "host")],
            rest: "",
            end: &line[text(&found, "start")],
            has_user: false,
            has_count: false,
            command: &line[text(&found, "command")],
        });
    }
    let found = OPEN_PROMPT.captures(line)?;
    Some(PromptLine {
        prompt: &line[text(&found, "prompt")],
        host: &line[text(&found, "host")],
        rest: &line[text(&found, "rest")],
        end: &line[text(&found, "end")],
        has_user: found.name("user").is_some(),
        has_count: found.name("count").is_some(),
        command: &line[text(&found, "command")],
    })
}

impl RecordedSession {
    /// The session in a text; empty if the text has no prompts.
    pub(super) fn parse(text: &str) -> Self {
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        let mut hosts: IndexMap<&str, usize> = IndexMap::default();
        for found in lines.iter().filter_map(|line| prompt_line(line)) {
            *hosts.entry(found.host).or_default() += 1;
        }
        let most = hosts.iter().max_by_key(|(_, count)| **count);
        // One line can look like a prompt by chance.
        let Some((host, _)) = most.filter(|(_, count)| **count > 1) else {
            return Self::default();
        };
        let mut session = Self::default();
        let mut first_end = None;
        for line in lines {
            let found = prompt_line(line).filter(|found| {
                found.host == *host
                    || found.end == "[" && found.host.starts_with(&format!("{host}-"))
            });
            let Some(found) = found else {
                if let Some(entry) = session.entries.last_mut() {
                    entry.output.push(line.to_owned());
                }
                continue;
            };
            let first_end = *first_end.get_or_insert(found.end);
            let (mode, pattern) = found.mode(host, first_end);
            let drafted = session.modes.entry(mode).or_insert_with(|| ModeDraft {
                prompts: Vec::new(),
                first: pattern,
                words: Vec::new(),
            });
            match (found.sub_word(), drafted.prompts.is_empty()) {
                (None, true) => drafted.prompts.push(found.prompt.to_owned()),
                (word, _) => drafted.add(found.prompt, word),
            }
            session.entries.push(Entry {
                mode,
                command: found.command.trim().to_owned(),
                output: Vec::new(),
            });
        }
        session
    }

    /// The command after which the prompt of one mode becomes that of another.
    pub(super) fn transition(&self, from: &str, to: &str) -> Option<&str> {
        let mut pairs = self.entries.windows(2);
        let found = pairs
            .find(|pair| pair[0].mode == from && pair[1].mode == to && !pair[0].command.is_empty());
        found.map(|pair| pair[0].command.as_str())
    }

    /// The last command that begins with one of these words, in the mode for reads.
    pub(super) fn sent(&self, words: &[&str]) -> Option<&Entry> {
        self.entries.iter().rfind(|entry| {
            matches!(entry.mode, EXEC | USER)
                && words.iter().any(|words| {
                    let rest = entry.command.strip_prefix(words);
                    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
                })
        })
    }

    /// The output of the first command in the mode for reads that has one of these words.
    pub(super) fn read(&self, words: &[&str]) -> Option<&Entry> {
        self.entries.iter().find(|entry| {
            matches!(entry.mode, EXEC | USER)
                && !entry.output.is_empty()
                && words.iter().any(|word| entry.command.contains(word))
        })
    }
}

impl PromptLine<'_> {
    /// The first word of the name of a submode in round brackets, for a pattern.
    fn sub_word(&self) -> Option<String> {
        let is_open = !self.has_user && !self.has_count && !matches!(self.end, "<" | "[");
        let inner = self.rest.trim_matches(['(', ')']);
        let (first, _) = inner.split_once('-').filter(|_| is_open)?;
        Some(escaped(first))
    }

    /// The mode of the prompt, and its pattern. `first_end` is the end of the first prompt.
    fn mode(&self, host: &str, first_end: &str) -> (&'static str, String) {
        const NAME: &str = r"(?<name>[\w.\-]+)";
        let end = escaped(self.end);
        if self.end == "<" {
            return (EXEC, format!("<{NAME}>"));
        }
        if self.end == "[" {
            return if self.host == host {
                (CONFIG, r"\[[*~]?(?<name>[\w.]+)\]".to_owned())
            } else {
                (SUB, r"\[[*~]?(?<name>[\w.]+)-(?<sub>\S+)\]".to_owned())
            };
        }
        if self.has_user {
            let mode = if self.end == first_end { EXEC } else { CONFIG };
            return (mode, format!(r"[\w.\-]+@{NAME}[^\s#>$%]*{end}"));
        }
        if self.has_count {
            let mode = if self.end == first_end { EXEC } else { CONFIG };
            return (mode, format!(r"(?:\* )?{NAME}[.:]\d+ ?{end}"));
        }
        let inner = self.rest.trim_matches(['(', ')']);
        match self.sub_word() {
            _ if self.rest.is_empty() && self.end == ">" => (USER, format!("{NAME}>")),
            _ if self.rest.is_empty() => (EXEC, format!("{NAME}{end}")),
            Some(first) => (SUB, format!(r"{NAME}\((?<sub>{first}-[^)]*)\){end}")),
            None => {
                let inner = escaped(inner);
                (CONFIG, format!(r"{NAME}\({inner}\){end}"))
            }
        }
    }
}
