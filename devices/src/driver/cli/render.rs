//! Renders a change as command lines, with their order and modes.
//!
//! [`instance`] renders the instance itself, [`attribute`] its attributes, and [`no_form`] the
//! removal of a line.

mod activation;
mod added_values;
mod attribute;
mod body;
mod cleared;
mod errors;
mod instance;
mod members;
mod needed;
mod no_form;
mod number_set;
mod operations;
mod order;

use std::borrow::Cow;

use super::CliType;
use super::block_path::BlockPath;
use super::found::FoundInstance;
use super::rules::CliAttributeRule;
use super::template::{Bindings, CAPTURE_MARK, LineTemplate, bound, value_parts};
use crate::change::{Change, ChangeKind};
use crate::driver::codec::Codec;
use crate::driver::implementation::RenderError;
use crate::operation::Operation;
use crate::read::State;
use crate::secret::Text;
use crate::value::{Attributes, Name, Value};

/// The desired change.
#[derive(Clone, Copy)]
pub(super) struct Goal<'a> {
    pub(crate) kind: ChangeKind,
    /// All desired attributes of the resource.
    pub(crate) desired: &'a Attributes,
    /// The attributes to set.
    pub(crate) names: &'a [&'a str],
}

impl<'a> Goal<'a> {
    /// The goal of a change that sets these attributes.
    pub(super) fn of(change: &'a Change, names: &'a [&'a str]) -> Self {
        Self {
            kind: change.kind,
            desired: &change.desired.attributes,
            names,
        }
    }
}

/// A change in progress: desired state, current state and the lines rendered so far.
pub(super) struct Rendering<'a> {
    cli: &'a CliType,
    goal: Goal<'a>,
    found: Option<&'a FoundInstance>,
    /// Desired values, otherwise current ones.
    merged: &'a Attributes,
    /// Attributes that the device removes with the change and that are set again, each with the
    /// attribute that removes it.
    cleared: &'a [(&'a str, &'a str)],
    /// Index of the block's spelling that the device uses.
    spelling: usize,
    /// `None` for a device that has nothing.
    state: Option<&'a State>,
    /// The device was not read: it may have the values that a line lacks.
    is_unread: bool,
    mode: Vec<Text>,
    /// Attributes that the lines of the creation set.
    created: Vec<&'a str>,
    rendered: Rendered,
}

/// The effect of a change on the device.
#[derive(Default)]
pub(super) struct Rendered {
    pub(crate) operations: Vec<Operation>,
    /// Other instances that the operations remove.
    pub(crate) displaced: Vec<FoundInstance>,
}

impl CliType {
    /// The operations of a change, all of whose lines the platform accepts.
    pub(super) fn operations(
        &self,
        goal: Goal<'_>,
        state: &State,
    ) -> Result<Vec<Operation>, RenderError> {
        let operations = self.rendered(goal, state)?.operations;
        match self.unsendable_lines(&operations).into_iter().next() {
            Some(refused) => Err(refused.into()),
            None => Ok(operations),
        }
    }

    /// The operations of a change, and the other instances that they remove. The text of the
    /// operations is not checked.
    pub(super) fn rendered(&self, goal: Goal<'_>, state: &State) -> Result<Rendered, RenderError> {
        self.rendered_for(goal, state, false)
    }

    /// The operations of a change of a device that was not read.
    pub(super) fn rendered_unread(&self, goal: Goal<'_>) -> Result<Rendered, RenderError> {
        self.rendered_for(goal, &State::default(), true)
    }

