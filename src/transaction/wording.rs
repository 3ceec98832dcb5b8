//! Events in words for people, from their values. Reports have Puppet's message.

use switchtender_devices::value::Value;

use super::event::{Event, EventStatus};
use super::property_event::REDACTED;

impl Event {
    /// What happened, or would happen. Audits have no text.
    pub(crate) fn text(&self) -> Option<String> {
        match (self.status, &self.property) {
            (EventStatus::Audit, _) => None,
            (EventStatus::Noop, Some(property)) => Some(self.planned_text(property)),
            (EventStatus::Success, _) => self.done_text().or_else(|| self.message_text()),
            _ => self.message_text(),
        }
    }

    /// The message, which begins with the property.
    fn message_text(&self) -> Option<String> {
        let message = self.message.as_ref()?;
        Some(match &self.property {
            Some(property) if !message.starts_with(property.as_str()) => {
                format!("{property}: {message}")
            }
            _ => message.clone(),
        })
    }

    /// The old and the new value in the form of messages; empty without one.
    pub(crate) fn value_texts(&self) -> [String; 2] {
        [&self.previous_value, &self.desired_value].map(value_text)
    }

    /// What was created, removed or set, in the words of a plan. `None`: Puppet's message says the same.
    pub(super) fn done_text(&self) -> Option<String> {
        let property = self.property.as_deref()?;
        let (before, after) = (&self.previous_value, &self.desired_value);
        let text = match (is_none(before), is_none(after)) {
            (true, false) if property == "ensure" && is_word(after, "present") => {
                "created".to_owned()
            }
            (_, true) if property == "ensure" => "removed".to_owned(),
            (true, false) => format!("{property} set to {}", value_text(after)),
            (false, true) => format!("{property} removed: {}", value_text(before)),
            _ => return None,
        };
        let corrective = if self.corrective_change {
            " (corrective)"
        } else {
            ""
        };
        Some(format!("{text}{}{corrective}", self.recorded_note()))
    }

    /// What a run without noop would do.
    fn planned_text(&self, property: &str) -> String {
        let (before, after) = (&self.previous_value, &self.desired_value);
        let (from, to) = (value_text(before), value_text(after));
        let text = match (is_none(before), is_none(after)) {
            (true, false) if property == "ensure" && is_word(after, "present") => {
                "will be created".to_owned()
            }
            (_, true) if property == "ensure" => "will be removed".to_owned(),
            (true, _) => format!("{property} will be set to {to}"),
            (false, true) => format!("{property} will be removed: {from}"),
            (false, false) => format!("{property} will change from {from} to {to}"),
        };
        let corrective = if self.corrective_change {
            " (changed on the device since the last run)"
        } else {
            ""
        };
        format!("{text}{}{corrective}", self.recorded_note())
    }

    /// The value that the last run recorded, if an audit compares with it.
    fn recorded_note(&self) -> String {
        match &self.historical_value {
            Some(old)
                if self.audited
                    && !matches!(old, Value::Undef | Value::Bool(false))
                    && self.historical_value != self.previous_value =>
            {
                let old = value_text(&self.historical_value);
                format!(" (previously recorded value was {old})")
            }
            _ => String::new(),
        }
    }

    /// What the device has and what it should have: `name is 'guests', should be 'visitors'`.
    pub(crate) fn difference(&self) -> Option<String> {
        let name = self.property.as_deref().unwrap_or(&self.name);
        let message = self.message.as_ref()?;
        let values = [&self.previous_value, &self.desired_value].map(short_text);
        Some(match values {
            // Secrets are redacted in both values.
            [Some(is), Some(should)] if is != should => {
                format!("{name} is {is}, should be {should}")
            }
            [Some(_), Some(_)] => format!("{name} differs"),
            [None, Some(should)] => format!("{name} is not set, should be {should}"),
            _ => self.text().unwrap_or_else(|| message.clone()),
        })
    }
}

fn is_word(value: &Option<Value>, word: &str) -> bool {
    value.as_ref().and_then(Value::as_str) == Some(word)
}

