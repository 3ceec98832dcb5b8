//! The predicted configuration equals the configuration of the mock after the same lines.
//!
//! Each self-test that sends lines starts with its configuration on a mock. Tests that are given
//! other answers, and models that the mock does not have, are counted as skipped.

use std::collections::BTreeSet;
use std::sync::Arc;

use switchtender_mocks::SwitchOptions;
use switchtender_mocks::cli_switch::{OfflineSwitch, RejectedLine};

use super::{SelfTest, operations_for};
use crate::change::Desired;
use crate::driver::type_driver::TypeDriver;
use crate::driver::{Driver, NoSecretHistory, Platform, Registry};
use crate::operation::{Action, Operation};
use crate::read::{Reads, State};
use crate::secret::Text;

/// What a self-test shows.
enum Comparison {
    /// The mock cannot have what the test is given, or rejects its lines.
    Skipped(String),
    Equal,
    /// Lines that only one of the two configurations has, `-` predicted, `+` of the mock.
    Different(Vec<String>),
}

fn model_of(test: &SelfTest) -> Option<&'static str> {
    let model = test.facts.get("model").map(String::as_str);
    match model {
        None => Some("C9300-48P"),
        Some("9300") => Some("C9300-48P"),
        Some("2960") => Some("WS-C2960-24TT-L"),
        Some("3750") => Some("WS-C3750G-24TS-1U"),
        Some(_) => None,
    }
}

fn state_of(driver: &Driver, definition: &TypeDriver, switch: &mut OfflineSwitch) -> State {
    let mut reads = Reads::default();
    let requests = driver.reads(&[&definition.model]);
    // Instances of another read change that read, and the difference shows it.
    let in_config = requests.first().is_some_and(|first| first.name == "config");
    let requests = requests.into_iter();
    for request in requests.filter(|request| in_config || request.name != "config") {
        let text = switch.show(&request.command).unwrap_or_default();
        reads.insert(request.name.clone(), text);
    }
    driver.platform().parse(&reads).unwrap()
}

/// Sends lines as a session does; the first answer that rejects one.
fn send(switch: &mut OfflineSwitch, operations: &[Operation]) -> Result<(), RejectedLine> {
    for operation in operations {
        let Action::Line(line) = &operation.action else {
            continue;
        };
        switch.leave();
        for mode in &line.mode {
            switch.configure(&mode.reveal(), &[])?;
        }
        if let Some(text) = &line.text {
            let body: Vec<String> = line.body.iter().map(Text::reveal).collect();
            switch.configure(&text.reveal(), &body)?;
        }
    }
    switch.leave();
    Ok(())
}

/// The lines of a configuration, each below its blocks, without their order and without what the
/// sent lines do not determine: the delimiters of texts, the number of servers in a line, the
/// addresses of interfaces, the default names of VLANs, the forms of secrets, and the word before the cookie of a log.
fn lines(driver: &Driver, state: &State) -> BTreeSet<String> {
    let text = driver.configuration(state).text();
    let mut path: Vec<&str> = Vec::new();
    let mut lines = BTreeSet::new();
    for line in text.lines() {
        let depth = line.len() - line.trim_start().len();
        let line = line.trim().trim_end_matches(" ^C");
        path.truncate(depth);
        path.push(line);
        match line.strip_prefix("ip name-server ") {
            Some(servers) => lines.extend(servers.split(' ').map(|one| format!("server {one}"))),
            None if line == "no ip address" || line.starts_with("name VLAN00") => {}
            None => {
                let line = path.join(" / ").replace(" log tag ", " log ");
                let secret = line.find(" secret ").map(|at| at + " secret ".len());
                lines.insert(line[..secret.unwrap_or(line.len())].to_owned());
            }
        }
    }
    lines.into_iter().map(|line| line.to_lowercase()).collect()
}

fn compare(platform: &Arc<Platform>, definition: &TypeDriver, test: &SelfTest) -> Comparison {
    let skipped = |reason: &str| Comparison::Skipped(reason.to_owned());
    let Some(want) = &test.want else {
        return skipped("there is no desired resource");
    };
    if test.error.is_some() || test.supplied.keys().any(|read| read != "config") {
        return skipped("not a configuration");
    }
    let Some(model) = model_of(test) else {
        return skipped("no mock of the model");
    };
    let driver = Driver::new(platform, &test.facts);
    let resolved = definition
        .model
        .resolve("", want)
        .and_then(|attributes| driver.canonicalize(&definition.model, attributes));
    let Ok(attributes) = resolved else {
        return skipped("refused");
    };
    let desired = Desired {
        reference: definition.model.name.as_str().into(),
        model: Arc::clone(&definition.model),
        attributes,
    };
    let mut switch = OfflineSwitch::new(&SwitchOptions {
        model: Some(model.to_owned()),
        config: Some(test.supplied.get("config").cloned().unwrap_or_default()),
        ..SwitchOptions::default()
    })
    .unwrap();
    let mut predicted = state_of(&driver, definition, &mut switch);
    if let Err(reason) = driver.supports_diff(&definition.model, &predicted) {
        return Comparison::Skipped(format!("no difference shown: {reason}"));
    }
    let Ok((operations, _)) = operations_for(&driver, &desired, &predicted, &NoSecretHistory)
    else {
        return skipped("refused");
    };
    driver.predict(&definition.model, &mut predicted, &operations);
    if let Err(error) = send(&mut switch, &operations) {
        return Comparison::Skipped(format!("the mock answers {}", error.answer));
    }
    let actual = state_of(&driver, definition, &mut switch);
    let (predicted, actual) = (lines(&driver, &predicted), lines(&driver, &actual));
    let missing = predicted
        .difference(&actual)
        .map(|line| format!("- {line}"));
    let more = actual
        .difference(&predicted)
        .map(|line| format!("+ {line}"));
    let different: Vec<String> = missing.chain(more).collect();
    if different.is_empty() {
        Comparison::Equal
    } else {
        Comparison::Different(different)
    }
}

/// Self-tests after which the device completes a line or a block: with a number, with `enable`, with a line that is
/// its default.
const COMPLETED: [&str; 3] = [
    "ios_acl_remark: create",
    "ios_bgp_family: create",
    "ios_explicit_path: create",
];

#[test]
fn predicted_configuration_equals_that_of_the_mock() {
    let registry = Registry::shipped();
    let platform = registry.platform("cisco_ios").unwrap();
    let (mut equal, mut skipped, mut failures) = (0, Vec::new(), Vec::new());
    for definition in platform.type_drivers() {
        for test in definition.tests.iter() {
            let name = format!("{}: {}", definition.model.name, test.name);
            match compare(platform, definition, test) {
                Comparison::Different(_) if COMPLETED.contains(&name.as_str()) => {}
                Comparison::Equal => equal += 1,
                Comparison::Skipped(reason) => skipped.push(format!("{name}: {reason}")),
                Comparison::Different(lines) => {
                    failures.push(format!("{name}\n  {}", lines.join("\n  ")));
                }
            }
        }
    }
    assert!(equal > 100, "{equal}; skipped:\n{}", skipped.join("\n"));
    assert!(
        failures.is_empty(),
        "{}:\n{}",
        failures.len(),
        failures.join("\n")
    );
}
