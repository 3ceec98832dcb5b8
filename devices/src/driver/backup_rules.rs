//! What a backup contains, and what changes in it without a change of the configuration.

use serde_json::{Map, Value as Json, json};

use super::read_rule::{ReplacementKeys, replacements};
use crate::document::{Named, keys};
use crate::map::IndexMap;
use crate::pattern::Pattern;
use crate::read::{CONFIG, Reads};

/// `[backup]` of `platform.toml`.
#[derive(Clone, Debug, Default)]
pub(crate) struct BackupRules {
    /// By name of the read.
    reads: IndexMap<String, BackupRule>,
    /// For all other reads.
    others: BackupRule,
}

/// What changes in an answer without a change of the configuration.
#[derive(Clone, Debug, Default)]
struct BackupRule {
    /// Lines, or names of JSON fields and texts in JSON lists.
    volatile: Vec<Pattern>,
    /// Parts of lines and what replaces them.
    replace: Vec<(Pattern, String)>,
}

/// The answers of a device that its types and facts need, as texts for files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backup {
    /// The configuration; `None`: the platform has no read `config`.
    pub configuration: Option<String>,
    /// The other answers by name of the read, as JSON; `None`: there are none.
    pub answers: Option<String>,
}

/// The key of an answer that is no JSON, with its lines.
const LINES: &str = "lines";

impl Backup {
    /// The text of an answer that was saved as JSON.
    pub fn answer(saved: Json) -> String {
        match saved {
            Json::String(text) => text,
            Json::Object(fields) if fields.len() == 1 && fields.contains_key(LINES) => {
                let lines = fields[LINES].as_array().map(Vec::as_slice);
                let lines = lines.unwrap_or_default().iter().filter_map(Json::as_str);
                lines.map(|line| format!("{line}\n")).collect()
            }
            other => other.to_string(),
        }
    }
}

keys! {
    /// What a backup leaves out.
    pub(super) struct BackupKeys {
        /// Patterns of lines that change without a change of the configuration.
        ignore: Vec<Pattern>,
        /// Replacements in lines.
        replace: Vec<ReplacementKeys>,
        /// Both for the answer to one read.
        read: Named<BackupReadKeys>,
    }
}

keys! {
    /// What a backup leaves out of an answer.
    pub(super) struct BackupReadKeys {
        /// Patterns of lines that change without a change of the configuration.
        ignore: Vec<Pattern>,
        /// Replacements in lines.
        replace: Vec<ReplacementKeys>,
    }
}

impl From<BackupKeys> for BackupRules {
    fn from(keys: BackupKeys) -> Self {
        let reads = keys.read.into_iter().map(|(name, keys)| {
            let rule = BackupRule {
                volatile: keys.ignore,
                replace: replacements(keys.replace),
            };
            (name.value, rule)
        });
        Self {
            reads: reads.collect(),
            others: BackupRule {
                volatile: keys.ignore,
                replace: replacements(keys.replace),
            },
        }
    }
}

impl BackupRules {
    /// The names of reads.
    pub(super) fn reads(&self) -> impl Iterator<Item = &String> {
        self.reads.keys()
    }

    /// The backup of a device with these answers. `mask` replaces secrets.
    pub(super) fn backup(&self, answers: &Reads, mask: impl Fn(&str) -> String) -> Backup {
        let configuration = answers.get(CONFIG);
        let configuration = configuration.map(|text| mask(&self.of(CONFIG).lines(text)));
        let others = answers.iter().filter(|(name, _)| *name != CONFIG);
        let others: Map<String, Json> = others
            .map(|(name, answer)| (name.clone(), self.of(name).json(answer, &mask)))
            .collect();
        let answers = (!others.is_empty()).then(|| {
            let text = serde_json::to_string_pretty(&others).expect("JSON has text keys");
            mask(&text) + "\n"
        });
        Backup {
            configuration,
            answers,
        }
    }

    fn of(&self, read: &str) -> &BackupRule {
        self.reads.get(read).unwrap_or(&self.others)
    }
}

impl BackupRule {
    fn is_volatile(&self, text: &str) -> bool {
        self.volatile.iter().any(|pattern| pattern.is_match(text))
    }

    /// The lines of an answer, without blank lines at both ends.
    fn lines(&self, text: &str) -> String {
        let lines = text.lines().filter(|line| !self.is_volatile(line));
        let lines = lines.map(|line| {
            let replace = self.replace.iter();
            let line = replace.fold(line.to_owned(), |line, (pattern, with)| {
                pattern.replace_all(&line, with).into_owned()
            });
            line.trim_end().to_owned()
        });
        let lines: Vec<String> = lines.collect();
        match lines.join("\n").trim_matches('\n') {
            "" => String::new(),
            text => text.to_owned() + "\n",
        }
    }

    /// The fields of an answer, or its lines if it is not JSON.
    fn json(&self, answer: &str, mask: &impl Fn(&str) -> String) -> Json {
        match serde_json::from_str(answer) {
            Ok(json @ (Json::Array(_) | Json::Object(_))) => self.fields(json),
            _ => {
                let text = mask(&self.lines(answer));
                json!({ LINES: text.lines().collect::<Vec<_>>() })
            }
        }
    }

    fn fields(&self, json: Json) -> Json {
        match json {
            Json::Array(items) => {
                let is_stable =
                    |item: &Json| !item.as_str().is_some_and(|text| self.is_volatile(text));
                let items = items.into_iter().filter(is_stable);
                items.map(|item| self.fields(item)).collect()
            }
            Json::Object(entries) => {
                let entries = entries.into_iter();
                let stable = entries.filter(|(name, _)| !self.is_volatile(name));
                let stable = stable.map(|(name, value)| (name, self.fields(value)));
                Json::Object(stable.collect())
            }
            other => other,
        }
    }
}
