//! Proposes templates for lines: literal words, placeholders and options.

use crate::driver::quoting::Quoting;
use crate::map::IndexMap;
use crate::read::indent::Node;
use crate::value::Name;

/// The word for the default of the device in drafted models.
pub(super) const DEFAULT_WORD: &str = "unset";

/// An attribute that was found in lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AttributeDraft {
    pub(super) name: String,
    pub(super) form: LineForm,
    /// The values in the sample.
    pub(super) values: Vec<String>,
    /// An instance has several such lines.
    pub(super) many: bool,
    /// The word for the value without a line, if it is one of the values.
    pub(super) default_word: Option<Name>,
    /// The value without a line, as TOML, if it is known.
    pub(super) absent: Option<String>,
    /// The words behind the value.
    pub(super) end: String,
    /// The inner block with the lines.
    pub(super) sub: String,
}

/// How lines have the value of an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineForm {
    /// The line exists or not.
    Flag,
    /// Only the form with `no` is printed.
    Negative,
    /// One word.
    Word,
    /// All other words.
    Rest,
    /// One word, which may stand between quotation marks.
    Quoted,
    /// Elements of a list, which are in the words of the line.
    Elements(usize),
}

impl Default for AttributeDraft {
    fn default() -> Self {
        Self {
            name: String::new(),
            form: LineForm::Word,
            values: Vec::new(),
            many: false,
            default_word: None,
            absent: None,
            end: String::new(),
            sub: String::new(),
        }
    }
}

impl AttributeDraft {
    /// Whether the values are probably secrets.
    pub(super) fn is_secret(&self) -> bool {
        const WORDS: [&str; 5] = ["password", "passwd", "passphrase", "secret", "community"];
        let has_text = self.values.iter().any(|text| text.parse::<u64>().is_err());
        has_text && self.name.split('_').any(|word| WORDS.contains(&word))
    }

    /// Reads values between quotation marks, if the sample has one.
    pub(super) fn unquote(&mut self, quoting: &Quoting) {
        let read = |text: &String| {
            let is_word = quoting.words(text).len() == 1;
            quoting.read(text).filter(|_| is_word)
        };
        let texts: Option<Vec<String>> = self.values.iter().map(read).collect();
        let has_marks = |texts: &Vec<String>| *texts != self.values;
        if let Some(texts) = texts.filter(has_marks) {
            self.values = texts;
            self.form = LineForm::Quoted;
        }
    }
}

/// Whether a word is a value rather than a keyword.
pub(super) fn is_value(word: &str) -> bool {
    let mut characters = word.chars();
    let is_keyword = characters.all(|c| c.is_ascii_lowercase() || c == '-');
    !is_keyword
}

/// Whether a line is a comment or only ends a block: `!`, `exit`, `exit-address-family`, `end-policy`.
pub(super) fn ends_block(line: &str) -> bool {
    const WORDS: [&str; 6] = ["end", "endif", "exit", "next", "quit", "return"];
    let first = line.split('-').next().unwrap_or_default();
    line.starts_with(['!', '#']) || !line.contains(' ') && WORDS.contains(&first)
}

/// A name of an attribute for words.
pub(super) fn attribute_name(words: &[&str]) -> String {
    let mut name = String::new();
    for word in words {
        if !name.is_empty() {
            name.push('_');
        }
        let characters = word.chars().map(|c| {
            if c.is_ascii_alphanumeric() {
                c.to_ascii_lowercase()
            } else {
                '_'
            }
        });
        name.extend(characters);
    }
    if name.starts_with(|c: char| c.is_ascii_digit()) {
        format!("_{name}")
    } else {
        name
    }
}

/// The words before the first value; all words if none is one.
pub(super) fn head<'t>(words: &[&'t str]) -> Vec<&'t str> {
    let count = words.iter().position(|word| is_value(word));
    words[..count.unwrap_or(words.len())].to_vec()
}

/// The attributes in the lines of instances, in the order of the first lines.
pub(super) fn attributes(instances: &[&[Node]], negate: &str) -> Vec<(String, AttributeDraft)> {
    let mut all: IndexMap<String, AttributeDraft> = IndexMap::default();
    for nodes in instances {
        let mut seen: IndexMap<String, usize> = IndexMap::default();
        let lines = nodes.iter().filter(|node| node.children.nodes.is_empty());
        for node in lines {
            let Some((key, found)) = attribute(&node.words(), negate) else {
                continue;
            };
            *seen.entry(key.clone()).or_default() += 1;
            let draft = all.entry(key.clone()).or_insert_with(|| AttributeDraft {
                values: Vec::new(),
                ..found.clone()
            });
            if found.form == LineForm::Rest && draft.form == LineForm::Word {
                draft.form = LineForm::Rest;
            }
            draft.values.extend(found.values);
            draft.many |= seen[&key] > 1;
        }
    }
    all.into_iter().collect()
}