    fn rendered_for(
        &self,
        goal: Goal<'_>,
        state: &State,
        is_unread: bool,
    ) -> Result<Rendered, RenderError> {
        let mut found = self.find(goal.desired, state);
        let merged = self.merged(goal.desired, found.as_ref());
        let merged = self.with_values_of_block(merged, state)?;
        let spelling = self.spelling_in_use(state, found.as_ref(), &merged);
        let cleared = self.cleared(goal, found.as_mut(), &merged);
        let again = cleared.iter().map(|(name, _)| *name);
        let again = again.filter(|name| !goal.names.contains(name));
        let names: Vec<&str> = goal.names.iter().copied().chain(again).collect();
        let goal = Goal {
            names: &names,
            ..goal
        };
        let mut rendering = Rendering {
            found: found.as_ref(),
            cleared: &cleared,
            state: Some(state),
            is_unread,
            ..Rendering::new(self, goal, &merged, spelling)
        };
        if goal.kind == ChangeKind::Remove {
            rendering.remove()?;
        } else {
            rendering.create_or_change()?;
        }
        let mut rendered = rendering.rendered;
        added_values::without_removals_of_added(&mut rendered.operations, &self.negation);
        self.add_needed_lines(goal, &merged, state, &mut rendered.operations);
        Ok(rendered)
    }

    /// Desired values, otherwise current ones. Desired values that are not applied are left out.
    fn merged<'w>(
        &self,
        desired: &'w Attributes,
        found: Option<&FoundInstance>,
    ) -> Cow<'w, Attributes> {
        let is_left_out = |name: &str| {
            let rule = self.attributes.get(name);
            rule.is_some_and(|rule| !rule.is_applied())
        };
        let mut desired = Cow::Borrowed(desired);
        if desired.keys().any(|name| is_left_out(name)) {
            desired.to_mut().retain(|name, _| !is_left_out(name));
        }
        let Some(found) = found.filter(|_| self.instance.keep_unmanaged) else {
            return desired;
        };
        let mut merged = found.attributes.clone();
        // The format of the device's secret does not apply to the desired one.
        for (secret, codec) in &self.codecs {
            if let Codec::Type7 { form } = codec.as_ref()
                && desired.contains_key(secret)
            {
                merged.remove(form);
            }
        }
        merged.extend(desired.into_owned());
        Cow::Owned(merged)
    }
}

impl<'a> Rendering<'a> {
    /// For an empty device.
    pub(super) fn for_empty_device(cli: &'a CliType, goal: Goal<'a>) -> Self {
        Self::new(
            cli,
            goal,
            goal.desired,
            cli.new_spelling(goal.desired, None),
        )
    }

    fn new(cli: &'a CliType, goal: Goal<'a>, merged: &'a Attributes, spelling: usize) -> Self {
        Self {
            cli,
            goal,
            found: None,
            merged,
            cleared: &[],
            spelling,
            state: None,
            is_unread: false,
            mode: Vec::new(),
            created: Vec::new(),
            rendered: Rendered::default(),
        }
    }

    /// Adds the lines that set one attribute, also for default values.
    pub(super) fn lines_of(
        &mut self,
        rule: &CliAttributeRule,
        value: &Value,
    ) -> Result<(), RenderError> {
        self.enter_instance()?;
        if rule.is_group() {
            return self.group(rule);
        }
        self.set(rule, value)
    }

    /// The mode in which lines are sent.
    pub(super) fn location(&self) -> String {
        location_of(&self.mode)
    }

    pub(super) fn into_operations(self) -> Vec<Operation> {
        self.rendered.operations
    }

