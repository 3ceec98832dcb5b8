//! The effects of a resource on a device's configuration lines; see [`Effect`].

use std::borrow::Cow;

use super::CliType;
use super::block_path::BlockPath;
use super::render::{Goal, Rendering, location_of};
use super::rules::{CliAttributeRule, EquivalentValue, range_set};
use super::template::LineTemplate;
use crate::change::{ChangeKind, Desired};
use crate::driver::effect::{Effect, EffectSlot};
use crate::operation::Action;
use crate::secret::Text;
use crate::value::Value;

impl CliType {
    pub(super) fn all_touches(&self) -> Vec<EffectSlot> {
        let mut touches = Vec::new();
        for model in self.model.properties() {
            let Some((rule, what)) = self.setter(&model.name) else {
                continue;
            };
            let elsewhere = rule.member_block();
            touches.push(EffectSlot {
                location: elsewhere.map_or_else(|| self.mode_head(), LineTemplate::head),
                what,
                attribute: model.name.to_string(),
                within_type: elsewhere.is_some(),
                is_removal: false,
            });
        }
        if self.removes_block() {
            touches.push(EffectSlot {
                location: self.mode_head(),
                what: String::new(),
                attribute: "ensure".to_owned(),
                within_type: false,
                is_removal: true,
            });
        }
        touches
    }

    /// The constant words of the mode and of the line, if each instance is a line.
    pub(super) fn line_words(&self) -> Option<(String, String)> {
        let line = self.instance.kind.lines().first()?;
        Some((self.mode_head(), line.head()))
    }

    pub(super) fn settings_of(&self, desired: &Desired, attributes: &[&str]) -> Vec<Effect> {
        let mut settings = Vec::new();
        if attributes.contains(&"ensure") && desired.is_absent() && self.removes_block() {
            settings.extend(self.removal(desired));
        }
        for name in attributes {
            let Some((rule, what)) = self.setter(name) else {
                continue;
            };
            let value = desired.attributes.get(name);
            let Some(value) = value.filter(|value| self.is_managed(name, value)) else {
                continue;
            };
            if !self.has_complete_line(rule, desired, value) {
                continue;
            }
            // Lines that have the names are those of one instance.
            let values = |name: &str| desired.attributes.get(name);
            let written = LineTemplate::parse(&what);
            let written = written.ok().and_then(|line| line.write(&values, self));
            let Some(what) = written.map(|what| what.reveal()) else {
                continue;
            };
            // The value is relative to the device's list: `["add", "10"]`.
            let is_list = value.unwrap_sensitive().as_list().is_some();
            let relative = is_list && range_set(self.codecs.get(*name)).is_some();
            let is_removed = desired.is_absent() && *name != "ensure";
            if relative || is_removed {
                continue;
            }
            let sent = self.sent(rule, desired, name, value);
            for (location, sent) in sent {
                let alike = self.others(rule, name, value);
                let alike = alike.into_iter().filter_map(|value| {
                    let mut found = self.sent(rule, desired, name, &value).into_iter();
                    found
                        .find(|(other, _)| *other == location)
                        .map(|(_, sent)| sent)
                });
                settings.push(Effect {
                    alike: alike.collect(),
                    location,
                    what: what.clone(),
                    sent,
                    attribute: (*name).to_owned(),
                    is_removal: false,
                    is_unset: !self.is_printed(name, value),
                });
            }
        }
        settings
    }

    /// Whether an instance is a block that is removed with all of its lines.
    fn removes_block(&self) -> bool {
        let kind = &self.instance.kind;
        let path = kind.blocks().and_then(<[BlockPath]>::first);
        let header = path.and_then(|path| path.templates().last());
        let header = header.or(kind.enter());
        let remove = &self.instance.remove;
        let is_removed = |header: &LineTemplate| {
            let of_header = |line: &LineTemplate| {
                self.negation.positive(&line.text).as_deref() == Some(&*header.text)
            };
            remove.is_empty() || remove.iter().any(of_header)
        };
        self.model.is_ensurable()
            && !self.instance.is_permanent
            && !self.attributes.contains_key("ensure")
            && header.is_some_and(is_removed)
    }

    /// The removal of the block of a resource.
    fn removal(&self, desired: &Desired) -> Option<Effect> {
        let goal = Goal {
            kind: ChangeKind::Update,
            desired: &desired.attributes,
            names: &[],
        };
        let mode = Rendering::for_empty_device(self, goal).mode_path().ok()?;
        Some(Effect {
            location: location_of(&mode),
            what: String::new(),
            sent: vec![self.negation.negative(mode.last()?.clone())],
            alike: Vec::new(),
            attribute: "ensure".to_owned(),
            is_removal: true,
            is_unset: false,
        })
    }

