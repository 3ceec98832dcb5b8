//! Resources of every run, independent of the catalog (`docs/reference/transaction.md`, section 2, step 8).

use switchtender_devices::value::{Attributes, Value};

use super::Typing;
use super::conversion::convert_generated;
use crate::catalog::resources::Resources;
use crate::catalog::types::{self, NewResource};

/// Title, period and repetitions of the default schedules.
pub(super) const SCHEDULES: [(&str, &str, i64); 6] = [
    ("puppet", "hourly", 2),
    ("hourly", "hourly", 1),
    ("daily", "daily", 1),
    ("weekly", "weekly", 1),
    ("monthly", "monthly", 1),
    ("never", "never", 1),
];

/// Adds the default schedules, if requested, and the file bucket (step 8).
pub(super) fn add_defaults(resources: &mut Resources, typing: &Typing) {
    let mut defaults = Vec::new();
    if typing.default_schedules {
        for (title, period, repeat) in SCHEDULES {
            let parameters = [
                ("period".to_owned(), Value::from(period)),
                ("repeat".to_owned(), repeat.into()),
            ];
            defaults.push(NewResource {
                type_name: "schedule".into(),
                title: title.to_owned(),
                parameters: parameters.into_iter().collect(),
            });
        }
    }
    defaults.push(NewResource {
        type_name: "filebucket".into(),
        title: "puppet".to_owned(),
        parameters: Attributes::default(),
    });
    for new in defaults {
        let Some(ty) = typing
            .types
            .find(&new.type_name)
            .or_else(|| types::built_in(&new.type_name))
        else {
            continue;
        };
        let node = convert_generated(&new, ty, typing, resources).expect("the defaults are valid");
        if resources.find(&node.reference).is_none() {
            let id = resources
                .add(node)
                .unwrap_or_else(|_| unreachable!("the name is free and there is no alias"));
            resources.nodes[id.index()].is_default = true;
        }
    }
}
