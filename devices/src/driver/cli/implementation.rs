//! Implements [`Implementation`] for types with command lines.

use std::borrow::Cow;
use std::sync::Arc;

use switchtender_outline::CommandLine;

use super::CliType;
use super::found::FoundInstance;
use super::render::Goal;
use super::rules::{self, CliAttributeRule};
use crate::change::{Change, Desired, Instance};
use crate::diagnostic::Diagnostic;
use crate::driver::claim::Claim;
use crate::driver::effect::{Effect, EffectSlot};
use crate::driver::explanation::Explanation;
use crate::driver::implementation::{
    ChangePlanner, HiddenFromDiff, Implementation, InstanceReader, IsReadByOther, RenderError,
    TypeDescription,
};
use crate::driver::problem::Problem;
use crate::driver::secret_history::SecretHistory;
use crate::model::canonical::ValueError;
use crate::not_understood::NotUnderstood;
use crate::operation::Operation;
use crate::read::indent::Node;
use crate::read::{ReadError, ReadRequest, State};
use crate::secret_text::SecretPositions;
use crate::value::{Attributes, Name, Value};

impl InstanceReader for CliType {
    fn reads(&self, _: Option<&[&Desired]>) -> Vec<ReadRequest> {
        self.requests.clone()
    }

    fn instances(&self, state: &State) -> Result<Vec<Instance>, ReadError> {
        self.check_rows(state)?;
        let found = self.find_all(state, None);
        // In the model's order, not in the order of the device's lines.
        let order = |name: &Name| self.model.attributes.get_index_of(name);
        let is_used = |found: &FoundInstance| found.is_present() && !found.is_inactive();
        let present = found.into_iter().filter(is_used);
        let in_order = present.map(|found| {
            let mut instance = self.readable(found);
            instance.attributes.sort_by_key(order);
            instance
        });
        Ok(in_order.collect())
    }

    fn instance(&self, desired: &Desired, state: &State) -> Result<Option<Instance>, ReadError> {
        self.check_rows(state)?;
        self.check_unambiguous(&desired.attributes, state)?;
        let found = self.find(&desired.attributes, state);
        let found = found.filter(FoundInstance::is_present);
        Ok(found.map(|found| self.readable(found)))
    }

    fn listing_read(&self) -> Option<&str> {
        Some(&self.instance.from)
    }

    fn in_config(&self) -> Option<&Arc<dyn Implementation>> {
        self.in_config.as_ref()
    }

    fn not_understood(
        &self,
        state: &State,
        is_read_by_other: &IsReadByOther<'_>,
    ) -> Vec<NotUnderstood> {
        let mut unread = self.unread(state, is_read_by_other);
        unread.retain(|one| !one.path.is_empty() || !self.is_list_of_blocks(&one.text));
        unread
    }

    fn reads_line(&self, read: &str, path: &[&Node]) -> bool {
        self.reads_path(read, path)
    }

    fn claims(&self, state: &State) -> Vec<Claim> {
        match &self.in_config {
            Some(form) => form.claims(state),
            None => self.claimed(state),
        }
    }

    fn shows(&self, attribute: &str) -> bool {
        self.write_only(attribute).is_none()
    }

    fn applies(&self, attribute: &str) -> bool {
        let rule = self.attributes.get(attribute);
        rule.is_none_or(CliAttributeRule::is_applied)
    }

    fn block_of(&self, desired: &Desired, state: &State) -> Vec<String> {
        let is_block = self.instance.kind.blocks().is_some();
        let found = is_block.then(|| self.find(&desired.attributes, state));
        found.flatten().map_or_else(Vec::new, |found| found.block)
    }

    fn default_value(&self, attribute: &str) -> Option<Value> {
        let rule = self.attributes.get(attribute)?;
        // Without members there is no line, and no value.
        if !rule.is_applied() || self.stands_elsewhere(rule) {
            return None;
        }
        let is_flag = !rule.beginnings().is_empty() || rule.is_inner_block();
        rule.absent
            .clone()
            .or_else(|| is_flag.then_some(false.into()))
    }
}

impl ChangePlanner for CliType {
    fn canonicalize(&self, mut attributes: Attributes) -> Result<Attributes, Vec<ValueError>> {
        let mut errors = Vec::new();
        for (name, value) in attributes.iter_mut() {
            if let Some(stored) = self.stored_value(name, value) {
                *value = stored;
            }
            if let Some(codec) = self.codecs.get(name.as_str())
                && !self.is_unset(name, value)
            {
                match self.in_canonical_words(name, codec, value) {
                    Ok(canonical) => *value = self.finished(name, canonical),
                    Err(error) => errors.push(ValueError::new(name, error.to_string())),
                }
            }
        }
        self.convert_list(&mut attributes);
        for (name, value) in attributes.iter_mut() {
            if let Some(others) = self.without_implied(name, value) {
                *value = others;
            }
        }
        for rewrite in &self.rewrites {
            rewrite.apply(&mut attributes);
        }
        for property in self.model.properties() {
            if let Some(value) = attributes.get_mut(&property.name) {
                *value = self.secrets.marked(std::mem::replace(value, Value::Undef));
            }
        }
        if errors.is_empty() {
            Ok(attributes)
        } else {
            Err(errors)
        }
    }

    fn check(&self, desired: &Desired) -> Vec<Problem> {
        self.problems(desired)
    }