    /// Whether a resource has all values of a shared line. Others are preserved when the line is sent.
    fn has_complete_line(&self, rule: &CliAttributeRule, desired: &Desired, value: &Value) -> bool {
        let is_elsewhere = rule.member_block().is_some();
        let mut with = rule.with.iter();
        is_elsewhere
            || !self.is_printed(&rule.name, value)
            || with.all(|name| desired.attributes.contains_key(name))
    }

    /// The rule of an attribute with separate lines, and the common words of these lines.
    fn setter(&self, name: &str) -> Option<(&CliAttributeRule, String)> {
        let rule = self.attributes.get(name)?;
        if !rule.is_applied() || rule.inside.is_some() || !rule.sub.is_empty() {
            return None;
        }
        // Lines of rows without a mode begin alike, and name the one instance that they are about.
        let is_modeless = self.instance.kind.is_row() && self.instance.kind.enter().is_none();
        if is_modeless && self.instance.mode.is_none() {
            return None;
        }
        let names = self.line_names();
        let what = match rule.words_of_text() {
            Some(words) => words.to_owned(),
            None => {
                // The first of several spellings is written.
                let templates = rule.lines.iter().take(1).chain(rule.set.values().flatten());
                let mut heads = templates.map(|template| {
                    let head = template.head_text(&names);
                    let positive = self.negation.positive(&head);
                    positive.map_or_else(|| head.clone(), Cow::into_owned)
                });
                let first = heads.next()?;
                heads.fold(first, |common, head| {
                    let pairs = common.split(' ').zip(head.split(' '));
                    let same = pairs.take_while(|(a, b)| a == b).map(|(a, _)| a);
                    same.collect::<Vec<_>>().join(" ")
                })
            }
        };
        (!what.is_empty()).then_some((rule, what))
    }

    /// The literal words of the mode of the instance's lines.
    fn mode_head(&self) -> String {
        let kind = &self.instance.kind;
        let path = self.instance.mode.as_ref().or(kind.paths().first());
        let head = path.map(BlockPath::head);
        let head = head.or_else(|| kind.enter().map(LineTemplate::head));
        head.unwrap_or_default()
    }

    /// The lines for a value of an attribute, by their mode.
    fn sent(
        &self,
        rule: &CliAttributeRule,
        desired: &Desired,
        name: &str,
        value: &Value,
    ) -> Vec<(String, Vec<Text>)> {
        let mut desired = desired.attributes.clone();
        desired.insert(name.to_owned(), value.clone());
        let goal = Goal {
            kind: ChangeKind::Update,
            desired: &desired,
            names: &[name],
        };
        let mut rendering = Rendering::for_empty_device(self, goal);
        if rendering.lines_of(rule, value).is_err() {
            // The line that removes a value can have words of the device's line.
            let is_removal = !self.is_printed(name, value);
            let location = is_removal.then(|| (rendering.location(), Vec::new()));
            return location.into_iter().collect();
        }
        let mut sent: Vec<(String, Vec<Text>)> = Vec::new();
        if rule.many && rule.member_block().is_none() {
            // An empty list is a value.
            sent.push((rendering.location(), Vec::new()));
        }
        for operation in rendering.into_operations() {
            let Action::Line(line) = operation.action else {
                continue;
            };
            let location = location_of(&line.mode);
            let texts = line.text.into_iter().chain(line.body);
            match sent.iter_mut().find(|(other, _)| *other == location) {
                Some((_, lines)) => lines.extend(texts),
                None => sent.push((location, texts.collect())),
            }
        }
        for (_, lines) in sent.iter_mut().filter(|_| rule.many) {
            lines.sort_by_cached_key(Text::reveal);
        }
        sent
    }

    /// The values of the device that satisfy a desired value.
    fn others(&self, rule: &CliAttributeRule, name: &str, value: &Value) -> Vec<Value> {
        let alike = self.named(&rule.equivalents, name, value);
        let values = alike.into_iter().flatten().filter_map(|alike| match alike {
            EquivalentValue::Value(value) => Some(value.clone()),
            EquivalentValue::Pattern(_) => None,
        });
        let by_itself = rule
            .absent
            .iter()
            .filter(|_| self.is_unset(name, value))
            .cloned();
        values.chain(by_itself).collect()
    }
}
