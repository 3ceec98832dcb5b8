//! The lines of a template as a regular expression, without the meaning of its words.

use super::LineTemplate;
use super::part::{Hole, HoleKind, Part, Piece, collect_holes};

/// A text between quotation marks.
const QUOTED: &str = r#""(?:\\.|[^"])*"|'[^']*'"#;

impl LineTemplate {
    /// A pattern of the lines behind a blank. The words of these attributes are groups with names
    /// in the order of the attributes.
    pub(crate) fn pattern(&self, names: &[&str]) -> String {
        let mut writer = Writer {
            names,
            numbers: &[],
            groups: 0,
            text: String::new(),
        };
        writer.sequence(&self.parts);
        writer.text
    }

    /// As [`pattern`](Self::pattern), up to the last place of one of the attributes. The words of `numbers` are
    /// numbers of so many digits at most.
    pub(crate) fn pattern_up_to(
        &self,
        last: &str,
        names: &[&str],
        numbers: &[(&str, usize)],
    ) -> String {
        let mut writer = Writer {
            names,
            numbers,
            groups: 0,
            text: String::new(),
        };
        writer.sequence_up_to(&self.parts, last);
        writer.text
    }
}

fn has_placeholder(parts: &[Part], name: &str) -> bool {
    let mut found = false;
    collect_holes(parts, &mut |hole| found |= hole.name == name);
    found
}

struct Writer<'a> {
    names: &'a [&'a str],
    numbers: &'a [(&'a str, usize)],
    groups: usize,
    text: String,
}

impl Writer<'_> {
    fn sequence(&mut self, parts: &[Part]) {
        for part in parts {
            match part {
                Part::Word(word) => self.word(&regex::escape(word)),
                Part::Hole(hole) => self.hole(hole),
                Part::Compound(pieces) => {
                    self.text.push_str(" +");
                    for piece in pieces {
                        match piece {
                            Piece::Text(text) => self.text.push_str(&regex::escape(text)),
                            Piece::Hole(hole) if hole.kind == HoleKind::Quoted => {
                                self.value(hole, &format!("(?:{QUOTED}|\\S+?)"));
                            }
                            Piece::Hole(hole) => self.value(hole, r"\S+?"),
                        }
                    }
                }
                Part::Where { .. } => {}
                Part::Optional(parts) => {
                    self.text.push_str("(?:");
                    self.sequence(parts);
                    self.text.push_str(")?");
                }
                Part::AnyOrder { options, .. } => {
                    self.alternatives(options);
                    self.text.push('*');
                }
                Part::Choice(options) => self.alternatives(options),
            }
        }
    }

    fn sequence_up_to(&mut self, parts: &[Part], last: &str) {
        let has_name = |part: &Part| has_placeholder(std::slice::from_ref(part), last);
        let Some(index) = parts.iter().rposition(has_name) else {
            return;
        };
        self.sequence(&parts[..index]);
        let options = match &parts[index] {
            Part::Optional(parts) => return self.sequence_up_to(parts, last),
            Part::Choice(options) => options,
            Part::AnyOrder { options, .. } => {
                self.alternatives(options);
                self.text.push('*');
                options
            }
            part => return self.sequence(std::slice::from_ref(part)),
        };
        let with_name = options
            .iter()
            .filter(|option| has_placeholder(option, last));
        if with_name.clone().next().is_none() {
            return;
        }
        for (index, option) in with_name.enumerate() {
            self.text.push_str(if index == 0 { "(?:" } else { "|" });
            self.sequence_up_to(option, last);
        }
        self.text.push(')');
    }

    fn alternatives(&mut self, options: &[Vec<Part>]) {
        self.text.push_str("(?:");
        for (index, option) in options.iter().enumerate() {
            if index > 0 {
                self.text.push('|');
            }
            self.sequence(option);
        }
        self.text.push(')');
    }

    fn digits(&self, hole: &Hole) -> Option<usize> {
        let mut numbers = self.numbers.iter();
        numbers.find_map(|(name, digits)| (*name == hole.name).then_some(*digits))
    }

    fn hole(&mut self, hole: &Hole) {
        let value = match &hole.kind {
            HoleKind::Flag(word) | HoleKind::Mark(word) => {
                return self.word(&regex::escape(word));
            }
            HoleKind::Word if let Some(digits) = self.digits(hole) => &format!(r"\d{{1,{digits}}}"),
            HoleKind::Word | HoleKind::Address(_) | HoleKind::Number => r"\S+",
            HoleKind::Phrase(words) => &words
                .iter()
                .map(|word| match word {
                    Some(word) => regex::escape(word),
                    None => r"\S+".to_owned(),
                })
                .collect::<Vec<_>>()
                .join(" +"),
            HoleKind::Quoted => &format!("(?:{QUOTED}|\\S+)"),
            HoleKind::Rest | HoleKind::Numbers => ".+",
            HoleKind::Words | HoleKind::Each(_) => r"\S+(?: +\S+)*?",
        };
        self.text.push_str(" +");
        self.value(hole, value);
    }

    fn word(&mut self, pattern: &str) {
        self.text.push_str(" +");
        self.text.push_str(pattern);
    }

    fn value(&mut self, hole: &Hole, pattern: &str) {
        let mut names = self.names.iter();
        match names.position(|name| hole.name == *name) {
            Some(index) => {
                let group = format!("(?<n{index}_{}>{pattern})", self.groups);
                self.groups += 1;
                self.text.push_str(&group);
            }
            None => self.text.push_str(pattern),
        }
    }
}

