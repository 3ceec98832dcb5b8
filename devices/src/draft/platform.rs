//! A draft of `platform.toml` from a recorded session or a saved configuration.

use std::fmt::Write as _;

use super::toml_text::{block, escaped, pattern, quoted};
use super::transcript::{CONFIG, EXEC, Entry, ModeDraft, RecordedSession, SUB, USER};
use super::{Draft, DraftError};
use crate::definitions::DefinitionFile;

/// The words of the pagers of common devices.
const PAGERS: [&str; 3] = ["--More--", "---- More ----", "---(more"];
/// The first words of a line with the host name.
const HOSTNAMES: [&str; 4] = [
    "hostname ",
    "sysname ",
    "switchname ",
    "set system host-name ",
];

/// Commands that turn the pager off, by their first words.
const PAGER_OFF: [&str; 10] = [
    "terminal length",
    "terminal pager",
    "terminal datadump",
    "screen-length",
    "screen-width",
    "set cli screen-length",
    "no page",
    "no paging",
    "disable clipaging",
    "environment no more",
];
/// Commands that save the configuration, by their first words.
const SAVE: [&str; 4] = [
    "write",
    "save",
    "copy running-config startup-config",
    "commit",
];
/// Commands that end a session.
const CLOSE: [&str; 3] = ["exit", "quit", "logout"];

/// Drafts `NAME/platform.toml`.
///
/// # Errors
/// The text has no lines.
pub fn draft_platform(name: &str, text: &str) -> Result<Draft, DraftError> {
    let session = RecordedSession::parse(text);
    let recorded = session.read(&["run", "config", "current"]);
    let config: Vec<&str> = match recorded {
        Some(entry) => entry.output.iter().map(String::as_str).collect(),
        None if session.entries.is_empty() => text.lines().map(str::trim_end).collect(),
        None => Vec::new(),
    };
    if text.trim().is_empty() {
        return Err(DraftError::Empty);
    }
    let mut guesses = Vec::new();
    let mut out = format!(
        "# A draft. Check every line; `CHECK` marks what the sample does not show.\n\
         schema    = 1\nplatform  = {}\ntransport = \"ssh-cli\"\ndoc       = \"CHECK: vendor and system.\"\n\n",
        quoted(name)
    );
    let is_set = set_lines(&config);
    if is_set {
        out.push_str("negate          = \"delete\"\nnegate_replaces = \"set\"\n");
    } else if has_first_word(&config, "undo") || has_command(&session, "undo ") {
        out.push_str("negate = \"undo\"\n");
    }
    out.push_str("line_limit         = 254    # CHECK: longest line that the device accepts\n");
    out.push_str("refused_characters = \"?\"    # CHECK: characters that a line cannot have\n\n");
    if let Some(mark) = quotation_mark(&config) {
        let mark = quoted(mark);
        let _ = write!(
            out,
            "[quote]\nmark = {mark}    # CHECK: `escape`, if a text can contain the mark\n\n"
        );
    }
    if let Some(entry) = session.read(&["version"]) {
        let has_words = |line: &&String| line.contains(char::is_alphabetic);
        let first = entry.output.iter().find(has_words);
        let first = first.map(|line| line_start(line)).unwrap_or_default();
        let command = quoted(&entry.command);
        let expect = pattern(&format!("^{}", escaped(first)));
        let _ = write!(
            out,
            "[read.version]\ncommand = {command}\nparse   = \"text\"\nexpect  = {expect}\n\n"
        );
    }
    config_read(
        &mut out,
        recorded.map(|entry| &*entry.command),
        &config,
        &mut guesses,
    );
    let _ = write!(out, "[fact.operatingsystem]\nvalue = {}\n\n", quoted(name));
    if let Some((words, value)) = host_name(&config) {
        // Marks around the name do not belong to it.
        let name = value.trim_matches(['\'', '"', ';']);
        let (before, after) = value.split_once(name).unwrap_or_default();
        let (before, after) = (escaped(&format!("{words}{before}")), escaped(after));
        let name_of_line = if value == name { r"(\S+)" } else { r"(\S+?)" };
        let found = pattern(&format!(r"(?m)^{before}{name_of_line}{after}\s*$"));
        let _ = write!(
            out,
            "[fact.hostname]\nfrom    = \"config\"\npattern = {found}\n\n"
        );
        // The lines that every configuration has, too.
        let line = format!("{words}{value}");
        let ends = [first_content(&config), last_content(&config)];
        let [first, last] = ends.map(|end| end.filter(|end| !end.starts_with(words)));
        let lines = first.into_iter().chain([line.as_str()]).chain(last);
        let supplied = block(&lines.collect::<Vec<_>>().join("\n"));
        let value = quoted(name);
        let _ = write!(
            out,
            "[[test]]\nname = \"facts\"\ngiven.config = {supplied}\nfacts = {{ hostname = {value} }}\n\n"
        );
    }
    modes(&mut out, &session, is_set, &mut guesses);
    closing(&mut out, text, &session, &mut guesses);
    Ok(Draft {
        left_out: Vec::new(),
        files: vec![DefinitionFile::new(format!("{name}/platform.toml"), out)],
        guesses,
    })
}