    fn create_or_change(&mut self) -> Result<(), RenderError> {
        let cli = self.cli;
        self.activate();
        if cli.instance.kind.is_line() {
            return self.line(cli.instance.kind.spellings_in(self.spelling));
        }
        self.enter_instance()?;
        let is_inactive = self.found.is_some_and(FoundInstance::is_inactive);
        let creates = self.goal.kind == ChangeKind::Create || self.found.is_none();
        let creates = creates && !is_inactive;
        let has_own_line = cli.attributes.contains_key("ensure");
        let creates = creates && !has_own_line && cli.model.is_ensurable();
        if creates && !cli.instance.create.is_empty() {
            self.create()?;
        } else if self.sends_block_as_text() {
            // The header is sent with the text.
        } else if creates && !self.mode.is_empty() && cli.instance.kind.named().is_none() {
            self.enter("ensure");
        } else if let Some(name) = self.changed_header() {
            self.enter(name);
        }
        let inside_of = |name: &Name| self.goal.names.contains(&name.as_str());
        let created = std::mem::take(&mut self.created);
        let concerned = |rule: &&CliAttributeRule| {
            let concerned = inside_of(&rule.name) || rule.with.iter().any(inside_of);
            let is_in_header = rule.is_in_instance();
            let is_sent = rule.inside.is_none() && rule.is_applied() && !is_in_header;
            let is_created = created.contains(&rule.name.as_str());
            concerned
                && is_sent
                && !is_created
                && !self.is_in_removed_block(rule)
                && !self.is_set_by_activation(rule)
        };
        let mut rules: Vec<&CliAttributeRule> = cli.attributes.values().filter(concerned).collect();
        rules.sort_by_cached_key(|rule| self.turn(rule));
        for rule in rules {
            if rule.name == "ensure" {
                self.existence(rule, "present")?;
                continue;
            }
            let block = self.mode.len();
            self.mode
                .extend(rule.sub(self.spelling).iter().map(Text::plain));
            let before = self.rendered.operations.len();
            self.attribute(rule)?;
            self.mode.truncate(block);
            if let Some(name) = self.cleared_by(&rule.name) {
                for operation in &mut self.rendered.operations[before..] {
                    operation.attributes.push(name.into());
                }
            }
        }
        // Any line creates an instance of lines with a common beginning.
        if creates
            && self.rendered.operations.is_empty()
            && let Some(prefix) = cli.instance.kind.prefix()
        {
            let text = self.written(prefix);
            let text = text.ok_or_else(|| self.missing_in(prefix))?;
            self.push(&["ensure"], text, cli.instance.prompts);
        }
        Ok(())
    }

