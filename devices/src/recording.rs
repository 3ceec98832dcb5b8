//! Recordings: the requests to one device and its answers, as a text for people, Git and tests.
//!
//! A recording knows nothing of SSH, HTTP or NETCONF: it has the reads and operations of a session.
//! `docs/mocks.md` describes the format. Secrets are masked before a recording is written.

use std::fmt::{self, Write as _};

use crate::format_version::{FormatVersion, OtherVersion};
use crate::printable::is_printable;
use crate::read::Reads;

/// The first line has the version and the name of the platform behind it.
const HEADER: &str = "switchtender recording ";

const VERSION: FormatVersion = FormatVersion {
    number: 1,
    advice: "record the device again",
};

/// What one or more sessions with a device exchanged, in this order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recording {
    /// Name of the platform.
    pub platform: String,
    /// Requests and answers.
    pub exchanges: Vec<Exchange>,
}

/// A request and its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// What the request is.
    pub kind: ExchangeKind,
    /// The lines that lead to a mode, and the command; or method, path and body; or an RPC.
    pub request: String,
    /// The text of the device.
    pub answer: String,
    /// What became of the request.
    pub outcome: RecordedOutcome,
}

/// A kind of request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExchangeKind {
    /// A read with this name.
    Read(String),
    /// A request that changes the device.
    Write,
    /// The configuration is saved.
    Save,
}

/// What became of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordedOutcome {
    /// The device accepted or answered it.
    Done,
    /// The device refused it.
    Refused,
    /// There was no answer.
    Unknown,
    /// It was not sent, because of an earlier failure.
    NotSent,
}

const OUTCOMES: [(&str, RecordedOutcome); 4] = [
    ("done", RecordedOutcome::Done),
    ("refused", RecordedOutcome::Refused),
    ("unknown", RecordedOutcome::Unknown),
    ("not sent", RecordedOutcome::NotSent),
];

/// A file is no recording of this version.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordingError {
    /// The file has another version.
    #[error(transparent)]
    Version(#[from] OtherVersion),
    /// The file is no recording.
    #[error("line {line}: {reason}")]
    Line {
        /// Counted from 1.
        line: usize,
        /// What is wrong.
        reason: &'static str,
    },
}

impl Recording {
    /// The beginning of the text of a recording.
    pub(crate) fn header(platform: &str) -> String {
        format!("{HEADER}{}: {platform}\n", VERSION.number)
    }

    /// Reads the text of a recording.
    ///
    /// # Errors
    /// The text has another format.
    pub fn parse(text: &str) -> Result<Self, RecordingError> {
        let mut lines = (1..).zip(text.lines());
        let header = lines.next().and_then(|(_, line)| header_of(line));
        let (version, platform) = header.ok_or(RecordingError::Line {
            line: 1,
            reason: "it does not begin with `switchtender recording VERSION: PLATFORM`",
        })?;
        VERSION.check(version)?;
        let mut exchanges = Vec::new();
        let mut open: Option<Exchange> = None;
        let mut last = 1;
        for (number, line) in lines {
            last = number;
            let wrong = |reason| RecordingError::Line {
                line: number,
                reason,
            };
            let Some(exchange) = &mut open else {
                if !line.is_empty() {
                    let kind = ExchangeKind::parse(line)
                        .ok_or_else(|| wrong("expected `read NAME`, `write` or `save`"))?;
                    open = Some(Exchange::new(kind));
                }
                continue;
            };
            let (mark, rest) = line.split_at_checked(1).unwrap_or((line, ""));
            match mark {
                ">" | "<" => {
                    let text = text_of(rest).ok_or_else(|| wrong("invalid text"))?;
                    let lines = match mark {
                        ">" => &mut exchange.request,
                        _ => &mut exchange.answer,
                    };
                    lines.push_str(&text);
                    lines.push('\n');
                }
                "=" => {
                    let word = rest.trim_start();
                    let found = OUTCOMES.iter().find(|(name, _)| *name == word);
                    let (_, outcome) = found.ok_or_else(|| wrong("unknown outcome"))?;
                    exchange.outcome = *outcome;
                    exchanges.extend(open.take());
                }
                _ => return Err(wrong("expected `>`, `<` or `=`")),
            }
        }
        match open {
            None => Ok(Self {
                platform: platform.to_owned(),
                exchanges,
            }),
            Some(_) => Err(RecordingError::Line {
                line: last,
                reason: "the last exchange has no outcome",
            }),
        }
    }

    /// The first answer to each read.
    pub fn reads(&self) -> Reads {
        let mut reads = Reads::default();
        for exchange in &self.exchanges {
            // The refusal of an optional read is an empty answer.
            let is_answer = match exchange.outcome {
                RecordedOutcome::Done => true,
                RecordedOutcome::Refused => exchange.answer.is_empty(),
                RecordedOutcome::Unknown | RecordedOutcome::NotSent => false,
            };
            if let (ExchangeKind::Read(name), true) = (&exchange.kind, is_answer) {
                let answer = || exchange.answer.clone();
                reads.entry(name.clone()).or_insert_with(answer);
            }
        }
        reads
    }
}

/// The version and the platform in the first line.
fn header_of(line: &str) -> Option<(u32, &str)> {
    let (version, platform) = line.strip_prefix(HEADER)?.split_once(": ")?;
    Some((version.parse().ok()?, platform))
}

impl Exchange {
    fn new(kind: ExchangeKind) -> Self {
        Self {
            kind,
            request: String::new(),
            answer: String::new(),
            outcome: RecordedOutcome::NotSent,
        }
    }

