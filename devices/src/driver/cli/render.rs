//! Making the lines of a change.

use std::borrow::Cow;

use crate::map::IndexMap;

use super::find::{Found, without_no};
use super::rules::{AttributeRule, Kind, NoForm, Place, range_set};
use super::template::{Template, Vocabulary};
use super::{CliType, is_unset};
use crate::change::ChangeKind;
use crate::driver::codec::{Codec, RangeSet};
use crate::driver::implementation::RenderError;
use crate::operation::{Action, Line, Operation};
use crate::read::State;
use crate::secret::Text;
use crate::value::{Attributes, Name, Value};

/// What is to be brought about.
#[derive(Clone, Copy)]
pub(super) struct Goal<'a> {
    pub kind: ChangeKind,
    /// All that is wanted of the resource.
    pub wanted: &'a Attributes,
    /// The attributes that are to be set.
    pub names: &'a [&'a str],
}

/// A change under way: what is wanted, what is there, and the lines made so far.
pub(super) struct Rendering<'a> {
    cli: &'a CliType,
    goal: Goal<'a>,
    found: Option<&'a Found>,
    /// Wanted values over current ones.
    merged: &'a Attributes,
    /// Which spelling of the instance's block the device uses.
    spelling: usize,
    mode: Vec<Text>,
    operations: Vec<Operation>,
}

impl CliType {
    pub(super) fn operations(
        &self,
        goal: Goal<'_>,
        state: &State,
    ) -> Result<Vec<Operation>, RenderError> {
        let found = self.find(goal.wanted, state);
        let merged = self.merged(goal.wanted, found.as_ref());
        let mut rendering = Rendering {
            cli: self,
            goal,
            found: found.as_ref(),
            merged: &merged,
            spelling: self.spelling_in_use(state, found.as_ref()),
            mode: Vec::new(),
            operations: Vec::new(),
        };
        if goal.kind == ChangeKind::Remove {
            rendering.remove()?;
        } else {
            rendering.bring_about()?;
        }
        let operations = rendering.operations;
        for operation in &operations {
            if let Action::Line(line) = &operation.action
                && line
                    .mode
                    .iter()
                    .chain(&line.text)
                    .chain(&line.body)
                    .any(|text| text.chars().any(char::is_control))
            {
                let attribute = operation.attributes.first();
                return Err(RenderError {
                    attribute: attribute.map(String::from).unwrap_or_default(),
                    message: "the line would hold a control character".to_owned(),
                });
            }
        }
        Ok(operations)
    }

    /// Wanted values over current ones.
    fn merged<'w>(&self, wanted: &'w Attributes, found: Option<&Found>) -> Cow<'w, Attributes> {
        let Some(found) = found.filter(|_| self.instance.keep_unmanaged) else {
            return Cow::Borrowed(wanted);
        };
        let mut merged = found.attributes.clone();
        // The form of the device's secret says nothing about the form of a wanted one.
        for (secret, codec) in &self.codecs {
            if let Codec::Type7 { form } = codec.as_ref()
                && wanted.contains_key(secret)
            {
                merged.remove(form);
            }
        }
        merged.extend(wanted.clone());
        Cow::Owned(merged)
    }
}

impl<'a> Rendering<'a> {
    /// For a device that has nothing.
    pub(super) fn of_nothing(cli: &'a CliType, goal: Goal<'a>) -> Self {
        Self {
            cli,
            goal,
            found: None,
            merged: goal.wanted,
            spelling: 0,
            mode: Vec::new(),
            operations: Vec::new(),
        }
    }

    /// Adds the lines that set one attribute, whatever the device has by itself.
    pub(super) fn lines_of(
        &mut self,
        rule: &AttributeRule,
        value: &Value,
    ) -> Result<(), RenderError> {
        self.mode = self.mode_path()?;
        self.set(rule, value, self.cli.named(&rule.set, &rule.name, value))
    }

    /// The mode in which lines are sent.
    pub(super) fn place(&self) -> String {
        self.mode.last().map(Text::reveal).unwrap_or_default()
    }

    pub(super) fn into_operations(self) -> Vec<Operation> {
        self.operations
    }

