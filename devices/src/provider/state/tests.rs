//! What a run knows of a device, without a session.

use std::path::Path;
use std::sync::Arc;

use super::{DeviceState, SecretDigestStore};
use crate::change::{Change, Desired};
use crate::definitions;
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
    let config = "version 15.2\nhostname sw1\nntp server 192.0.2.1\nend\n";
    state_of(&Registry::shipped(), "cisco_ios", config)
}

/// A device of an example platform.
fn example_state(platform: &str, config: &str) -> DeviceState {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/definitions");
    let registry = Registry::load(&definitions::from_directory(&examples).unwrap()).unwrap();
    state_of(&registry, platform, config)
}

fn state_of(registry: &Registry, platform: &str, config: &str) -> DeviceState {
    let platform = registry.platform(platform).expect("it exists");
    let driver = Driver::new(platform, &Facts::default());
    let mut state = DeviceState::new(driver, Arc::new(Nothing), false);
    let read = state.parse(
        &[("config".to_owned(), config.to_owned())]
            .into_iter()
            .collect(),
    );
    state.add_answers(read);
    state
}

fn ntp_server(state: &DeviceState, name: &str, ensure: &str) -> Arc<Desired> {
    desired(state, "ntp_server", &[("name", name), ("ensure", ensure)])
}

fn desired(state: &DeviceState, of: &str, want: &[(&str, &str)]) -> Arc<Desired> {
    let platform = state.driver.platform();
    let definition = platform.type_driver(of).expect("it exists");
    let text = |text: &str| Value::String(text.to_owned());
    let want: Attributes = want
        .iter()
        .map(|(name, value)| (Name::from(*name), text(value)))
        .collect();
    Arc::new(Desired {
        reference: format!("{of}[x]").into(),
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

#[test]
fn undo_leaves_a_line_that_a_type_needs_and_names_it() {
    let mut state = example_state("cisco_nxos", "version 9.3(5)\nfeature lacp\n");
    let want = [("domain", "10"), ("ensure", "present")];
    let desired = desired(&state, "cisco_vpc_domain", &want);
    let change = change(&mut state, &desired).expect("it differs");
    let operations = state.preview(&change).expect("it can be written");
    assert_eq!(texts(&operations), ["feature vpc", "vpc domain 10"]);
    let undo = state.planned_undo();
    assert_eq!(texts(&undo.resources[0].1.operations), ["no vpc domain 10"]);
    assert_eq!(undo.stays, ["feature vpc"]);
    assert_eq!(undo.lost_lines(), [""; 0]);
}

#[test]
fn activation_of_others_is_refused_and_the_undo_removes_nothing() {
    let config = |mark: &str| {
        format!(
            "set version 20.4R1\nset protocols bgp group S type internal\n\
             set protocols bgp group S neighbor 192.0.2.1 peer-as 65001\ndeactivate {mark}\n"
        )
    };
    let want = [
        ("group", "S"),
        ("name", "192.0.2.1"),
        ("ensure", "present"),
        ("peer_as", "65001"),
    ];
    for (mark, refused) in [
        ("protocols bgp group S", true),
        ("protocols bgp group S neighbor 192.0.2.1", false),
    ] {
        let mut state = example_state("junos", &config(mark));
        let desired = desired(&state, "junos_bgp_neighbor", &want);
        let inspection = state.inspect(&desired).expect("readable");
        let permitted = state.check_not_understood(&desired, &inspection);
        assert_eq!(permitted.is_err(), refused, "{mark}");
        assert_eq!(
            inspection.values(&["ensure"])["ensure"],
            Value::Symbol("inactive".to_owned())
        );
        let change = change(&mut state, &desired).expect("it differs");
        let operations = state.preview(&change).expect("it can be written");
        assert_eq!(texts(&operations), [format!("activate {mark}")]);
        let undo = state.planned_undo();
        assert!(undo.resources[0].1.operations.is_empty());
        assert_eq!(undo.resources[0].1.not_restored.len(), 1);
    }
}
