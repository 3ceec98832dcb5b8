//! The undo of every change of the self-tests gives the configuration before, or the same values, or
//! names what it does not restore. The figures are printed.

use std::collections::{BTreeMap, HashSet};
use std::io::Write as _;
use std::sync::Arc;

use super::{SelfTest, change_for, initial_state};
use crate::change::Desired;
use crate::driver::type_driver::TypeDriver;
use crate::driver::{Driver, NoSecretHistory, OldSecrets, Platform, Registry, Undo};
use crate::map::IndexMap;
use crate::read::indent::Node;
use crate::read::{CONFIG, State};

/// A change and its undo.
struct UndoneChange {
    undo: Undo,
    /// What differs from the configuration before.
    difference: String,
    has_same_values: bool,
    /// Lines that the change left as they were, and that the undo removes.
    removed_others: Vec<String>,
}

/// The values of all instances of the type, in any order. A value that nothing sets is one that is
/// not printed.
fn values(driver: &Driver, definition: &TypeDriver, state: &State) -> Vec<String> {
    let instances = driver.instances(&definition.model, state).unwrap();
    let mut texts: Vec<String> = instances
        .into_iter()
        .map(|instance| {
            let mut pairs: Vec<_> = instance.attributes.into_iter().collect();
            let model = &definition.model;
            pairs.retain(|(name, value)| *value != false.into() && !model.is_unset(name, value));
            pairs.sort_by(|(a, _), (b, _)| a.cmp(b));
            format!("{pairs:?}")
        })
        .collect();
    texts.sort();
    texts
}

/// `None`: the test changes nothing. `neighbors`: lines of other types, which the device has, too.
fn undone(
    platform: &Arc<Platform>,
    definition: &TypeDriver,
    test: &SelfTest,
    secrets: OldSecrets,
    neighbors: &[Node],
) -> Option<UndoneChange> {
    let driver = Driver::new(platform, &test.facts);
    let model = &definition.model;
    let want = test.want.as_ref().filter(|_| test.error.is_none())?;
    let attributes = model.resolve("", want).ok()?;
    let desired = Desired {
        reference: model.name.as_str().into(),
        model: Arc::clone(model),
        attributes: driver.canonicalize(model, attributes).ok()?,
    };
    let mut before = initial_state(&driver, definition, test).unwrap();
    if let Some(tree) = before.tree_mut(CONFIG) {
        let own: HashSet<String> = tree.nodes.iter().map(|node| node.text.clone()).collect();
        let implementation = driver.implementation(model).ok()?;
        let is_read = |node: &Node| {
            let mut inner = node.children.nodes.iter();
            implementation.reads_line(CONFIG, &[node])
                || inner.any(|inner| implementation.reads_line(CONFIG, &[node, inner]))
        };
        let others = neighbors.iter();
        let others = others.filter(|node| !own.contains(&node.text) && !is_read(node));
        tree.nodes.extend(others.cloned());
    }
    let change = change_for(&driver, &desired, &before, &NoSecretHistory).ok()??;
    let displaced = driver.displaced(&change, &before);
    let mut state = before.clone();
    let operations = driver.render(&change, &before).ok()?;
    driver.predict(model, &mut state, &operations);
    let gone = driver.changed_lines(&before, &state).removed;
    let undo = driver.undo(&change, &displaced, secrets, &mut state);
    let values = [&before, &state].map(|state| values(&driver, definition, state));
    let mut removed_others = driver.changed_lines(&before, &state).removed;
    removed_others.retain(|line| !gone.contains(line));
    Some(UndoneChange {
        undo,
        removed_others,
        difference: driver.content_diff(&before, &state),
        has_same_values: values[0] == values[1],
    })
}

#[test]
fn undo_restores_the_configuration_or_names_the_rest() {
    for secrets in [OldSecrets::Used, OldSecrets::Unknown] {
        check_all(secrets);
    }
}

