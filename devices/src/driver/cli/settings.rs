//! What a resource sets, in the words of its lines; see [`Setting`].

use super::render::{Goal, Rendering};
use super::rules::{Alike, AttributeRule, Kind, Place, range_set};
use super::template::Template;
use super::{CliType, is_unset};
use crate::change::{ChangeKind, Wanted};
use crate::driver::setting::{Setting, Touch};
use crate::operation::Action;
use crate::secret::Text;
use crate::value::Value;

impl CliType {
    pub(super) fn all_touches(&self) -> Vec<Touch> {
        let mut touches = Vec::new();
        for model in self.model.properties() {
            let Some((rule, what)) = self.setter(&model.name) else {
                continue;
            };
            let elsewhere = match &rule.place {
                Place::Elsewhere(block) => Some(block),
                _ => None,
            };
            touches.push(Touch {
                place: elsewhere
                    .or(self.mode_template())
                    .map(Template::head)
                    .unwrap_or_default(),
                what,
                attribute: model.name.to_string(),
                within_type: elsewhere.is_some(),
            });
        }
        touches
    }

    pub(super) fn settings_of(&self, wanted: &Wanted, attributes: &[&str]) -> Vec<Setting> {
        let mut settings = Vec::new();
        for name in attributes {
            let Some((rule, what)) = self.setter(name) else {
                continue;
            };
            let value = wanted.attributes.get(name);
            let Some(value) = value.filter(|value| self.is_managed(name, value)) else {
                continue;
            };
            // What depends on the device's list, `["add", "10"]`.
            let relative = range_set(self.codecs.get(*name)).is_some() && value.as_list().is_some();
            let gone = wanted.absent() && *name != "ensure";
            if relative || gone {
                continue;
            }
            let sent = self.sent(rule, wanted, name, value);
            for (place, sent) in sent {
                let alike = self.others(rule, name, value);
                let alike = alike.into_iter().filter_map(|value| {
                    let mut found = self.sent(rule, wanted, name, &value).into_iter();
                    found
                        .find(|(other, _)| *other == place)
                        .map(|(_, sent)| sent)
                });
                settings.push(Setting {
                    alike: alike.collect(),
                    place,
                    what: what.clone(),
                    sent,
                    attribute: (*name).to_owned(),
                });
            }
        }
        settings
    }

    /// The rule by which an attribute is set in lines of its own, and the words that these have in
    /// common. What is part of a line with other attributes is kept by whoever sends the line.
    fn setter(&self, name: &str) -> Option<(&AttributeRule, String)> {
        let rule = self.attributes.get(name)?;
        let whole = matches!(rule.place, Place::Elsewhere(_)) || rule.with.is_empty();
        if !rule.is_applied() || rule.inside.is_some() || !whole || !rule.sub.is_empty() {
            return None;
        }
        let what = match &rule.place {
            Place::Instance | Place::NumberOf(_) | Place::Nowhere => return None,
            Place::Opaque { words, .. } => words.clone(),
            _ => {
                // Of several spellings the first is written.
                let templates = rule.lines.iter().take(1).chain(rule.set.values().flatten());
                let mut heads = templates.map(|template| {
                    let head = template.head();
                    head.strip_prefix("no ").map_or(head.clone(), str::to_owned)
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

    fn mode_template(&self) -> Option<&Template> {
        let kind = match &self.instance.kind {
            Kind::Singleton(_) => None,
            Kind::Row { enter, .. } => enter.as_ref(),
            Kind::Block(spellings)
            | Kind::Line {
                block: spellings, ..
            } => spellings.first(),
        };
        self.instance.mode.as_ref().or(kind)
    }

    /// The lines for a value of an attribute, by their mode.
    fn sent(
        &self,
        rule: &AttributeRule,
        wanted: &Wanted,
        name: &str,
        value: &Value,
    ) -> Vec<(String, Vec<Text>)> {
        let mut wanted = wanted.attributes.clone();
        wanted.insert(name.to_owned(), value.clone());
        let goal = Goal {
            kind: ChangeKind::Update,
            wanted: &wanted,
            names: &[name],
        };
        let mut rendering = Rendering::of_nothing(self, goal);
        if rendering.lines_of(rule, value).is_err() {
            return Vec::new();
        }
        let mut sent: Vec<(String, Vec<Text>)> = Vec::new();
        if rule.many && !matches!(rule.place, Place::Elsewhere(_)) {
            // A list that is empty is a value, too.
            sent.push((rendering.place(), Vec::new()));
        }
        for operation in rendering.into_operations() {
            let Action::Line(line) = operation.action else {
                continue;
            };
            let place = line.mode.last().map(Text::reveal).unwrap_or_default();
            let texts = line.text.into_iter().chain(line.body);
            match sent.iter_mut().find(|(other, _)| *other == place) {
                Some((_, lines)) => lines.extend(texts),
                None => sent.push((place, texts.collect())),
            }
        }
        for (_, lines) in sent.iter_mut().filter(|_| rule.many) {
            lines.sort_by_cached_key(Text::reveal);
        }
        sent
    }

    /// The values that the device may have where one is wanted.
    fn others(&self, rule: &AttributeRule, name: &str, value: &Value) -> Vec<Value> {
        let alike = self.named(&rule.alike, name, value);
        let values = alike.into_iter().flatten().filter_map(|alike| match alike {
            Alike::Value(value) => Some(value.clone()),
            Alike::Pattern(_) => None,
        });
        let by_itself = rule.absent.iter().filter(|_| is_unset(value)).cloned();
        values.chain(by_itself).collect()
    }
}
