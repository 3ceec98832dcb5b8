//! Lines that change a set of numbers which has one line.

use super::tree::insert_at;
use crate::driver::cli::CliType;
use crate::driver::cli::rules::{CliAttributeRule, range_set};
use crate::driver::cli::template::take_bound;
use crate::driver::codec::RangeSet;
use crate::read::indent::{Node, Tree};
use crate::value::Value;

impl CliType {
    /// The set after a relative change. Without a current value it is that of a device without a line.
    pub(super) fn changed_set(
        &self,
        rule: &CliAttributeRule,
        change: &Value,
        current: Option<&Value>,
    ) -> Value {
        match range_set(self.codecs.get(rule.name.as_str())) {
            Some(set) => set.resolve(change, current.or(rule.absent.as_ref())),
            None => change.clone(),
        }
    }

    /// Applies a relative change to the lines of a set.
    pub(super) fn change_set(&self, level: &mut Tree, rule: &CliAttributeRule, change: &Value) {
        let own = |node: &Node| take_bound(self.read_line(rule, node)?, &rule.name);
        let lines = level.nodes.iter().filter_map(own);
        let lists: Vec<String> = lines.filter_map(|list| list.scalar_text()).collect();
        let current = (!lists.is_empty()).then(|| Value::from(lists.join(",")));
        let changed = self.changed_set(rule, change, current.as_ref());
        let index = level.nodes.iter().position(|node| own(node).is_some());
        level.nodes.retain(|node| own(node).is_none());
        if rule.absent.as_ref() == Some(&changed) {
            return;
        }
        let templates = || rule.lines.iter().take(1).chain(rule.more.iter().cycle());
        let longest = templates().take(2).map(|line| line.text.len()).max();
        let limit = self.lines.limit.saturating_sub(longest.unwrap_or_default());
        let list = changed.as_str().unwrap_or_default();
        let pieces = RangeSet::pieces(list, limit);
        for (offset, (piece, line)) in pieces.into_iter().zip(templates()).enumerate() {
            let piece = Value::String(piece);
            if let Some(text) = line.write(&|name| (name == rule.name).then_some(&piece), self) {
                let at = index.map(|index| index + offset);
                insert_at(level, at, Node::new(text.reveal()));
            }
        }
    }
}
