//! A value of a TOML file, read by its kind.

use std::cell::RefCell;
use std::ops::Range;

use toml::de::DeValue;

use super::{Findings, Table};
use crate::pattern::Pattern;

/// Maximum length of a pattern in a definition, in bytes.
const PATTERN_LIMIT: usize = 1000;

/// A value with its position and key.
#[derive(Clone)]
pub struct Item<'a> {
    /// Receives the errors found while the value is read.
    pub findings: &'a Findings,
    pub(super) value: &'a DeValue<'a>,
    /// Byte range of the value in the file.
    pub span: Range<usize>,
    /// The dotted key from the root, with list indexes: `attr.vrf`, `read[0]`.
    pub path: String,
    pub(super) base: Option<Box<Item<'a>>>,
}

impl<'a> Item<'a> {
    /// The parsed TOML value, of any kind.
    pub fn value(&self) -> &'a DeValue<'a> {
        self.value
    }

    /// Whether the value is a table. Reports nothing.
    pub fn is_table(&self) -> bool {
        self.value.is_table()
    }

    /// Whether the value is a list. Reports nothing.
    pub(crate) fn is_list(&self) -> bool {
        self.value.is_array()
    }

    /// The string, if the value is one. Reports nothing.
    pub fn as_str(&self) -> Option<&'a str> {
        self.value.as_str()
    }

    /// The boolean, if the value is one. Reports nothing.
    pub fn as_bool(&self) -> Option<bool> {
        self.value.as_bool()
    }

    /// The value as a table with unread keys. Anything else is reported and gives `None`.
    pub fn table(&self) -> Option<Table<'a>> {
        let found = self.value.as_table();
        if found.is_none() {
            self.expected("a table");
        }
        let table = Table {
            findings: self.findings,
            entries: found?,
            span: self.span.clone(),
            path: self.path.clone(),
            known_keys: RefCell::default(),
            read_values: RefCell::default(),
            base: None,
        };
        let base = self.base.as_ref().filter(|base| base.value.is_table());
        Some(match base.and_then(|base| base.table()) {
            Some(base) => table.over(base),
            None => table,
        })
    }

    /// The value as a string. Anything else is reported and gives `None`.
    pub fn string(&self) -> Option<String> {
        let found = self.value.as_str().map(str::to_owned);
        if found.is_none() {
            self.expected("a string");
        }
        found
    }

    /// The value as a string whose placeholders the caller fills. In any other text they are errors.
    pub(crate) fn template(&self) -> Option<String> {
        self.findings.fills(&self.span);
        self.string()
    }

    /// The value as a string with these placeholders and no others. Others are reported.
    pub(crate) fn string_with(&self, placeholders: &[&str]) -> Option<String> {
        let text = self.template()?;
        let is_known = |found: &&str| !placeholders.contains(&found.trim_matches(['{', '}']));
        if let Some(found) = super::placeholders::placeholders(&text).find(is_known) {
            let known: Vec<_> = placeholders
                .iter()
                .map(|one| format!("`{{{one}}}`"))
                .collect();
            let help = if known.is_empty() {
                "write the text itself: this key has no placeholders".to_owned()
            } else {
                format!("use {}", known.join(" or "))
            };
            let message = format!("`{found}` in `{}` is not filled", self.path);
            self.findings
                .error_with_help("unfilled", self.span.clone(), message, help);
        }
        Some(text)
    }

    /// The value as a boolean. Anything else is reported and gives `None`.
    pub fn bool(&self) -> Option<bool> {
        let found = self.value.as_bool();
        if found.is_none() {
            self.expected("true or false");
        }
        found
    }

    /// The value as a 64-bit integer. Anything else is reported and gives `None`.
    pub fn integer(&self) -> Option<i64> {
        let found = self.value.as_integer().and_then(|number| {
            i64::from_str_radix(&number.as_str().replace('_', ""), number.radix()).ok()
        });
        if found.is_none() {
            self.expected("an integer");
        }
        found
    }

    /// The elements of a list. Anything else is reported and gives `None`.
    pub fn list(&self) -> Option<Vec<Item<'a>>> {
        let found = self.value.as_array();
        if found.is_none() {
            self.expected("a list");
        }
        found.map(|items| {
            items
                .iter()
                .enumerate()
                .map(|(index, value)| Item {
                    findings: self.findings,
                    value: value.get_ref(),
                    span: value.span(),
                    path: format!("{}[{index}]", self.path),
                    base: None,
                })
                .collect()
        })
    }

    /// The elements of a list, or a single value.
    pub(crate) fn one_or_more(self) -> Vec<Self> {
        if self.is_list() {
            self.list().unwrap_or_default()
        } else {
            vec![self]
        }
    }

    /// A list of strings, or a single string.
    pub fn strings(&self) -> Option<Vec<String>> {
        if self.value.is_array() {
            self.list()?.iter().map(Item::string).collect()
        } else {
            self.string().map(|one| vec![one])
        }
    }

    /// The value as a regular expression. Anything else is reported and gives `None`.
    pub(crate) fn pattern(&self) -> Option<Pattern> {
        self.compile(&self.string()?)
    }

    /// A regular expression that is made of this value. An error in it is reported.
    pub(crate) fn compile(&self, text: &str) -> Option<Pattern> {
        self.findings.fills(&self.span);
        if text.len() > PATTERN_LIMIT {
            let message = format!("the pattern is longer than {PATTERN_LIMIT} bytes");
            self.error("pattern", message);
            return None;
        }
        let compiled = Pattern::new(text);
        if let Err(error) = &compiled {
            let reason = error.to_string();
            let reason = reason.lines().last().unwrap_or_default().trim();
            let reason = reason.trim_start_matches("error: ");
            let message = format!("`{}` is not a valid pattern: {reason}", self.path);
            self.error("pattern", message);
        }
        compiled.ok()
    }

    /// Reports an error at this value.
    pub fn error(&self, code: &'static str, message: impl Into<String>) {
        self.findings.error(code, self.span.clone(), message);
    }

    fn expected(&self, what: &str) {
        let found = self.value.type_str();
        let message = format!("`{}` must be {what}, not {found}", self.path);
        let is_scalar = !self.value.is_array() && !self.value.is_table();
        let help = match what {
            "a string" if is_scalar => Some("put the value in quotation marks"),
            "an integer" | "true or false" => self.value.as_str().map(|text| {
                let text = text.trim();
                let is_what = match what {
                    "an integer" => text.parse::<i64>().is_ok(),
                    _ => ["true", "false"].contains(&text),
                };
                match what {
                    _ if is_what => "write the value without quotation marks",
                    "an integer" => "write one whole number without quotation marks",
                    _ => "write true or false without quotation marks",
                }
            }),
            _ => None,
        };
        match help {
            Some(help) => {
                let span = self.span.clone();
                self.findings
                    .error_with_help("wrong-kind", span, message, help);
            }
            None => self.error("wrong-kind", message),
        }
    }
}