/// The mark around texts with blanks.
fn quotation_mark(config: &[&str]) -> Option<&'static str> {
    let is_quoted = |line: &&str, mark: &str| {
        let (_, text) = line.split_once(&format!(" {mark}")).unwrap_or_default();
        text.strip_suffix(mark).is_some_and(|text| !text.is_empty())
    };
    let mut marks = ["\"", "'"].into_iter();
    marks.find(|mark| config.iter().any(|line| is_quoted(line, mark)))
}

fn is_content(line: &str) -> bool {
    !line.trim().is_empty() && !line.starts_with(['!', '#', ' '])
}

/// The first line of a configuration that is no heading.
fn first_content<'t>(config: &[&'t str]) -> Option<&'t str> {
    let is_heading = |line: &str| line.starts_with("Building") || line.starts_with("Current");
    let mut lines = config.iter().copied();
    lines.find(|line| is_content(line) && !is_heading(line))
}

/// The last line, if it marks the end of a configuration.
fn last_content<'t>(config: &[&'t str]) -> Option<&'t str> {
    let mut lines = config.iter().copied();
    let last = lines.rfind(|line| is_content(line));
    last.filter(|line| matches!(*line, "end" | "return"))
}

fn config_read(
    out: &mut String,
    command: Option<&str>,
    config: &[&str],
    guesses: &mut Vec<String>,
) {
    if command.is_none() {
        guesses
            .push("[read.config] `command`: the sample has no command that prints it".to_owned());
    }
    let command = quoted(command.unwrap_or("show running-config"));
    let mut ignored = Vec::new();
    for (start, found) in [
        ("!", "^!"),
        ("#", "^#"),
        ("Building configuration", "^Building configuration"),
    ] {
        if config.iter().any(|line| line.starts_with(start)) {
            ignored.push(found.to_owned());
        }
    }
    let (first, last) = (first_content(config), last_content(config));
    if first.is_none() {
        guesses.push("[read.config] `expect`: a line that every configuration has".to_owned());
    }
    let expect = first.map_or("version", |line| line_start(line));
    let expect = pattern(&format!("^{}", escaped(expect)));
    let _ = writeln!(
        out,
        "[read.config]\ncommand = {command}\nparse   = \"indent\""
    );
    let _ = writeln!(
        out,
        "expect  = {expect}    # CHECK: a line that every configuration has"
    );
    if let Some(last) = last {
        let last = format!("^{last}$");
        let _ = writeln!(out, "last    = {}", pattern(&last));
        ignored.push(last);
    }
    if !ignored.is_empty() {
        let ignored: Vec<String> = ignored.iter().map(|text| pattern(text)).collect();
        let _ = writeln!(out, "ignore  = [{}]", ignored.join(", "));
    }
    if let Some(mark) = config.iter().find_map(|line| banner_mark(line)) {
        let start = format!(r"^banner \S+ {}", escaped(mark));
        let end = format!("^{}$", escaped(mark));
        let (start, end) = (pattern(&start), pattern(&end));
        let _ = writeln!(
            out,
            "opaque  = [{{ start = {start}, end = {end} }}]    # CHECK: free text"
        );
    }
    out.push('\n');
}

