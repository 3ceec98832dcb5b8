//! Loads one `[[rule]]` for several attributes.

use super::{check_attribute_exists, value_of};
use crate::document::{Item, Table};
use crate::map::IndexMap;
use crate::model::{AttributeModel, Rule, RuleKind};
use crate::value::Name;

pub(crate) fn read_rule(
    item: &Item<'_>,
    attributes: &IndexMap<Name, AttributeModel>,
) -> Option<Rule> {
    let table = item.table()?;
    let mut found = None;
    for (key, kind) in [
        ("together", RuleKind::Together),
        ("exclusive", RuleKind::Exclusive),
        ("needs", RuleKind::Needs),
        ("one_of", RuleKind::OneOf),
        ("any_of", RuleKind::AnyOf),
        ("forbidden", RuleKind::Forbidden),
    ] {
        if let Some(item) = table.get(key) {
            let names = item.strings().unwrap_or_default();
            for name in &names {
                check_attribute_exists(&item, name, attributes);
            }
            if found.replace((kind, names)).is_some() {
                item.error(
                    "rule",
                    "a rule can have only one of `together`, `exclusive`, `needs`, `one_of`, `any_of` and `forbidden`",
                );
            }
        }
    }
    let conditions = |key: &str| {
        let mut conditions = IndexMap::default();
        for (name, _, item) in table.table(key).iter().flat_map(Table::entries) {
            check_attribute_exists(&item, &name, attributes);
            let values = if item.is_list() {
                item.list().iter().flatten().filter_map(value_of).collect()
            } else {
                value_of(&item).into_iter().collect()
            };
            conditions.insert(name, values);
        }
        conditions
    };
    let when = conditions("when");
    let unless = conditions("unless");
    let doc = table.string("doc").unwrap_or_default();
    table.finish();
    let Some((kind, attributes)) = found else {
        item.error(
            "rule",
            "a rule requires one of `together`, `exclusive`, `needs`, `one_of`, `any_of` and `forbidden`",
        );
        return None;
    };
    Some(Rule {
        kind,
        attributes,
        when,
        unless,
        doc,
    })
}