    /// The commands of the request: its lines without indentation.
    pub fn commands(&self) -> impl Iterator<Item = &str> {
        self.request.lines().map(str::trim)
    }
}

impl ExchangeKind {
    fn parse(line: &str) -> Option<Self> {
        match line.split_once(' ') {
            Some(("read", name)) => Some(Self::Read(text_of(&format!(" {name}"))?)),
            None if line == "write" => Some(Self::Write),
            None if line == "save" => Some(Self::Save),
            _ => None,
        }
    }
}

/// The exchange with a blank line before it.
impl fmt::Display for Exchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ExchangeKind::Read(name) => writeln!(f, "\nread{}", MarkedLine(name))?,
            ExchangeKind::Write => f.write_str("\nwrite\n")?,
            ExchangeKind::Save => f.write_str("\nsave\n")?,
        }
        for line in self.request.lines() {
            writeln!(f, ">{}", MarkedLine(line))?;
        }
        for line in self.answer.lines() {
            writeln!(f, "<{}", MarkedLine(line))?;
        }
        let outcome = OUTCOMES.iter().find(|(_, other)| *other == self.outcome);
        writeln!(f, "= {}", outcome.map_or("", |(name, _)| name))
    }
}

/// A line behind its mark: a blank and the text, or a JSON string if a terminal would interpret it.
struct MarkedLine<'a>(&'a str);

impl fmt::Display for MarkedLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_plain = |character| is_printable(character) || character == '\t';
        match self.0 {
            "" => Ok(()),
            text if text.chars().all(is_plain) => write!(f, " {text}"),
            text => {
                f.write_char('"')?;
                for character in text.chars() {
                    match character {
                        '"' | '\\' => write!(f, "\\{character}")?,
                        character if is_printable(character) => f.write_char(character)?,
                        character => {
                            let mut units = [0; 2];
                            for unit in character.encode_utf16(&mut units) {
                                write!(f, "\\u{unit:04x}")?;
                            }
                        }
                    }
                }
                f.write_char('"')
            }
        }
    }
}

/// The text behind a mark.
fn text_of(rest: &str) -> Option<String> {
    match rest.strip_prefix(' ') {
        Some(text) => Some(text.to_owned()),
        None if rest.is_empty() => Some(String::new()),
        None => serde_json::from_str(rest).ok(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TEXT: &str = "switchtender recording 1: cisco_ios\n\n\
        read version\n> show version\n< Cisco IOS Software\n<\n<  uptime \n= done\n\n\
        write\n> interface Gi1/0/1\n>  description a\n= done\n\n\
        write\n> vlan 5000\n<\"bad \\u001b[2J\"\n= refused\n\n\
        save\n< [OK]\n= done\n";

    #[test]
    fn recording_is_read_and_printed() {
        let recording = Recording::parse(TEXT).unwrap();
        assert_eq!(
            recording.exchanges[0].answer,
            "Cisco IOS Software\n\n uptime \n"
        );
        assert_eq!(recording.exchanges[2].answer, "bad \u{1b}[2J\n");
        let commands: Vec<&str> = recording.exchanges[1].commands().collect();
        assert_eq!(commands, ["interface Gi1/0/1", "description a"]);
        let mut printed = Recording::header(&recording.platform);
        for exchange in &recording.exchanges {
            printed += &exchange.to_string();
        }
        assert_eq!(printed, TEXT);
    }

    #[test]
    fn recording_has_the_first_answer_to_each_read() {
        let read = |answer| format!("\nread config\n> show running-config\n< {answer}\n= done\n");
        let refused = "\nread vlan\n> show vlan\n< no\n= refused\n";
        let text = Recording::header("x") + refused + &read("first") + &read("second");
        let reads = Recording::parse(&text).unwrap().reads();
        let expected = [("config".to_owned(), "first\n".to_owned())];
        assert_eq!(reads, Reads::from_iter(expected));
    }

    #[test]
    fn other_text_is_no_recording() {
        for (text, line) in [
            ("", 1),
            ("switchtender recording x: x\n", 1),
            ("switchtender recording 1: x\nreads config\n", 2),
            ("switchtender recording 1: x\nwrite\n> a\n* b\n", 4),
            ("switchtender recording 1: x\nwrite\n<\"a\n", 3),
            ("switchtender recording 1: x\nwrite\n= maybe\n", 3),
            ("switchtender recording 1: x\nwrite\n> a\n", 3),
            ("switchtender recording 1: x\nwrite\nä\n", 3),
        ] {
            let error = Recording::parse(text).expect_err(text);
            let error = error.to_string();
            assert!(
                error.starts_with(&format!("line {line}: ")),
                "{text}: {error}"
            );
        }
    }

    #[test]
    fn recording_of_another_version_is_refused() {
        let error = Recording::parse("switchtender recording 2: x\nnew words\n").unwrap_err();
        assert_eq!(
            error.to_string(),
            "it has version 2, and this program reads version 1: record the device again"
        );
    }

    proptest! {
        #[test]
        fn recording_of_any_text_is_read_as_it_was(lines in proptest::collection::vec("[^\n\r]*", 0..5)) {
            let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
            let exchange = Exchange {
                kind: ExchangeKind::Read("GET /x".to_owned()),
                request: "/x\n".to_owned(),
                answer: text,
                outcome: RecordedOutcome::Done,
            };
            let printed = Recording::header("x") + &exchange.to_string();
            let is_text = |character| is_printable(character) || matches!(character, '\n' | '\t');
            prop_assert!(printed.chars().all(is_text));
            prop_assert_eq!(Recording::parse(&printed).unwrap().exchanges, [exchange]);
        }
    }
}