/// The mark that ends the text of a banner.
fn banner_mark(line: &str) -> Option<&str> {
    let words: Vec<&str> = line.split_whitespace().collect();
    match words.as_slice() {
        ["banner", _, mark] if mark.chars().count() == 1 => Some(mark),
        _ => None,
    }
}

fn modes(out: &mut String, session: &RecordedSession, is_set: bool, guesses: &mut Vec<String>) {
    let has = |mode: &str| session.modes.contains_key(mode);
    let has_sub = has(SUB) || !has(CONFIG) && !is_set;
    let _ = write!(
        out,
        "[connection]\nport        = 22\nread_mode   = \"{EXEC}\"\nconfig_mode = \"{CONFIG}\"\n"
    );
    if has_sub {
        let _ = write!(
            out,
            "sub_mode    = \"{SUB}\"\n# direct_sub_modes = true    # CHECK: a block can be entered from another block\n"
        );
    }
    out.push_str("# noise = ['^%[A-Z]+-\\d-']   # CHECK: log messages on the terminal\n\n");
    let defaults = [
        (USER, r"(?<name>[\w.\-]+)>"),
        (EXEC, r"(?<name>[\w.\-]+)#"),
        (CONFIG, r"(?<name>[\w.\-]+)\(config\)#"),
        (SUB, r"(?<name>[\w.\-]+)\((?<sub>config-[^)]*)\)#"),
    ];
    for (mode, guess) in defaults {
        if mode == USER && !has(USER) || mode == SUB && !has_sub {
            continue;
        }
        let found = session.modes.get(mode);
        if found.is_none() {
            guesses.push(format!(
                "[mode.{mode}] `prompt`: the sample has no such prompt"
            ));
        }
        let prompt = pattern(&found.map_or_else(|| guess.to_owned(), ModeDraft::pattern));
        let check = if found.is_some() { "" } else { "    # CHECK" };
        let _ = write!(out, "[mode.{mode}]\nprompt = {prompt}{check}\n\n");
        let transitions: &[(&str, &str)] = match mode {
            USER => &[(EXEC, "enable")],
            EXEC => &[(CONFIG, "configure terminal")],
            CONFIG => &[(EXEC, "end")],
            _ => &[(CONFIG, "exit"), (EXEC, "end")],
        };
        for (to, guess) in transitions {
            let found = session.transition(mode, to);
            if found.is_none() {
                guesses.push(format!(
                    "[mode.{mode}.to.{to}] `send`: the sample does not show it"
                ));
            }
            let check = if found.is_some() { "" } else { "    # CHECK" };
            let send = quoted(found.unwrap_or(guess));
            let _ = write!(out, "[mode.{mode}.to.{to}]\nsend = {send}{check}\n\n");
        }
    }
    for (mode, found) in &session.modes {
        for prompt in &found.prompts {
            let _ = write!(
                out,
                "[[test]]\nname   = {}\nprompt = {}\nmode   = \"{mode}\"\n\n",
                quoted(&format!("the prompt {prompt}")),
                quoted(prompt)
            );
        }
    }
}