/// Undoes the changes of all self-tests.
fn check_all(secrets: OldSecrets) {
    let registry = Registry::shipped();
    let (mut equal, mut alike, mut named, mut others) = (0, 0, 0, BTreeMap::new());
    for platform in registry.platforms() {
        for definition in platform.type_drivers() {
            for test in definition.tests.iter() {
                let Some(undone) = undone(platform, definition, test, secrets, &[]) else {
                    continue;
                };
                let name = format!("{}/{}: {}", platform.name, definition.model.name, test.name);
                let is_listed = LEFT.contains(&name.as_str());
                assert!(
                    is_listed || undone.removed_others.is_empty(),
                    "{name}: {:?}",
                    undone.removed_others
                );
                match undone.undo.not_restored.is_empty() {
                    false => named += 1,
                    true if !undone.has_same_values => {
                        others.insert(name, undone.difference);
                    }
                    true if undone.difference.is_empty() => equal += 1,
                    true => alike += 1,
                }
            }
        }
    }
    let _ = writeln!(
        std::io::stderr(),
        "undo of the changes of self-tests, secrets {secrets:?}: {equal} with the same text, {alike} with the same values, \
         {named} with a reason, {} with a difference",
        others.len()
    );
    let names: Vec<&str> = others.keys().map(String::as_str).collect();
    assert_eq!(names, LEFT, "{others:#?}");
    assert!(equal + alike > 250, "{equal} {alike}");
}

/// A device with the lines of all other types keeps them.
#[test]
fn undo_keeps_the_lines_of_other_types() {
    let registry = Registry::shipped();
    let mut count = 0;
    let mut problems = Vec::new();
    for platform in registry.platforms() {
        let mut lines: IndexMap<String, Node> = IndexMap::default();
        for definition in platform.type_drivers() {
            for test in definition.tests.iter() {
                let driver = Driver::new(platform, &test.facts);
                let Ok(state) = initial_state(&driver, definition, test) else {
                    continue;
                };
                for node in state.tree(CONFIG).iter().flat_map(|tree| &tree.nodes) {
                    lines
                        .entry(node.text.clone())
                        .or_insert_with(|| node.clone());
                }
            }
        }
        let lines: Vec<Node> = lines.into_values().collect();
        for definition in platform.type_drivers() {
            for test in definition.tests.iter() {
                let secrets = OldSecrets::Used;
                if let Some(undone) = undone(platform, definition, test, secrets, &lines) {
                    count += 1;
                    if !undone.removed_others.is_empty() {
                        let name = format!("{}/{}", platform.name, definition.model.name);
                        problems.push((name, undone.removed_others.join("; ")));
                    }
                }
            }
        }
    }
    problems.retain(|(name, lines)| !EFFECTS_OF_OTHERS.contains(&(name.as_str(), lines.as_str())));
    assert!(problems.is_empty(), "{problems:#?}");
    assert!(count > 500, "{count}");
}

/// Lines that an undo is predicted to remove, by type.
const EFFECTS_OF_OTHERS: [(&str, &str); 4] = [
    // A kind of notifications of which the device had a part: a run refuses such an undo.
    (
        "cisco_ios/snmp_notification",
        "snmp-server enable traps snmp linkdown",
    ),
    // A device has this line with `aaa new-model` only, which the undo removes.
    ("cisco_ios/ios_aaa_new_model", "aaa session-id common"),
    // The prediction of `no ip domain name` has too many lines: such an undo is refused.
    (
        "cisco_ios/ios_network_dns",
        "ip domain name vrf MGMT mgmt.example.net",
    ),
    (
        "cisco_ios/network_dns",
        "ip domain name vrf MGMT mgmt.example.net",
    ),
];

/// Changes with effects beyond the attributes of the type. The plan shows what is left of them.
const LEFT: [&str; 8] = [
    // A run removes the interface by the type that creates interfaces.
    "cisco_ios/network_interface: entering the mode creates an interface",
    // Communities are of another type: a run refuses the undo, because their names are secrets.
    "cisco_ios/network_snmp: disabling removes communities",
    // A kind, or some of its notifications, of which the device had a part.
    "cisco_ios/snmp_notification: create: a notification beside others of its kind",
    "cisco_ios/snmp_notification: remove: a kind has all of its notifications",
    "cisco_ios/snmp_notification: remove: some of several notifications",
    // The block stays without lines. The router does not print it.
    "frr/frr_ospf6_interface: an interface without settings is configured",
    "frr/frr_ospf_interface: an interface without settings is configured",
    "frr/network_interface: an interface without settings is configured",
];
