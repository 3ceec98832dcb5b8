//! Lines that the device needs before those of a type: `feature vpc` before `vpc domain 10`.

use crate::change::ChangeKind;
use crate::driver::cli::CliType;
use crate::driver::cli::render::Goal;
use crate::driver::cli::rules::{CONFIG, CliAttributeRule, NeededLine};
use crate::operation::{Action, ConfigLine, Operation};
use crate::read::State;
use crate::secret::Text;
use crate::value::{Attributes, Value};

impl NeededLine {
    /// Whether a resource with these values needs it.
    fn is_needed_by(&self, values: &Attributes) -> bool {
        self.only.iter().all(|(name, pattern)| {
            let text = values.get(name.as_str()).and_then(Value::scalar_text);
            text.is_some_and(|text| pattern.is_match(&text))
        })
    }
}

impl CliType {
    /// All lines that the type, or one of its attributes, can need.
    pub(in crate::driver::cli) fn needed_lines(&self) -> impl Iterator<Item = &NeededLine> {
        let of_attributes = self.attributes.values().flat_map(|rule| &rule.needs);
        self.instance.needs.iter().chain(of_attributes)
    }

    /// Adds the lines that the configuration lacks before the others of a change.
    pub(super) fn add_needed_lines(
        &self,
        goal: Goal<'_>,
        values: &Attributes,
        state: &State,
        operations: &mut Vec<Operation>,
    ) {
        let Some(first) = operations
            .first()
            .filter(|_| goal.kind != ChangeKind::Remove)
        else {
            return;
        };
        let attributes = first.attributes.clone();
        let sent = operations.iter().flat_map(|one| &one.attributes);
        let sets = |rule: &&CliAttributeRule| {
            let value = values.get(&rule.name);
            value.is_some() && value != rule.absent.as_ref()
        };
        let changed = self.attributes.values();
        let changed = changed.filter(|rule| sent.clone().any(|name| *name == rule.name));
        let of_attributes = changed.filter(sets).flat_map(|rule| &rule.needs);
        let nodes = state.tree(CONFIG).map_or(&[][..], |tree| &tree.nodes);
        let is_missing = |line: &&NeededLine| {
            let mut nodes = nodes.iter();
            !nodes.any(|node| node.text.eq_ignore_ascii_case(&line.text))
        };
        let needed = self.instance.needs.iter().chain(of_attributes);
        let needed = needed.filter(|line| line.is_needed_by(values));
        let mut lines: Vec<&str> = Vec::new();
        for line in needed.filter(is_missing) {
            if !lines.contains(&line.text.as_str()) {
                lines.push(&line.text);
            }
        }
        let needed = lines.into_iter().map(|line| Operation {
            attributes: attributes.clone(),
            action: Action::Line(ConfigLine::global(Text::plain(line))),
        });
        let needed: Vec<Operation> = needed.collect();
        operations.splice(..0, needed);
    }
}
