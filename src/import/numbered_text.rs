//! Texts with the number of their resource become one text: `desk 7` of port 7 is `desk {{ n }}`.

use std::collections::{HashMap, HashSet};

use switchtender_devices::map::IndexMap;
use switchtender_devices::value::Value;

use super::parts::{PartValue, Parts, ResourcePart, Subject};
use crate::desired_state::declared::DeclaredValue;
use crate::desired_state::literal;

/// The number of resources that must have the text: fewer can have it by chance.
const LEAST_USES: usize = 3;

/// The expression for the number of a title.
const NUMBER: &str = "{{ n }}";

/// A text with the expression, of an attribute of resources whose titles differ only in their last numbers.
#[derive(Clone, PartialEq, Eq, Hash)]
struct NumberedText {
    group: String,
    prefix: String,
    part: ResourcePart,
    template: String,
}

/// Replaces the texts of all devices.
pub(super) fn replace(devices: &mut [IndexMap<Subject, Parts>]) {
    let mut uses: HashMap<NumberedText, HashSet<(usize, String)>> = HashMap::new();
    for (index, subjects) in devices.iter().enumerate() {
        for (subject, parts) in subjects {
            for (part, value) in parts {
                let Some((number, texts)) = numbered_texts(subject, part, value) else {
                    continue;
                };
                for text in texts {
                    let found = uses.entry(text).or_default();
                    found.insert((index, number.to_owned()));
                }
            }
        }
    }
    uses.retain(|_, found| {
        let numbers: HashSet<&str> = found.iter().map(|(_, number)| number.as_str()).collect();
        numbers.len() >= LEAST_USES
    });
    for subjects in devices {
        for (subject, parts) in subjects {
            for (part, value) in parts {
                let Some((_, texts)) = numbered_texts(subject, part, value) else {
                    continue;
                };
                let used = texts.into_iter().filter(|text| uses.contains_key(text));
                if let Some(best) = used.max_by_key(|text| uses[text].len()) {
                    *value = PartValue::Set(DeclaredValue::Template(best.template));
                }
            }
        }
    }
}

/// The number of a title, and the forms of a text in which one occurrence of it is the expression.
fn numbered_texts<'a>(
    subject: &'a Subject,
    part: &ResourcePart,
    value: &PartValue,
) -> Option<(&'a str, Vec<NumberedText>)> {
    let PartValue::Set(DeclaredValue::Value(Value::String(text))) = value else {
        return None;
    };
    let is_digit = |c: char| c.is_ascii_digit();
    let end = subject.title.rfind(is_digit)? + 1;
    let prefix = subject.title[..end].trim_end_matches(is_digit);
    let number = &subject.title[prefix.len()..end];
    // A text with braces is no template, and a number alone is no text.
    if literal(text) != text.as_str() || text.trim() == number {
        return None;
    }
    let texts = text.match_indices(number).filter_map(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + number.len()..]);
        let is_apart = !before.ends_with(is_digit) && !after.starts_with(is_digit);
        is_apart.then(|| NumberedText {
            group: subject.group.clone(),
            prefix: prefix.to_owned(),
            part: part.clone(),
            template: format!("{before}{NUMBER}{after}"),
        })
    });
    Some((number, texts.collect()))
}

#[cfg(test)]
mod tests {
    use switchtender_devices::names::TypeName;
    use switchtender_devices::value::Name;

    use super::*;

    fn device(texts: &[(&str, &str)]) -> IndexMap<Subject, Parts> {
        let part = ResourcePart::attribute(&TypeName::from("port"), &Name::from("description"));
        let subjects = texts.iter().map(|(title, text)| {
            let subject = Subject {
                group: "port".to_owned(),
                title: (*title).to_owned(),
            };
            let value = PartValue::Set(DeclaredValue::Value(Value::string(*text)));
            (subject, Parts::from_iter([(part.clone(), value)]))
        });
        subjects.collect()
    }

    #[test]
    fn texts_with_the_number_of_their_title_are_one_text() {
        let mut devices = [
            device(&[
                ("g1/0/1", "desk 1 of room 1"),
                ("g1/0/2", "desk 2 of room 1"),
                ("g1/0/3", "desk 3 of room 1"),
                ("g1/0/4", "printer 4"),
                ("g1/0/5", "desk 15"),
                ("g1/0/6", "6"),
            ]),
            device(&[
                ("g1/0/1", "desk 1 of room 1"),
                ("g2/0/4", "desk 4 of room 1"),
            ]),
        ];
        replace(&mut devices);
        let texts = devices.iter().flat_map(IndexMap::values).flatten();
        let texts: Vec<String> = texts.map(|(_, value)| value.key()).collect();
        let is_template: Vec<bool> = texts.iter().map(|text| text.contains(NUMBER)).collect();
        assert_eq!(
            is_template,
            [true, true, true, false, false, false, true, false],
            "{texts:?}"
        );
        assert!(texts[0].contains("desk {{ n }} of room 1"), "{texts:?}");
    }
}