    /// The first changed attribute in the header of the instance's block, which is sent with the new
    /// value.
    fn changed_header(&self) -> Option<&'a str> {
        let paths = self.cli.instance.kind.blocks()?;
        let path = paths.get(self.spelling).filter(|_| self.found.is_some())?;
        let mut names = self.goal.names.iter().copied();
        names.find(|name| {
            let mut templates = path.templates();
            !self.cli.is_namevar(name) && templates.any(|one| one.has_attribute(name))
        })
    }

    /// Whether the inner block of an attribute must not exist: its lines go with it.
    fn is_in_removed_block(&self, rule: &CliAttributeRule) -> bool {
        let sub = rule.sub(self.spelling);
        let mut others = self.cli.attributes.values();
        others.any(|other| {
            other.is_inner_block()
                && other.name != rule.name
                && sub.starts_with(other.sub(self.spelling))
                && self.merged.get(&other.name) == Some(&Value::Bool(false))
        })
    }

    /// Sets the mode of the lines of the instance.
    fn enter_instance(&mut self) -> Result<(), RenderError> {
        self.mode = self.mode_path()?;
        Ok(())
    }

    /// A value in the header of a block; none if the device does not print it.
    fn header_value(&self, name: &str) -> Option<&'a Value> {
        let value = self.merged.get(name);
        value.filter(|value| self.cli.is_printed(name, value))
    }

    /// Order of an attribute's lines: existence first, then lines that must precede others, at the
    /// end lines that must follow others and the position.
    fn turn(&self, rule: &CliAttributeRule) -> u8 {
        if rule.name == "ensure" {
            return 0;
        }
        if rule.order().is_some() {
            return 4;
        }
        if self.cleared_by(&rule.name).is_some() {
            return 3;
        }
        if self.is_removed_by_other(rule) {
            return 1;
        }
        if rule.first.is_empty() && rule.last.is_empty() {
            return 2;
        }
        let value = self.goal.desired.get(&rule.name);
        let named = value.and_then(|value| self.cli.value_name(&rule.name, value));
        match named {
            Some(named) if rule.first.iter().any(|first| *first == named) => 1,
            Some(named) if rule.last.iter().any(|last| *last == named) => 3,
            _ => 2,
        }
    }

    /// The modes in which lines are sent.
    pub(super) fn mode_path(&self) -> Result<Vec<Text>, RenderError> {
        let cli = self.cli;
        let kind = &cli.instance.kind;
        if kind.is_row() && cli.instance.mode.is_none() {
            let Some(enter) = kind.enter() else {
                return Ok(Vec::new());
            };
            let text = enter.write(&|name| self.header_value(name), cli);
            return Ok(vec![text.ok_or_else(|| self.missing_in(enter))?]);
        }
        let known = self.found.map(|found| found.block.as_slice());
        let path = match (&cli.instance.mode, known) {
            (Some(mode), _) => Some(mode),
            (None, Some(headers)) if !headers.is_empty() && self.changed_header().is_none() => {
                return Ok(headers.iter().map(|header| self.hidden(header)).collect());
            }
            (None, _) => kind.paths().get(self.spelling),
        };
        if self.found.is_none()
            && let Some(name) = cli.name_without_position(self.spelling, self.merged)
        {
            let places: Vec<String> = kind.paths().iter().map(BlockPath::quoted).collect();
            let message = format!("has no place in a new instance: {}", places.join(", "));
            return Err(RenderError::new(name, message));
        }
        let headers = path.map(|path| path.write(&|name| self.header_value(name), cli));
        headers
            .unwrap_or_else(|| Ok(Vec::new()))
            .map_err(|header| self.missing_in(header))
    }

    fn written(&self, template: &LineTemplate) -> Option<Text> {
        template.write(&|name| self.value(name), self.cli)
    }

    /// A value for a line: desired or current, or a word without an attribute.
    fn value(&self, name: &str) -> Option<&Value> {
        if self.cli.line_names().contains(&name) {
            return self.header_value(name);
        }
        let unmanaged = || self.found.and_then(|found| found.unmanaged.get(name));
        let part = || value_parts::part_in(self.merged, name);
        self.merged.get(name).or_else(unmanaged).or_else(part)
    }

    /// The names and the literal words at the beginning of a line.
    fn head(&self, template: &LineTemplate) -> Option<Text> {
        self.written(&template.head_with(&self.cli.line_names()))
    }

    fn element(
        &self,
        rule: &CliAttributeRule,
        template: &LineTemplate,
        element: &Value,
    ) -> Option<Text> {
        let words = self.words_of(rule, template, element);
        let values = |name: &str| match value_parts::split(name) {
            Some((attribute, part)) if attribute == &*rule.name => {
                value_parts::part_of(element, part)
            }
            _ if name == rule.name => Some(element),
            _ if name.starts_with(CAPTURE_MARK) => bound(&words, name),
            _ => self.merged.get(name),
        };
        template.write(&values, self.cli)
    }

    /// The words without an attribute in the line of an element.
    fn words_of(
        &self,
        rule: &CliAttributeRule,
        template: &LineTemplate,
        element: &Value,
    ) -> Bindings {
        let lines = self
            .found
            .and_then(|found| found.lines.get(rule.name.as_str()));
        let mut lines = lines.into_iter().flatten();
        let line = lines.find(|(value, _)| value == element);
        line.and_then(|(_, text)| template.read(text, self.cli))
            .unwrap_or_default()
    }

    /// Whether an attribute has no value after the change, or the default of the device.
    fn is_unset_after(&self, name: &str) -> bool {
        let value = self.merged.get(name);
        value.is_none_or(|value| self.cli.is_unset(name, value))
    }
}

/// The headers of a mode as one text.
pub(super) fn location_of(mode: &[Text]) -> String {
    let headers: Vec<String> = mode.iter().map(Text::reveal).collect();
    headers.join(" / ")
}
