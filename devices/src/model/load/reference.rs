//! The key `refers` of an attribute.

use super::model_keys::ReferenceForm;
use crate::document::{At, Findings};
use crate::model::reference::ReferencePart;
use crate::model::{Reference, ValueSpec};

/// A reference of an attribute with these values: the name of a type, or a table.
pub(super) fn reference(
    form: ReferenceForm,
    (attribute, values): (&str, &[ValueSpec]),
    findings: &Findings,
) -> Option<Reference> {
    let At { value: keys, span } = match form {
        ReferenceForm::Keys(keys) => *keys,
        ReferenceForm::Type(target) => {
            return Some(Reference {
                attribute: attribute.into(),
                target: target.into(),
                part: ReferencePart::Complete,
                name: None,
                others: false,
            });
        }
    };
    let error = |span, message: String| findings.error("reference", span, message);
    let part = match (keys.field, keys.numbers, keys.pattern) {
        (None, false, None) => ReferencePart::Complete,
        (None, true, None) => ReferencePart::Numbers,
        (Some(At { value: field, span }), false, None) => {
            let has_field = |spec: &ValueSpec| match spec {
                ValueSpec::Struct { fields, .. } => fields.contains_key(&field),
                _ => false,
            };
            if !values.iter().any(has_field) {
                error(span, format!("the values have no field `{field}`"));
            }
            ReferencePart::Field(field)
        }
        (None, false, Some(At { value, span })) => {
            if value.group_count() == 0 {
                error(span, "the pattern has no group for the name".to_owned());
            }
            ReferencePart::Match(value)
        }
        _ => {
            let message = "a reference has at most one of `field`, `numbers` and `pattern`";
            error(span, message.to_owned());
            return None;
        }
    };
    Some(Reference {
        attribute: attribute.into(),
        target: keys.target.into(),
        part,
        name: keys.name,
        others: keys.others,
    })
}