    fn remove(&mut self) -> Result<(), RenderError> {
        let cli = self.cli;
        let Some(found) = self.found else {
            return Ok(());
        };
        // `ensure` as an ordinary attribute: the instance is a property of something that stays.
        if let Some(rule) = cli.attributes.get("ensure") {
            self.mode = self.mode_path()?;
            return self.existence(rule, "absent");
        }
        if matches!(cli.instance.kind, Kind::Line { ref block, .. } if !block.is_empty()) {
            self.mode = self.mode_path()?;
        }
        let ensure = ["ensure"];
        if let Some(template) = &cli.instance.remove_empty
            && found.siblings <= 1
        {
            self.mode = Vec::new();
            let text = template.write(&|name| found.attributes.get(name), cli);
            let text = text.ok_or_else(|| self.error("ensure"))?;
            self.push(&ensure, text, cli.instance.prompts);
            return Ok(());
        }
        if cli.instance.remove.is_empty() {
            let line = found.line.as_ref().or(found.block.as_ref());
            let text = line
                .map(|line| self.hidden(line))
                .ok_or_else(|| self.error("ensure"))?;
            self.push(&ensure, no(text), cli.instance.prompts);
        }
        for template in &cli.instance.remove {
            // What the device has counts here, not what the catalog wants.
            let text = template.write(&|name| found.attributes.get(name), cli);
            let text = text.ok_or_else(|| self.error("ensure"))?;
            self.push(&ensure, text, cli.instance.prompts);
        }
        Ok(())
    }

    fn bring_about(&mut self) -> Result<(), RenderError> {
        let cli = self.cli;
        if let Kind::Line { spellings, .. } = &cli.instance.kind {
            return self.line(spellings);
        }
        self.mode = self.mode_path()?;
        let creates = self.goal.kind == ChangeKind::Create || self.found.is_none();
        let has_own_line = cli.attributes.contains_key("ensure");
        if creates && !self.mode.is_empty() && !has_own_line && cli.model.ensurable() {
            self.enter("ensure");
        }
        let inside_of = |name: &Name| self.goal.names.contains(&name.as_str());
        let concerned = |rule: &&AttributeRule| {
            let concerned = inside_of(&rule.name) || rule.with.iter().any(inside_of);
            concerned && rule.inside.is_none() && rule.is_applied()
        };
        let mut rules: Vec<&AttributeRule> = cli.attributes.values().filter(concerned).collect();
        rules.sort_by_cached_key(|rule| self.turn(rule));
        for rule in rules {
            if rule.name == "ensure" {
                self.existence(rule, "present")?;
                continue;
            }
            let block = self.mode.len();
            let sub = rule.sub.get(self.spelling).filter(|sub| !sub.is_empty());
            self.mode.extend(sub.map(Text::plain));
            self.attribute(rule)?;
            self.mode.truncate(block);
        }
        Ok(())
    }

    /// When the lines of an attribute are sent: existence, then what stands in the way of others.
    fn turn(&self, rule: &AttributeRule) -> u8 {
        if rule.name == "ensure" {
            return 0;
        }
        if rule.first.is_empty() {
            return 2;
        }
        let value = self.goal.wanted.get(&rule.name);
        let named = value.and_then(|value| self.cli.value_name(&rule.name, value));
        match named {
            Some(named) if rule.first.iter().any(|first| *first == named) => 1,
            _ => 2,
        }
    }

    /// The lines of one attribute (and of those in the same lines).
    fn attribute(&mut self, rule: &AttributeRule) -> Result<(), RenderError> {
        if !rule.with.is_empty() && !matches!(rule.place, Place::Elsewhere(_)) {
            return self.group(rule);
        }
        let Some(value) = self.merged.get(&rule.name) else {
            return Ok(());
        };
        let line = self.cli.named(&rule.set, &rule.name, value);
        let is_due = self.found.is_some() || rule.must_be_sent(value, line);
        if rule.is_managed(line) && is_due {
            self.set(rule, value, line)?;
        }
        Ok(())
    }

