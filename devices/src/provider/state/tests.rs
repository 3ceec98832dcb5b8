//! What a run knows of a device, without a session.

use std::sync::Arc;

use super::{DeviceState, SecretDigestStore};
use crate::change::{Change, Desired};
use crate::driver::{Driver, Facts, Registry, SecretHistory};
use crate::operation::{Operation, OperationResult, Outcome};
use crate::provider::CommitResult;
use crate::value::{Attributes, Name, Value};

struct Nothing;

impl SecretHistory for Nothing {
    fn matches_last_set(&self, _: &str, _: &str, _: &Value) -> Option<bool> {
        None
    }
}

impl SecretDigestStore for Nothing {
    fn remember(&self, _: &str, _: &str, _: &Value) {}
}

/// A device with one NTP server.
fn state() -> DeviceState {
    let registry = Registry::shipped();
    let platform = registry.platform("cisco_ios").expect("it exists");
    let driver = Driver::new(platform, &Facts::default());
    let mut state = DeviceState::new(driver, Arc::new(Nothing), false);
    let config = "version 15.2\nhostname sw1\nntp server 192.0.2.1\nend\n";
    let read = state.parse(
        &[("config".to_owned(), config.to_owned())]
            .into_iter()
            .collect(),
    );
    state.add_answers(read);
    state
}

fn ntp_server(state: &DeviceState, name: &str, ensure: &str) -> Arc<Desired> {
    let platform = state.driver.platform();
    let definition = platform.type_driver("ntp_server").expect("it exists");
    let text = |text: &str| Value::String(text.to_owned());
    let want = [("name", text(name)), ("ensure", text(ensure))];
    let want: Attributes = want
        .into_iter()
        .map(|(name, value)| (Name::from(name), value))
        .collect();
    Arc::new(Desired {
        reference: format!("Ntp_server[{name}]").into(),
        attributes: definition.model.resolve("", &want).expect("valid"),
        model: Arc::clone(&definition.model),
    })
}

/// The change of a resource, as the transaction makes it.
fn change(state: &mut DeviceState, desired: &Arc<Desired>) -> Option<Change> {
    let inspection = state.inspect(desired).expect("readable");
    let (current, differs) = (inspection.current.clone(), inspection.differs.clone());
    let reference = Arc::clone(&desired.reference);
    state.inspections.insert(reference, inspection);
    let current = current.as_deref().cloned();
    (!differs.is_empty()).then(|| Change::new(Arc::clone(desired), current, differs))
}

fn texts(operations: &[Operation]) -> Vec<String> {
    let texts = operations.iter().map(|operation| operation.action.text());
    texts.collect()
}

#[test]
fn previews_build_on_each_other_and_leave_the_answers_alone() {
    let mut state = state();
    let old = ntp_server(&state, "192.0.2.1", "absent");
    let new = ntp_server(&state, "192.0.2.2", "present");
    for (desired, line) in [
        (&old, "no ntp server 192.0.2.1"),
        (&new, "ntp server 192.0.2.2"),
    ] {
        let change = change(&mut state, desired).expect("it differs");
        let operations = state.preview(&change).expect("it can be written");
        assert_eq!(texts(&operations), [line]);
    }
    assert!(!state.has_changed() && !state.has_committed());
    assert!(change(&mut state, &old).is_some(), "nothing was sent");
    let undo = state.planned_undo();
    let undone: Vec<Vec<String>> = undo
        .resources
        .iter()
        .map(|(_, undo)| texts(&undo.operations))
        .collect();
    assert_eq!(
        undone,
        [["no ntp server 192.0.2.2"], ["ntp server 192.0.2.1"]],
        "last change first"
    );
    assert_eq!(undo.not_restored, "");
    state.expect(Vec::new());
    assert!(state.planned_undo().resources.is_empty());
}

#[test]
fn committed_changes_are_in_the_difference_and_in_the_undo() {
    let mut state = state();
    let desired = ntp_server(&state, "192.0.2.2", "present");
    let change = change(&mut state, &desired).expect("it differs");
    let operations = state
        .render(&change, &state.now)
        .expect("it can be written");
    state
        .driver
        .predict(&desired.model, &mut state.now, &operations);
    let outcome = Outcome::Done {
        messages: Vec::new(),
    };
    let result = OperationResult::new(outcome, std::time::Duration::ZERO);
    let results = operations.into_iter().map(|one| (one, result.clone()));
    let committed = CommitResult::from_operations(&change, results.collect());
    state.conclude(&change, Vec::new(), &committed);
    assert!(state.has_committed());
    let difference = state.applied_diff();
    assert!(difference.contains("+ntp server 192.0.2.2"), "{difference}");
    let undo = state.run_undo();
    assert_eq!(
        texts(&undo.resources[0].1.operations),
        ["no ntp server 192.0.2.2"]
    );
    assert!(
        state
            .inspect(&desired)
            .expect("readable")
            .differs
            .is_empty()
    );
}
