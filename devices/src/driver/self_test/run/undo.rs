//! The undo of every change of the self-tests gives the configuration before, or the same values, or
//! names what it does not restore. The figures are printed.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::sync::Arc;

use super::{SelfTest, change_for, initial_state};
use crate::change::Desired;
use crate::driver::type_driver::TypeDriver;
use crate::driver::{Driver, NoSecretHistory, OldSecrets, Platform, Registry, Undo};
use crate::read::State;

/// A change and its undo.
struct UndoneChange {
    undo: Undo,
    /// What differs from the configuration before.
    difference: String,
    has_same_values: bool,
}

/// The values of all instances of the type, in any order. A value that nothing sets is one that is
/// not printed.
fn values(driver: &Driver, definition: &TypeDriver, state: &State) -> Vec<String> {
    let instances = driver.instances(&definition.model, state).unwrap();
    let mut texts: Vec<String> = instances
        .into_iter()
        .map(|instance| {
            let mut pairs: Vec<_> = instance.attributes.into_iter().collect();
            pairs.retain(|(_, value)| *value != false.into() && *value != "unset".into());
            pairs.sort_by(|(a, _), (b, _)| a.cmp(b));
            format!("{pairs:?}")
        })
        .collect();
    texts.sort();
    texts
}

/// `None`: the test changes nothing.
fn undone(
    platform: &Arc<Platform>,
    definition: &TypeDriver,
    test: &SelfTest,
    secrets: OldSecrets,
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
    let before = initial_state(&driver, definition, test).unwrap();
    let change = change_for(&driver, &desired, &before, &NoSecretHistory).unwrap()?;
    let displaced = driver.displaced(&change, &before);
    let mut state = before.clone();
    let operations = driver.render(&change, &before).unwrap();
    driver.predict(model, &mut state, &operations);
    let undo = driver.undo(&change, &displaced, secrets, &mut state);
    let values = [&before, &state].map(|state| values(&driver, definition, state));
    Some(UndoneChange {
        undo,
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
                let Some(undone) = undone(platform, definition, test, secrets) else {
                    continue;
                };
                match undone.undo.not_restored.is_empty() {
                    false => named += 1,
                    true if !undone.has_same_values => {
                        let of = format!("{}/{}", platform.name, definition.model.name);
                        others.insert(format!("{of}: {}", test.name), undone.difference);
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

/// Changes with effects beyond the attributes of the type. The plan shows what is left of them.
const LEFT: [&str; 6] = [
    // A kind, or some of its notifications, of which the device had a part.
    "cisco_ios/snmp_notification: create: a notification beside others of its kind",
    "cisco_ios/snmp_notification: remove: a kind has all of its notifications",
    "cisco_ios/snmp_notification: remove: some of several notifications",
    // The block stays without lines. The router does not print it.
    "frr/frr_ospf6_interface: an interface without settings is configured",
    "frr/frr_ospf_interface: an interface without settings is configured",
    "frr/network_interface: an interface without settings is configured",
];