#[cfg(test)]
mod tests {
    use regex::Regex;

    use super::LineTemplate;

    /// The words of an option are those of no other one.
    #[test]
    fn pattern_finds_names_behind_other_options() {
        let line = "log {name} <[({*tcp!tcp} [{port}]|udp {port})] [vrf {vrf}]> [{*}]";
        let template = LineTemplate::parse(line).unwrap();
        let pattern = format!("^{} *$", template.pattern(&["name", "vrf"]));
        let pattern = Regex::new(&pattern).unwrap();
        let found = pattern.captures(" log a tcp 1514 vrf RED level 3").unwrap();
        let names: Vec<&str> = pattern
            .capture_names()
            .flatten()
            .filter_map(|name| found.name(name))
            .map(|name| name.as_str())
            .collect();
        assert_eq!(names, ["a", "RED"]);
    }

    #[test]
    fn pattern_of_a_template_matches_its_lines() {
        let cases = [
            ("mtu {mtu}", " mtu 9000", true),
            ("mtu {mtu}", " mtu", false),
            ("mtu {mtu}", " mtu 9000 extra", false),
            ("description {text:rest}", " description a b", true),
            (
                "ntp server [vrf {vrf}] {name} <[key {key}] [{prefer?prefer}]> [{*}]",
                " ntp server vrf M a prefer key 7 x",
                true,
            ),
            (
                "add tag={tag} {backend}/{server}",
                " add tag=10 web/a1",
                true,
            ),
            (
                "(ip route {a:ipv4}|ipv6 route {a:ipv6}) {hop}",
                " ipv6 route ::/0 ::1",
                true,
            ),
            ("set name {name:quoted} x", " set name 'a b' x", true),
            ("user {name} [{up?enabled}]", " user x enabled", true),
            ("user {name} [{up?enabled}]", " user x", true),
            ("x {name} ({any!any}|host {a})", " x 1 host b", true),
            ("x {name} ({any!any}|host {a})", " x 1", false),
        ];
        for (template, line, expected) in cases {
            let template = LineTemplate::parse(template).unwrap();
            let pattern = format!("^{} *$", template.pattern(&["name", "a"]));
            let pattern = Regex::new(&pattern).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(pattern.is_match(line), expected, "{pattern} {line}");
        }
    }
}