    fn resolve<'w>(
        &self,
        desired: &'w Desired,
        current: Option<&Instance>,
        _: &State,
    ) -> Cow<'w, Desired> {
        let mut resolved = Cow::Borrowed(desired);
        for (name, codec) in &self.codecs {
            if let Some(ranges) = rules::range_set(Some(codec))
                && let Some(value) = desired.attributes.get(name)
            {
                let current = current.and_then(|current| current.attributes.get(name));
                let value = ranges.resolve(value, current);
                resolved.to_mut().attributes.insert(name.clone(), value);
            }
        }
        resolved
    }

    fn differs(
        &self,
        desired: &Desired,
        current: Option<&Instance>,
        secrets: &dyn SecretHistory,
    ) -> Vec<Name> {
        self.out_of_sync(desired, current, secrets)
    }

    fn ineffective(&self, desired: &Desired, current: &Attributes) -> Vec<(Name, String)> {
        CliType::ineffective(self, desired, current)
    }

    fn render(&self, change: &Change, state: &State) -> Result<Vec<Operation>, RenderError> {
        let names: Vec<&str> = change.attributes.iter().map(Name::as_str).collect();
        self.operations(Goal::of(change, &names), state)
    }

    fn displaced(&self, change: &Change, state: &State) -> Vec<Instance> {
        if self.instance.replace != Some(super::rules::Replacement::EqualLines) {
            return Vec::new();
        }
        let names: Vec<&str> = change.attributes.iter().map(Name::as_str).collect();
        let rendered = self.rendered(Goal::of(change, &names), state);
        let displaced = rendered.map_or_else(|_| Vec::new(), |rendered| rendered.displaced);
        let displaced = displaced.into_iter();
        displaced.map(|found| self.readable(found)).collect()
    }

    fn has_refresh(&self) -> bool {
        self.refresh.is_some()
    }

    fn refresh(
        &self,
        desired: &Desired,
        current: Option<&Instance>,
    ) -> Result<Vec<Operation>, RenderError> {
        let Some(rule) = &self.refresh else {
            return Ok(Vec::new());
        };
        let operations = rule.operations(self, &desired.over(current))?;
        match self.unsendable_lines(&operations).into_iter().next() {
            Some(refused) => Err(refused.into()),
            None => Ok(operations),
        }
    }

    fn predict(&self, state: &mut State, operations: &[Operation]) {
        self.apply(state, operations);
    }

    fn marks_secrets(&self) -> bool {
        true
    }

    fn lines_that_stay(&self) -> Vec<String> {
        let lines = self.needed_lines();
        let lines = lines.flat_map(|line| [&line.text].into_iter().chain(&line.adds));
        lines.cloned().collect()
    }

    fn lines_read_elsewhere(&self, operations: &[Operation]) -> Vec<String> {
        if self.instance.kind.is_row() || self.instance.from == rules::CONFIG {
            return Vec::new();
        }
        let lines = operations.iter().filter_map(Operation::line);
        let outermost = lines.filter_map(|line| {
            let line = line.mode.first().or(line.text.as_ref())?.reveal();
            let positive = self.negation.positive(&line);
            Some(positive.map_or_else(|| line.clone(), Cow::into_owned))
        });
        outermost.collect()
    }

    fn supports_diff(&self, state: &State) -> Result<(), HiddenFromDiff> {
        let has_lines = self.instance.kind.is_row();
        match (&self.instance.mode, state.tree(rules::CONFIG)) {
            // The mode contains the lines.
            (Some(_), None) if has_lines => Err(HiddenFromDiff::ConfigurationNotRead),
            _ => Ok(()),
        }
    }

    fn lines_of_rows(&self, state: &State) -> Vec<Node> {
        match &self.instance.mode {
            Some(_) => Vec::new(),
            None => self.rows_as_lines(state),
        }
    }

    fn instance_words(&self) -> Option<(String, String)> {
        self.line_words()
    }

    fn instance_line(&self) -> Option<String> {
        let kind = &self.instance.kind;
        let blocks = kind.paths().iter().map(|path| path.text.as_str());
        let lines = kind.lines().iter().map(|line| line.text.as_str());
        let parts = std::iter::once(self.instance.from.as_str()).chain(blocks);
        let text = || parts.chain(lines).collect::<Vec<_>>().join("\n");
        kind.is_line().then(text)
    }

    fn effect_slots(&self) -> Vec<EffectSlot> {
        self.all_touches()
    }

    fn effects(&self, desired: &Desired, attributes: &[&str]) -> Vec<Effect> {
        self.settings_of(desired, attributes)
    }
}

impl TypeDescription for CliType {
    fn is_ensurable(&self) -> bool {
        self.model.is_ensurable() && !self.is_singleton()
    }

    fn is_removable(&self) -> bool {
        self.is_ensurable() && !self.instance.is_permanent
    }

    fn is_singleton(&self) -> bool {
        self.instance.kind.is_singleton()
    }

    fn is_block(&self) -> bool {
        self.instance.kind.blocks().is_some()
    }

    fn is_permanent(&self, names: &Attributes) -> bool {
        self.instance.is_permanent || self.permanent_name(names).is_some()
    }

    fn explain(&self) -> Explanation {
        self.explanation()
    }

    fn wider_names(&self, names: &Attributes) -> Vec<Attributes> {
        CliType::wider_names(self, names)
    }

    fn audit(&self) -> Vec<Diagnostic> {
        self.findings()
    }

    fn secret_positions(&self) -> SecretPositions {
        self.positions_of_secrets()
    }

    fn add_shapes(&self, command_line: &mut CommandLine) {
        CliType::add_shapes(self, command_line);
    }
}
