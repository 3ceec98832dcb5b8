//! Lines that activate what the device has and does not use.

use super::Rendering;
use crate::change::ChangeKind;
use crate::driver::cli::rules::CliAttributeRule;
use crate::operation::ConfigLine;
use crate::value::Name;

impl Rendering<'_> {
    /// Adds the lines that activate the instance, or the attributes that get a value.
    pub(super) fn activate(&mut self) {
        let (Some(found), Some(state), Some(rule)) = (self.found, self.state, &self.cli.inactive)
        else {
            return;
        };
        let mut activated: Vec<(Vec<Name>, &[String])> = Vec::new();
        if let Some(lines) = found.inactive.get("ensure") {
            let names = match self.goal.kind {
                ChangeKind::Create => vec!["ensure".into()],
                _ => self.goal.names.iter().copied().map(Name::from).collect(),
            };
            activated.push((names, lines));
        } else {
            for (name, lines) in &found.inactive {
                if self.goal.names.contains(&name.as_str()) && self.has_line(name) {
                    activated.push((vec![name.clone()], lines));
                }
            }
        }
        let inactive = self.cli.inactive_instances(state);
        let mut sent: Vec<String> = Vec::new();
        for (attributes, lines) in activated {
            for mark in inactive.marks_of(lines) {
                if sent.iter().any(|known| known == mark) {
                    continue;
                }
                sent.push(mark.to_owned());
                let warning = match inactive.others_under(mark, lines) {
                    0 => None,
                    1 => Some("it activates another line, too".to_owned()),
                    others => Some(format!("it activates {others} other lines, too")),
                };
                let line = ConfigLine {
                    warning,
                    ..ConfigLine::global(rule.activation(mark))
                };
                self.add(attributes.iter().map(Name::as_str), line);
            }
        }
    }

    /// Whether the activation of an attribute gives it the value: no other line is sent.
    pub(super) fn is_set_by_activation(&self, rule: &CliAttributeRule) -> bool {
        self.found.is_some_and(|found| {
            let is_activated = found.is_inactive() || found.inactive.contains_key(&rule.name);
            let value = self.merged.get(&rule.name);
            is_activated && value.is_some() && found.attributes.get(&rule.name) == value
        })
    }

    /// Whether a desired value has a line: others are removed, also if they are inactive.
    fn has_line(&self, name: &str) -> bool {
        let rule = self.cli.attributes.get(name);
        let absent = rule.and_then(|rule| rule.absent.as_ref());
        let value = self.merged.get(name);
        value.is_some_and(|value| !self.cli.is_unset(name, value) && absent != Some(value))
    }
}
