//! Instances whose line ends with their name: `snmp-server enable traps {name:rest}`. A name is the
//! beginning of lines: `stpx` stands for all lines `snmp-server enable traps stpx …`.

use super::CliType;
use super::attribute_lines::begins_with;
use super::found::FoundInstance;
use super::instances::Instances;
use super::template::LineTemplate;
use crate::read::indent::SplitRule;
use crate::value::{Attributes, Value};

impl CliType {
    /// The line of instances and its name, if names are beginnings.
    fn named_by_beginning(&self) -> Option<(&LineTemplate, &str)> {
        let kind = &self.instance.kind;
        let mut names = self.model.namevars();
        let (Some(name), None, [line], []) =
            (names.next(), names.next(), kind.lines(), kind.paths())
        else {
            return None;
        };
        (line.takes_rest(name) && line.attributes() == [name]).then_some((line, name))
    }

    /// The lines that a resource stands for, as one instance. It is present if the device has lines for
    /// all of its words, and absent if it has none.
    pub(super) fn by_beginning(
        &self,
        desired: &Attributes,
        all: &Instances,
    ) -> Option<FoundInstance> {
        let (line, name) = self.named_by_beginning()?;
        let value = desired.get(name)?;
        let text = line.write(&|other| (other == name).then_some(value), self)?;
        let text = text.reveal();
        let lines = self.split_lines(&[], &text);
        let exists = |line: &String| {
            let mut own = all
                .iter()
                .filter_map(|indexed| indexed.found.line.as_deref());
            own.any(|own| begins_with(own, line))
        };
        let is_found = match desired.get("ensure").and_then(Value::as_str) {
            Some("absent") => lines.iter().any(exists),
            _ => lines.iter().all(exists),
        };
        is_found.then(|| FoundInstance {
            attributes: [(name.to_owned(), value.clone())].into_iter().collect(),
            line: Some(text),
            ..FoundInstance::default()
        })
    }

    /// The names of the resources that stand for an instance and for others.
    pub(super) fn wider_names(&self, names: &Attributes) -> Vec<Attributes> {
        let Some((_, name)) = self.named_by_beginning() else {
            return Vec::new();
        };
        let text = names.get(name).and_then(Value::as_str).unwrap_or_default();
        let words: Vec<&str> = text.split_whitespace().collect();
        let beginnings = (1..words.len()).map(|count| words[..count].join(" "));
        let named = |text: String| [(name.to_owned(), text.into())].into_iter().collect();
        beginnings.map(named).collect()
    }

    /// A line below these headers as the lines that it is read as.
    pub(super) fn split_lines(&self, headers: &[String], text: &str) -> Vec<String> {
        let counts = |rule: &&SplitRule| headers.is_empty() || !rule.is_top_level;
        let mut rules = self.split.iter().filter(counts);
        let lines = rules.find_map(|rule| rule.lines(text));
        lines.unwrap_or_else(|| vec![text.to_owned()])
    }
}
