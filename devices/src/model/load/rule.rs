//! One `[[rule]]` for several attributes.

use super::AttributeNames;
use super::model_keys::RuleKeys;
use crate::document::{At, Named};
use crate::map::IndexMap;
use crate::model::{Rule, RuleKind};
use crate::value::Value;

/// The rule with these keys.
pub(super) fn rule(keys: At<RuleKeys>, names: &AttributeNames<'_>) -> Option<Rule> {
    let At { value: keys, span } = keys;
    let kinds = [
        (RuleKind::Together, keys.together),
        (RuleKind::Exclusive, keys.exclusive),
        (RuleKind::Needs, keys.needs),
        (RuleKind::OneOf, keys.one_of),
        (RuleKind::AnyOf, keys.any_of),
        (RuleKind::Forbidden, keys.forbidden),
    ];
    let kinds = kinds.into_iter();
    let mut kinds = kinds.filter_map(|(kind, attributes)| Some((kind, attributes?)));
    let (Some((kind, attributes)), None) = (kinds.next(), kinds.next()) else {
        let message = "a rule requires one of `together`, `exclusive`, `needs`, `one_of`, `any_of` and `forbidden`";
        names.findings.error("rule", span, message);
        return None;
    };
    let conditions = |conditions: Named<Vec<Value>>| -> IndexMap<String, Vec<Value>> {
        let conditions = conditions.into_iter().map(|(name, values)| {
            let name = names.checked(name);
            (name, values)
        });
        conditions.collect()
    };
    Some(Rule {
        kind,
        attributes: names.all(attributes),
        when: conditions(keys.when),
        unless: conditions(keys.unless),
        doc: keys.doc,
    })
}
