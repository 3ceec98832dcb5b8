//! The effects of a resource on the fields of its object; see [`Effect`]. Members that are objects
//! themselves are not included.

use super::definition::RestDefinition;
use super::lookups::Lookups;
use super::writer::RequestWriter;
use crate::change::{Change, ChangeKind, Desired};
use crate::driver::effect::{Effect, EffectSlot};
use crate::driver::json_body::Body;
use crate::model::TypeModel;
use crate::read::State;
use crate::value::Value;

/// Types share settings if their objects are in the same collection.
pub(crate) fn touches(definition: &RestDefinition, model: &TypeModel) -> Vec<EffectSlot> {
    let properties = model
        .properties()
        .filter(|property| property.name != "ensure");
    properties
        .map(|property| EffectSlot {
            location: match &definition.instance.document {
                Some(_) => definition.instance.object.to_string(),
                None => definition.instance.collection.to_string(),
            },
            what: String::new(),
            attribute: property.name.to_string(),
            within_type: false,
            is_removal: false,
        })
        .collect()
}

pub(crate) fn settings(
    definition: &RestDefinition,
    desired: &Desired,
    attributes: &[&str],
) -> Vec<Effect> {
    let state = State::default();
    let mut settings = Vec::new();
    for name in attributes {
        if desired.is_absent() || !desired.attributes.contains_key(name) {
            continue;
        }
        let change = Change {
            kind: ChangeKind::Update,
            desired: std::sync::Arc::new(desired.clone()),
            current: None,
            attributes: vec![(*name).into()],
        };
        let writer = RequestWriter {
            definition,
            model: &desired.model,
            change: &change,
            lookups: Lookups::new(definition, &state).into(),
            state: &state,
        };
        let Ok(mut location) = writer.fill(&definition.instance.object, None) else {
            continue;
        };
        // Objects in the body of one parent have one path.
        let levels = definition.instance.parent_levels;
        for key in definition.instance.key.iter().filter(|key| key.up < levels) {
            let value = desired.attributes.get(&key.attribute);
            let value = value.and_then(Value::scalar_text).unwrap_or_default();
            location.push_str(&format!(" {value}"));
        }
        let mut body = Body::object();
        writer.put_fields(&mut body, &|chosen| chosen == *name);
        for (what, sent) in body.fields() {
            settings.push(Effect {
                location: location.clone(),
                what,
                sent: vec![sent],
                alike: Vec::new(),
                attribute: (*name).to_owned(),
                is_removal: false,
                is_unset: false,
            });
        }
    }
    settings
}