    /// Adds the lines for a value; `line` is the one that its rule gives for it.
    fn set(
        &mut self,
        rule: &AttributeRule,
        value: &Value,
        line: Option<&Option<Template>>,
    ) -> Result<(), RenderError> {
        match &rule.place {
            Place::Opaque { words, delimiters } => self.opaque(rule, words, delimiters, value),
            Place::Elsewhere(block) => self.elsewhere(rule, block, value),
            _ if rule.many => self.many(rule, value),
            _ => self.scalar(rule, value, line),
        }
    }

    /// The line for a value of `ensure` where it is an ordinary attribute.
    fn existence(&mut self, rule: &AttributeRule, value: &str) -> Result<(), RenderError> {
        let value = value.into();
        self.scalar(rule, &value, self.cli.named(&rule.set, &rule.name, &value))
    }

    /// A line with one value.
    fn scalar(
        &mut self,
        rule: &AttributeRule,
        value: &Value,
        line: Option<&Option<Template>>,
    ) -> Result<(), RenderError> {
        let cli = self.cli;
        if let Some(line) = line {
            if let Some(template) = line {
                let text = self
                    .written(template)
                    .ok_or_else(|| self.error(&rule.name))?;
                self.push_rule(rule, text);
            }
            return Ok(());
        }
        let own = self.found.and_then(|found| found.defaults.get(&rule.name));
        let by_itself = own.or(rule.absent.as_ref());
        let goes = is_unset(value)
            || (by_itself == Some(value) && !rule.default_on)
            || *value == Value::Bool(false);
        if goes {
            let text = self.no_form(rule, None)?;
            self.push_rule(rule, text);
            return Ok(());
        }
        if rule.replace_first && self.current_line(rule).is_some() {
            let text = self.no_form(rule, None)?;
            self.push_rule(rule, text);
        }
        let template = rule.lines.first().ok_or_else(|| self.error(&rule.name))?;
        let text = self
            .written(template)
            .ok_or_else(|| self.error(&rule.name))?;
        if let (Some(more), Some(_)) = (&rule.more, range_set(cli.codecs.get(rule.name.as_str())))
            && text.len() > cli.line_limit
        {
            return self.long_list(rule, template, more, value);
        }
        self.push_rule(rule, text);
        Ok(())
    }

    /// A list of numbers that does not fit one line: an absolute one, then additions.
    fn long_list(
        &mut self,
        rule: &AttributeRule,
        first: &Template,
        more: &Template,
        value: &Value,
    ) -> Result<(), RenderError> {
        let list = value.as_str().ok_or_else(|| self.error(&rule.name))?;
        let longest = first.head().len().max(more.head().len()) + 1;
        let limit = self.cli.line_limit.saturating_sub(longest);
        for (index, piece) in RangeSet::pieces(list, limit).into_iter().enumerate() {
            let template = if index == 0 { first } else { more };
            let piece = Value::String(piece);
            let values = |name: &str| {
                if name == rule.name {
                    Some(&piece)
                } else {
                    None
                }
            };
            let text = template.write(&values, self.cli);
            let text = text.ok_or_else(|| self.error(&rule.name))?;
            self.push_rule(rule, text);
        }
        Ok(())
    }

    /// One line per element: additions, then removals, or the other way round.
    fn many(&mut self, rule: &AttributeRule, value: &Value) -> Result<(), RenderError> {
        let elements = |value: Option<&Value>| match value.map(Value::unwrap_sensitive) {
            Some(value) if is_unset(value) => Vec::new(),
            Some(Value::List(items)) => items.clone(),
            Some(one) => vec![one.clone()],
            None => Vec::new(),
        };
        let wanted = elements(Some(value));
        let current = elements(
            self.found
                .and_then(|found| found.attributes.get(&rule.name)),
        );
        let mut removals = Vec::new();
        for element in current.iter().filter(|element| !wanted.contains(element)) {
            removals.push(self.no_form(rule, Some(element))?);
        }
        let mut additions = Vec::new();
        for element in wanted.iter().filter(|element| !current.contains(element)) {
            let template = rule.lines.first().ok_or_else(|| self.error(&rule.name))?;
            let text = self
                .element(rule, template, element)
                .ok_or_else(|| self.error(&rule.name))?;
            additions.push(text);
        }
        let (first, second) = if rule.replace_first {
            (removals, additions)
        } else {
            (additions, removals)
        };
        for text in first.into_iter().chain(second) {
            self.push_rule(rule, text);
        }
        Ok(())
    }