/// Whether there is no value, or a property is absent.
fn is_none(value: &Option<Value>) -> bool {
    matches!(value, None | Some(Value::Undef | Value::Absent)) || is_word(value, "absent")
}

/// A value in the form of Puppet's messages.
fn value_text(value: &Option<Value>) -> String {
    match value {
        Some(_) if is_word(value, REDACTED) => REDACTED.to_owned(),
        Some(value) => value.display(),
        None => String::new(),
    }
}

/// A value in one line; `None` for no value.
fn short_text(value: &Option<Value>) -> Option<String> {
    match value.as_ref()? {
        Value::Undef => None,
        Value::Absent => Some("absent".to_owned()),
        Value::String(word) | Value::Symbol(word) if word == "absent" || word == "present" => {
            Some(word.to_string())
        }
        Value::String(text) | Value::Symbol(text) => Some(format!("'{text}'")),
        Value::List(items) => {
            let items = items
                .iter()
                .filter_map(|item| short_text(&Some(item.clone())));
            Some(format!("[{}]", items.collect::<Vec<_>>().join(", ")))
        }
        other => Some(crate::catalog::rich_data::write_plain(other).to_string()),
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    fn event(property: &str, before: Value, after: Value) -> Event {
        Event {
            name: format!("{property}_changed"),
            property: Some(property.into()),
            status: EventStatus::Noop,
            previous_value: Some(before),
            desired_value: Some(after),
            message: Some("current_value x, should be y (noop)".to_owned()),
            corrective_change: false,
            time: Timestamp::UNIX_EPOCH,
            historical_value: None,
            audited: false,
            redacted: None,
            invalidates_refreshes: false,
        }
    }

    #[test]
    fn planned_change_is_in_the_future_tense() {
        let cases = [
            ("ensure", Value::Absent, "present".into(), "will be created"),
            (
                "ensure",
                "present".into(),
                "absent".into(),
                "will be removed",
            ),
            (
                "ensure",
                "absent".into(),
                "running".into(),
                "ensure will be set to 'running'",
            ),
            (
                "mtu",
                Value::Integer(1500),
                Value::Integer(9000),
                "mtu will change from 1500 to 9000",
            ),
            ("name", Value::Absent, "a".into(), "name will be set to 'a'"),
            (
                "name",
                "a".into(),
                Value::Absent,
                "name will be removed: 'a'",
            ),
            (
                "key",
                REDACTED.into(),
                REDACTED.into(),
                "key will change from [redacted] to [redacted]",
            ),
        ];
        for (property, before, after, expected) in cases {
            let text = event(property, before, after).text();
            assert_eq!(text.as_deref(), Some(expected));
        }
    }

    #[test]
    fn change_has_the_words_of_its_plan() {
        let cases = [
            ("ensure", Value::Absent, "present".into(), "created"),
            ("ensure", "present".into(), "absent".into(), "removed"),
            (
                "ensure",
                "absent".into(),
                "running".into(),
                "ensure set to 'running'",
            ),
            (
                "mtu",
                Value::Integer(1500),
                Value::Integer(9000),
                "mtu: message of Puppet",
            ),
            ("name", Value::Absent, "a".into(), "name set to 'a'"),
            ("name", "a".into(), Value::Absent, "name removed: 'a'"),
        ];
        for (property, before, after, expected) in cases {
            let done = Event {
                status: EventStatus::Success,
                message: Some("message of Puppet".to_owned()),
                ..event(property, before, after)
            };
            assert_eq!(done.text().as_deref(), Some(expected));
        }
        let corrective = Event {
            status: EventStatus::Success,
            corrective_change: true,
            ..event("name", "a".into(), Value::Absent)
        };
        let expected = "name removed: 'a' (corrective)";
        assert_eq!(corrective.text().as_deref(), Some(expected));
    }

    #[test]
    fn event_is_read_as_it_was_written() {
        let written = event("mtu", Value::Integer(1500), Value::List(vec!["a".into()]));
        let json = serde_json::to_string(&written).unwrap();
        assert_eq!(serde_json::from_str::<Event>(&json).unwrap(), written);
    }
}
