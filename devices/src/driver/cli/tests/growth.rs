//! The work of changes and exports grows with the number of instances, not with its square.

use std::sync::Arc;

use crate::change::{Change, Desired};
use crate::driver::{Driver, Facts, NoSecretHistory, OldSecrets, Registry, work_count};
use crate::read::{Reads, State};
use crate::value::{Attributes, Value};

fn state(registry: &Registry, read: &str, text: String) -> (Driver, State) {
    let platform = registry.platform("cisco_ios").unwrap();
    let reads = Reads::from_iter([(read.to_owned(), text)]);
    let state = platform.parse(&reads).unwrap();
    (Driver::new(platform, &Facts::default()), state)
}

/// The work of renaming VLANs, of its undo, and of the difference.
fn rename_vlans(count: usize) -> usize {
    let registry = Registry::shipped();
    let mut table = "VLAN Name                             Status    Ports\n\
                     ---- -------------------------------- --------- -------------------------------\n"
        .to_owned();
    for number in 0..count {
        table += &format!("{:<4} {:<32} active\n", number + 2, format!("old{number}"));
    }
    let (driver, before) = state(&registry, "vlan_brief", table);
    let model = registry.model("network_vlan").unwrap();
    let mut after = before.clone();
    let mut changes = Vec::new();
    work_count::of(|| {
        for number in 0..count {
            let supplied: Attributes = [
                ("id", Value::from((number + 2).to_string().as_str())),
                ("ensure", "present".into()),
                ("vlan_name", Value::from(format!("new{number}").as_str())),
            ]
            .into_iter()
            .collect();
            let desired = Desired {
                reference: "Network_vlan[x]".into(),
                model: Arc::clone(model),
                attributes: model.resolve("", &supplied).unwrap(),
            };
            let current = driver.instance(&desired, &after).unwrap();
            assert!(current.is_some());
            let differs = driver.differs(&desired, current.as_ref(), &NoSecretHistory);
            let change = Change::new(Arc::new(desired), current, differs);
            let operations = driver.render(&change, &after).unwrap();
            driver.predict(model, &mut after, &operations);
            changes.push(change);
        }
        let difference = driver.config_diff(&before, &after);
        assert_eq!(difference.matches("\n+").count(), count, "{difference}");
        for change in changes.iter().rev() {
            let undo = driver.undo(change, &[], OldSecrets::Unknown, &mut after);
            assert!(!undo.operations.is_empty());
        }
        assert_eq!(driver.content_diff(&before, &after), "");
    })
}

/// The work of leaving out interfaces at their defaults.
fn find_defaults(count: usize) -> usize {
    let registry = Registry::shipped();
    let blocks = (0..count).map(|number| format!("interface Vlan{number}\n!\n"));
    let text = format!("version 15.2\n!\n{}end\n", blocks.collect::<String>());
    let (driver, state) = state(&registry, "config", text);
    let model = registry.model("ios_interface").unwrap();
    let instances = driver.instances(model, &state).unwrap();
    assert_eq!(instances.len(), count);
    work_count::of(|| {
        let found = driver.are_at_defaults(model, &instances, &state);
        assert_eq!(found.len(), count);
    })
}

#[test]
fn work_of_twice_the_instances_is_twice_the_work() {
    for (name, work) in [
        ("changes and their undo", rename_vlans as fn(usize) -> usize),
        ("instances at their defaults", find_defaults),
    ] {
        let [once, twice] = [100, 200].map(work);
        assert!(
            once >= 100 && twice < once * 5 / 2,
            "{name}: {once}, {twice}"
        );
    }
}