    /// A line with several attributes: sent as a whole when one of them differs.
    fn group(&mut self, rule: &AttributeRule) -> Result<(), RenderError> {
        let cli = self.cli;
        let names: Vec<&Name> = [&rule.name].into_iter().chain(&rule.with).collect();
        let absent = |name: &Name| {
            let rule = cli.attributes.get(name.as_str())?;
            rule.absent.as_ref()
        };
        let kept: IndexMap<&Name, &Value> = names
            .iter()
            .filter_map(|name| Some((*name, self.merged.get(name)?)))
            .filter(|(name, value)| !is_unset(value) && absent(name) != Some(value))
            .collect();
        let text = if kept.is_empty() {
            self.no_form(rule, None)?
        } else {
            let template = rule.lines.first().ok_or_else(|| self.error(&rule.name))?;
            let values = |name: &str| match names.iter().find(|other| **other == name) {
                Some(name) => kept.get(*name).copied(),
                None => self.merged.get(name),
            };
            template
                .write(&values, cli)
                .ok_or_else(|| self.error(&rule.name))?
        };
        let changed = self.changed(rule);
        self.push(&changed, text, rule.prompts);
        Ok(())
    }

    /// The attributes in the lines of a rule that are to be set.
    fn changed<'r>(&self, rule: &'r AttributeRule) -> Vec<&'r str> {
        let names = [&rule.name].into_iter().chain(&rule.with);
        let names = names.map(|name| name.as_str());
        names
            .filter(|name| self.goal.names.contains(name))
            .collect()
    }

    fn opaque(
        &mut self,
        rule: &AttributeRule,
        words: &str,
        delimiters: &[char],
        value: &Value,
    ) -> Result<(), RenderError> {
        if is_unset(value) {
            self.push_rule(rule, Text::plain(format!("no {words}")));
            return Ok(());
        }
        let text = value
            .unwrap_sensitive()
            .as_str()
            .ok_or_else(|| self.error(&rule.name))?;
        let text = text.trim_matches('\n');
        let delimiter = delimiters
            .iter()
            .find(|delimiter| !text.contains(**delimiter));
        let delimiter = delimiter.ok_or_else(|| RenderError {
            attribute: rule.name.to_string(),
            message: "the text holds every character that could end it".to_owned(),
        })?;
        let whole = format!("{words} {delimiter}{text}{delimiter}");
        let mut lines = whole
            .split('\n')
            .map(|line| Text::plain(line.trim_end_matches('\r')));
        let first = lines.next();
        self.operations.push(Operation {
            attributes: vec![rule.name.clone()],
            action: Action::Line(Line {
                mode: self.mode.clone(),
                text: first,
                body: lines.collect(),
                may_ask: rule.prompts,
                warning: None,
            }),
        });
        Ok(())
    }

    /// Lines in the blocks of members, member by member.
    fn elsewhere(
        &mut self,
        rule: &AttributeRule,
        block: &Template,
        value: &Value,
    ) -> Result<(), RenderError> {
        let cli = self.cli;
        let wanted = value.as_list().unwrap_or_default().to_vec();
        let lines = self
            .found
            .and_then(|found| found.lines.get(rule.name.as_str()));
        let current: &[(Value, String)] = lines.map_or(&[], Vec::as_slice);
        let shared_differs = rule.with.iter().any(|name| {
            let before = self.found.and_then(|found| found.attributes.get(name));
            self.merged.get(name) != before
        });
        let template = rule.lines.first().ok_or_else(|| self.error(&rule.name))?;
        let global = std::mem::take(&mut self.mode);
        let members = wanted.iter().chain(
            current
                .iter()
                .map(|(member, _)| member)
                .filter(|member| !wanted.contains(member)),
        );
        for member in members {
            let values = |name: &str| if name == "member" { Some(member) } else { None };
            let header = block
                .write(&values, cli)
                .ok_or_else(|| self.error(&rule.name))?;
            self.mode = vec![header];
            let before = current.iter().find(|(known, _)| known == member);
            let stays = wanted.contains(member);
            if before.is_some() && stays && !shared_differs {
                continue;
            }
            let changed = self.changed(rule);
            if let Some((_, line)) = before {
                self.push(&changed, no(Text::plain(line)), rule.prompts);
            }
            if stays {
                let text = self
                    .written(template)
                    .ok_or_else(|| self.error(&rule.name))?;
                self.push(&changed, text, rule.prompts);
            }
        }
        self.mode = global;
        Ok(())
    }

    /// The line that is the instance.
    fn line(&mut self, spellings: &[Template]) -> Result<(), RenderError> {
        let cli = self.cli;
        self.mode = self.mode_path()?;
        let mut values = self.merged.clone();
        values.retain(|name, value| {
            let rule = cli.attributes.get(name.as_str());
            !is_unset(value) && rule.and_then(|rule| rule.absent.as_ref()) != Some(value)
        });
        if let Some(found) = self.found.filter(|_| cli.instance.keep_unmanaged) {
            values.extend(found.kept.clone());
        }
        for (name, value) in &cli.instance.assume {
            if !values.contains_key(name) {
                values.insert(name.clone(), value.clone());
            }
        }
        let attributes = self.goal.names;
        if let Some(found) = self.found {
            // What `remove` names tells one line from another; with another value the device
            // would keep the old line beside the new one.
            let identity = cli.instance.remove.iter().flat_map(Template::attributes);
            let other = identity.into_iter().any(|name| {
                values.get(name).map(Value::unwrap_sensitive)
                    != found.attributes.get(name).map(Value::unwrap_sensitive)
            });
            if other || cli.instance.replace_first {
                self.remove_line(found, attributes)?;
            }
        }
        let template = spellings.first().ok_or_else(|| self.error("ensure"))?;
        let text = template.write(&|name| values.get(name), cli);
        let text = text.ok_or_else(|| {
            let missing = template
                .required()
                .into_iter()
                .find(|name| !values.contains_key(name));
            self.error(missing.unwrap_or("ensure"))
        })?;
        self.push(attributes, text, cli.instance.prompts);
        Ok(())
    }

    fn remove_line(&mut self, found: &Found, attributes: &[&str]) -> Result<(), RenderError> {
        let cli = self.cli;
        match cli.instance.remove.first() {
            Some(template) => {
                let text = template.write(&|name| found.attributes.get(name), cli);
                let text = text.ok_or_else(|| self.error("ensure"))?;
                self.push(attributes, text, cli.instance.prompts);
            }
            None => {
                let line = found.line.as_deref().unwrap_or_default();
                let text = self.hidden(line);
                self.push(attributes, no(text), cli.instance.prompts);
            }
        }
        Ok(())
    }

    /// The modes in which lines are sent.
    fn mode_path(&self) -> Result<Vec<Text>, RenderError> {
        let cli = self.cli;
        let template = match &cli.instance.kind {
            _ if cli.instance.mode.is_some() => cli.instance.mode.as_ref(),
            Kind::Singleton(_) => None,
            Kind::Row { enter, .. } => enter.as_ref(),
            Kind::Block(spellings)
            | Kind::Line {
                block: spellings, ..
            } => {
                let block = self.found.and_then(|found| found.block.as_ref());
                if let Some(block) = block {
                    return Ok(vec![Text::plain(block)]);
                }
                spellings.get(self.spelling)
            }
        };
        let Some(template) = template else {
            return Ok(Vec::new());
        };
        let text = template.write(&|name| self.merged.get(name), cli);
        Ok(vec![text.ok_or_else(|| self.error("ensure"))?])
    }

    fn written(&self, template: &Template) -> Option<Text> {
        template.write(&|name| self.merged.get(name), self.cli)
    }

    fn element(&self, rule: &AttributeRule, template: &Template, element: &Value) -> Option<Text> {
        let items = element.as_list().unwrap_or_default();
        let values = |name: &str| match name.parse::<usize>() {
            Ok(index) => items.get(index),
            Err(_) if name == rule.name => Some(element),
            Err(_) => self.merged.get(name),
        };
        template.write(&values, self.cli)
    }

    fn current_line(&self, rule: &AttributeRule) -> Option<&str> {
        let lines = self.found?.lines.get(rule.name.as_str())?;
        lines.first().map(|(_, line)| line.as_str())
    }

    /// The line that undoes an attribute's line, or the line of one element.
    fn no_form(&self, rule: &AttributeRule, element: Option<&Value>) -> Result<Text, RenderError> {
        let lines = self
            .found
            .and_then(|found| found.lines.get(rule.name.as_str()));
        let line = lines.and_then(|lines| match element {
            None => lines.first(),
            Some(element) => lines.iter().find(|(value, _)| value == element),
        });
        let shared = lines.is_some_and(|lines| {
            line.is_some_and(|(_, text)| {
                lines.iter().filter(|(_, other)| other == text).count() > 1
            })
        });
        let spelling = line
            .and_then(|(_, text)| {
                let text = without_no(text).unwrap_or(text);
                rule.lines
                    .iter()
                    .find(|template| template.read(text, self.cli).is_some())
            })
            .or(rule.lines.first());
        let text = match (&rule.no, line) {
            (NoForm::Text(template), _) => {
                return self.written(template).ok_or_else(|| self.error(&rule.name));
            }
            // A line with several elements goes on without one of them.
            (NoForm::Full, Some((_, text))) if !shared => self.hidden(text),
            (NoForm::Full, _) => {
                let template = spelling.ok_or_else(|| self.error(&rule.name))?;
                let text = match element {
                    Some(element) => self.element(rule, template, element),
                    None => self.written(template),
                };
                text.ok_or_else(|| self.error(&rule.name))?
            }
            (NoForm::Head, _) => {
                let template = spelling.ok_or_else(|| self.error(&rule.name))?;
                Text::plain(template.head())
            }
        };
        Ok(no(text))
    }

    /// A line of the device with the secrets in it marked.
    fn hidden(&self, line: &str) -> Text {
        let mut text = Text::plain(line);
        let Some(found) = self.found else {
            return text;
        };
        for (name, value) in found.attributes.iter().chain(self.goal.wanted) {
            let secret = self.cli.is_secret(name) || matches!(value, Value::Sensitive(_));
            if let Some(word) = self
                .cli
                .write(name, value)
                .filter(|word| secret && !word.is_empty())
            {
                text = text.hide(&word);
            }
        }
        text
    }

    fn enter(&mut self, attribute: &str) {
        self.operations.push(Operation {
            attributes: vec![attribute.to_owned().into()],
            action: Action::Line(Line {
                mode: self.mode.clone(),
                text: None,
                body: Vec::new(),
                may_ask: self.cli.instance.prompts,
                warning: None,
            }),
        });
    }

    fn push_rule(&mut self, rule: &AttributeRule, text: Text) {
        let warning = rule.warn.as_ref().filter(|_| self.found.is_some());
        let warning = warning.and_then(|template| self.written(template));
        self.push(&[&rule.name], text, rule.prompts);
        if let Some(Operation {
            action: Action::Line(line),
            ..
        }) = self.operations.last_mut()
        {
            line.warning = warning.map(|text| text.to_string());
        }
    }

    fn push(&mut self, attributes: &[&str], text: Text, may_ask: bool) {
        self.operations.push(Operation {
            attributes: attributes.iter().copied().map(Name::from).collect(),
            action: Action::Line(Line {
                mode: self.mode.clone(),
                text: Some(text),
                body: Vec::new(),
                may_ask,
                warning: None,
            }),
        });
    }

    fn error(&self, attribute: &str) -> RenderError {
        RenderError {
            attribute: attribute.to_owned(),
            message: format!("{} has no line for this value", self.cli.platform),
        }
    }
}

fn no(text: Text) -> Text {
    let mut line = Text::plain("no ");
    line.append(text);
    line
}