fn closing(out: &mut String, text: &str, session: &RecordedSession, guesses: &mut Vec<String>) {
    let pager = PAGERS.iter().find(|pager| text.contains(*pager));
    if pager.is_none() {
        guesses.push("[connection.pager] `question`: the sample has no pager".to_owned());
    }
    let marker = pattern(&escaped(pager.unwrap_or(&PAGERS[0])));
    let check = if pager.is_some() { "" } else { "    # CHECK" };
    let _ = write!(
        out,
        "[connection.pager]\nquestion = {marker}{check}\nanswer   = \" \"\n\n"
    );
    step(
        out,
        "open",
        session.sent(&PAGER_OFF),
        "turns the pager off",
        guesses,
    );
    step(
        out,
        "close",
        session.sent(&CLOSE),
        "ends the session",
        guesses,
    );
    step(
        out,
        "save",
        session.sent(&SAVE),
        "saves the configuration",
        guesses,
    );
    let is_complaint = |line: &&String| {
        let line = line.to_lowercase();
        line.starts_with('%') || line.starts_with("error") || line.starts_with("invalid")
    };
    let outputs = session.entries.iter().flat_map(|entry| &entry.output);
    let complaint = outputs.into_iter().find(is_complaint);
    let check = if complaint.is_some() {
        ""
    } else {
        "    # CHECK"
    };
    let _ = write!(
        out,
        "[error]\ncommand = ['^% ?', '(?i)^error', '(?i)^invalid']{check}\n\n"
    );
    match complaint {
        Some(line) => {
            let output = quoted(line.trim());
            let _ = write!(
                out,
                "[[test]]\nname   = \"a refusal\"\noutput = {output}\nclass  = \"command\"\n\n"
            );
        }
        None => guesses.push("[error] `command`: the sample has no refused command".to_owned()),
    }
    let configured = session
        .entries
        .iter()
        .filter(|one| matches!(one.mode, CONFIG | SUB));
    let outputs = configured.flat_map(|entry| &entry.output);
    let unclassified = outputs.filter(|line| !line.trim().is_empty() && !is_complaint(line));
    for line in unclassified {
        let line = line.trim();
        guesses.push(format!("[error]: whether `{line}` is a refusal"));
        let output = quoted(line);
        let name = quoted(&format!("output: {line}"));
        let _ = write!(
            out,
            "[[test]]\nname   = {name}\noutput = {output}\nclass  = \"none\"    # CHECK: a refusal?\n\n"
        );
    }
    out.push_str("[confirm.other]\nquestion = ['(?i)[\\[(]y(es)?/n(o)?[\\])]']\nrefuse   = \"n\"\nanywhere = true\n\n");
    out.push_str("[rank]\nglobal = 50\n");
}

/// A section with one command; a comment if the sample does not show the command.
fn step(
    out: &mut String,
    section: &str,
    found: Option<&Entry>,
    effect: &str,
    guesses: &mut Vec<String>,
) {
    let Some(entry) = found else {
        guesses.push(format!(
            "[[{section}]]: the sample has no command that {effect}"
        ));
        let _ = write!(
            out,
            "# [[{section}]]\n# send = \"…\"    # CHECK: {effect}\n\n"
        );
        return;
    };
    let send = quoted(&entry.command);
    let output = entry.output.iter().map(|line| line.trim());
    let output = output.filter(|_| section == "save");
    let last = output.rev().find(|line| !line.is_empty());
    let expect = last.map(|line| escaped(line_start(line).trim_end()));
    let expect = expect.map(|text| format!("expect = {}\n", pattern(&text)));
    let _ = write!(
        out,
        "[[{section}]]\nsend = {send}    # CHECK: {effect}\n{}\n",
        expect.unwrap_or_default()
    );
}

/// The first words of a line, without what varies between devices.
fn line_start(line: &str) -> &str {
    let words = line.split(' ').take(2);
    let length = words.take_while(|word| !word.contains(|c: char| c.is_ascii_digit()));
    let length: usize = length.map(|word| word.len() + 1).sum();
    let first = line.split(' ').next().unwrap_or_default().len();
    let named = HOSTNAMES.iter().find(|words| line.starts_with(*words));
    named
        .copied()
        .unwrap_or(&line[..first.max(length.min(line.len()).min(first + 1))])
}

fn set_lines(config: &[&str]) -> bool {
    let set = config
        .iter()
        .filter(|line| line.starts_with("set "))
        .count();
    set * 2 > config.len()
}

fn has_first_word(config: &[&str], word: &str) -> bool {
    config
        .iter()
        .any(|line| line.split_whitespace().next() == Some(word))
}

fn has_command(session: &RecordedSession, start: &str) -> bool {
    session
        .entries
        .iter()
        .any(|entry| entry.command.starts_with(start))
}

fn host_name<'t>(config: &[&'t str]) -> Option<(&'static str, &'t str)> {
    config.iter().find_map(|line| {
        HOSTNAMES
            .iter()
            .find_map(|words| Some((*words, line.strip_prefix(words)?)))
    })
}
