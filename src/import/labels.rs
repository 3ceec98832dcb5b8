//! Labels of devices from their names, facts and folders: `--label 'site=^(\w+)-'`, `--label model=fact:hardwaremodel`,
//! `--label site=folder`.

use std::collections::BTreeMap;
use std::str::FromStr;

use regex::Regex;
use switchtender_devices::driver::Facts;

/// Where the values of a label come from.
#[derive(Clone, Debug)]
pub(crate) struct LabelRule {
    /// The key of the label.
    pub(crate) key: String,
    source: LabelSource,
}

#[derive(Clone, Debug)]
enum LabelSource {
    /// The first group of a pattern for names, or all that it matches.
    Name(Box<Regex>),
    Fact(String),
    /// The folder of the saved configuration: a group of Oxidized or RANCID.
    Folder,
}

/// What labels come from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LabeledDevice<'a> {
    pub(crate) name: &'a str,
    pub(crate) facts: &'a Facts,
    pub(crate) folder: Option<&'a str>,
}

/// An argument that is no rule.
#[derive(Debug, thiserror::Error)]
pub(crate) enum InvalidLabelRule {
    #[error("write KEY=REGEX, KEY=fact:NAME or KEY=folder")]
    Form,
    #[error("invalid pattern: {0}")]
    Pattern(#[from] regex::Error),
}

impl FromStr for LabelRule {
    type Err = InvalidLabelRule;

    fn from_str(text: &str) -> Result<Self, InvalidLabelRule> {
        let (key, source) = text.split_once('=').ok_or(InvalidLabelRule::Form)?;
        let is_key = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        if key.is_empty() || source.is_empty() || !key.chars().all(is_key) {
            return Err(InvalidLabelRule::Form);
        }
        Ok(Self {
            key: key.to_owned(),
            source: match source.strip_prefix("fact:") {
                Some(name) => LabelSource::Fact(name.to_owned()),
                None if source == "folder" => LabelSource::Folder,
                None => LabelSource::Name(Box::new(Regex::new(source)?)),
            },
        })
    }
}

impl LabelRule {
    /// The value for a device; `None` without one that can be the name of a file.
    pub(crate) fn value(&self, device: LabeledDevice<'_>) -> Option<String> {
        let value = match &self.source {
            LabelSource::Fact(fact) => device.facts.get(fact.as_str())?.clone(),
            LabelSource::Folder => device.folder?.to_owned(),
            LabelSource::Name(pattern) => {
                let found = pattern.captures(device.name)?;
                let group = found.get(1).or_else(|| found.get(0))?;
                group.as_str().to_owned()
            }
        };
        let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
        let value: String = value
            .chars()
            .map(|c| if is_word(c) { c } else { '-' })
            .collect();
        let value = value.trim_matches(['-', '.']);
        (!value.is_empty()).then(|| value.to_owned())
    }
}

/// The labels of a device by these rules.
pub(crate) fn labels(rules: &[LabelRule], device: LabeledDevice<'_>) -> BTreeMap<String, String> {
    let labels = rules.iter().filter_map(|rule| {
        let value = rule.value(device)?;
        Some((rule.key.clone(), value))
    });
    labels.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_come_from_names_facts_and_folders() {
        let rules = [
            r"site=^(\w+)-",
            "role=sw|core",
            "model=fact:hardwaremodel",
            "region=folder",
        ];
        let rules: Vec<LabelRule> = rules.iter().map(|rule| rule.parse().unwrap()).collect();
        let facts = [("hardwaremodel".to_owned(), "WS-C3750 X/24".to_owned())];
        let facts = facts.into_iter().collect();
        let device = LabeledDevice {
            name: "oslo-sw1",
            facts: &facts,
            folder: Some("north/oslo"),
        };
        let found = labels(&rules, device);
        let found: Vec<(&str, &str)> = found.iter().map(|(k, v)| (&**k, &**v)).collect();
        let expected = [
            ("model", "WS-C3750-X-24"),
            ("region", "north-oslo"),
            ("role", "sw"),
            ("site", "oslo"),
        ];
        assert_eq!(found, expected);
        let unknown = LabeledDevice {
            name: "x",
            facts: &Facts::default(),
            folder: None,
        };
        assert!(labels(&rules, unknown).is_empty());
    }

    #[test]
    fn label_rules_have_a_key_and_a_source() {
        for text in ["site", "=x", "site=", "a/b=x", "site=("] {
            assert!(text.parse::<LabelRule>().is_err(), "{text}");
        }
    }
}