/// The literal words and the attribute of a line.
fn attribute(words: &[&str], negate: &str) -> Option<(String, AttributeDraft)> {
    let (is_negative, words) = match words {
        [first, rest @ ..] if *first == negate => (true, rest),
        words => (false, words),
    };
    const TEXTS: [&str; 3] = ["description", "remark", "name"];
    let mut literal = head(words);
    if words.first().is_some_and(|first| TEXTS.contains(first)) && words.len() > 1 {
        literal.truncate(1);
    } else if literal.len() == words.len() && literal.len() > 1 && !is_negative {
        // The last of several keywords is one of several values.
        literal.pop();
    }
    if literal.is_empty() {
        return None;
    }
    let value = &words[literal.len()..];
    let form = match value {
        [] if is_negative => LineForm::Negative,
        _ if is_negative => return None,
        [] => LineForm::Flag,
        [_] => LineForm::Word,
        _ => LineForm::Rest,
    };
    let draft = AttributeDraft {
        name: attribute_name(&literal),
        form,
        values: match value {
            [] => Vec::new(),
            value => vec![value.join(" ")],
        },
        default_word: value.first().map(|_| DEFAULT_WORD.into()),
        ..AttributeDraft::default()
    };
    Some((literal.join(" "), draft))
}

/// Words before a name.
const NAMED: [&str; 5] = ["vrf", "source", "interface", "group", "route-map"];

/// A template for the words behind the name of an instance: options with and without a value.
pub(super) fn options(lines: &[Vec<&str>]) -> (String, Vec<AttributeDraft>) {
    let mut found: IndexMap<String, AttributeDraft> = IndexMap::default();
    // A value behind the name of each instance, such as a next hop.
    let has_value = |line: &Vec<&str>| line.first().is_some_and(|word| is_value(word));
    let has_values = lines.iter().all(has_value);
    let firsts = lines.iter().filter(|_| has_values);
    let first = has_values.then(|| AttributeDraft {
        name: "value".to_owned(),
        form: LineForm::Word,
        values: firsts.map(|line| line[0].to_owned()).collect(),
        ..AttributeDraft::default()
    });
    for line in lines {
        let mut words = line
            .iter()
            .copied()
            .skip(usize::from(has_values))
            .peekable();
        while let Some(word) = words.next() {
            if is_value(word) {
                continue;
            }
            let value = words.next_if(|next| is_value(next) || NAMED.contains(&word));
            let draft = found
                .entry(word.to_owned())
                .or_insert_with(|| AttributeDraft {
                    name: attribute_name(&[word]),
                    form: LineForm::Flag,
                    ..AttributeDraft::default()
                });
            if let Some(value) = value {
                draft.form = LineForm::Word;
                draft.default_word = Some(DEFAULT_WORD.into());
                draft.values.push(value.to_owned());
            }
        }
    }
    let options = found.iter().map(|(word, draft)| match draft.form {
        LineForm::Word => format!("[{word} {{{}}}]", draft.name),
        _ => format!("[{{{}?{word}}}]", draft.name),
    });
    let options: Vec<String> = options.collect();
    let value = if has_values { " {value}" } else { "" };
    let template = if options.is_empty() {
        format!("{value} [{{*}}]")
    } else {
        format!("{value} <{}> [{{*}}]", options.join(" "))
    };
    let options = found.into_values();
    (template, first.into_iter().chain(options).collect())
}

/// A template for lines: a placeholder where they differ, the last of which takes the rest of longer
/// lines. Lines of one kind have a placeholder for each value.
pub(super) fn header(lines: &[Vec<&str>]) -> (String, Vec<String>) {
    let length = lines.iter().map(Vec::len).min().unwrap_or(0);
    let mut names = Vec::new();
    let mut words: Vec<String> = Vec::new();
    for index in 0..length {
        let first = lines[0][index];
        let varies = lines.iter().any(|line| line[index] != first);
        if !varies && !is_value(first) {
            words.push(first.to_owned());
            continue;
        }
        let before: Vec<&str> = lines[0][..index].to_vec();
        let keyword = before.iter().rev().find(|word| !is_value(word));
        let name = if names.is_empty() {
            "name".to_owned()
        } else {
            attribute_name(&[keyword.copied().unwrap_or("value")])
        };
        let name = if names.contains(&name) {
            format!("{name}_{}", names.len())
        } else {
            name
        };
        let is_longer = |line: &Vec<&str>| line.len() > length;
        words.push(if index + 1 == length && lines.iter().any(is_longer) {
            format!("{{{name}:rest}}")
        } else {
            format!("{{{name}}}")
        });
        names.push(name);
    }
    (words.join(" "), names)
}
