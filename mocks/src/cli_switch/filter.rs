//! Output filters: the text after `|` in a `show` command.

use regex::Regex;

/// A filter of output lines.
#[derive(Debug)]
pub(crate) enum Filter {
    /// Matching lines.
    Include(Regex),
    /// Lines that do not match.
    Exclude(Regex),
    /// All lines from the first match.
    Begin(Regex),
    /// Matching lines with the lines indented below them.
    Section(Regex),
}

impl Filter {
    /// Parses `include X`; words can be abbreviated. `Err` is the byte offset of the error.
    pub(crate) fn parse(text: &str) -> Result<Self, usize> {
        let start = text.len() - text.trim_start().len();
        let words = text.trim_start();
        let (kind, rest) = words.split_once(' ').ok_or(start)?;
        let pattern = rest.trim();
        // An invalid regular expression is matched literally.
        let regex = Regex::new(pattern)
            .or_else(|_| Regex::new(&regex::escape(pattern)))
            .map_err(|_| start + kind.len() + 1)?;
        let typed = kind.to_ascii_lowercase();
        let names = ["include", "exclude", "begin", "section"];
        match names.iter().find(|name| name.starts_with(&typed)) {
            Some(&"include") => Ok(Filter::Include(regex)),
            Some(&"exclude") => Ok(Filter::Exclude(regex)),
            Some(&"begin") => Ok(Filter::Begin(regex)),
            Some(&"section") => Ok(Filter::Section(regex)),
            _ => Err(start),
        }
    }

    /// The lines that remain.
    pub(crate) fn apply(&self, text: &str) -> String {
        let mut started = false;
        let mut section: Option<usize> = None;
        let matching = text.lines().filter(|line| match self {
            Filter::Include(regex) => regex.is_match(line),
            Filter::Exclude(regex) => !regex.is_match(line),
            Filter::Begin(regex) => {
                started |= regex.is_match(line);
                started
            }
            Filter::Section(regex) => {
                let depth = line.len() - line.trim_start().len();
                if section.is_some_and(|outer| depth > outer) {
                    return true;
                }
                section = regex.is_match(line).then_some(depth);
                section.is_some()
            }
        });
        matching.flat_map(|line| [line, "\n"]).collect()
    }
}
