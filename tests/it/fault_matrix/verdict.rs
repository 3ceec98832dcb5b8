//! Compares the output about a device with its state.

use serde_json::Value;
use test_support::lab::Lab;

use super::scenario::{Platform, Scenario};

/// The objects of `--output json` about one device whose run ended.
pub(super) struct DeviceOutput {
    end: Value,
    resources: Vec<Value>,
    /// Messages of warnings and errors.
    warnings: Vec<String>,
}

impl DeviceOutput {
    /// `None` if the run of the device did not end.
    pub(super) fn of(objects: &[Value], device: &str) -> Option<Self> {
        let about = || objects.iter().filter(|object| object["device"] == device);
        let end = about().find(|object| object["kind"] == "device")?.clone();
        let resources = about().filter(|object| object["kind"] == "resource");
        let warnings = about()
            .filter(|object| object["kind"] == "log")
            .filter(|object| matches!(object["level"].as_str(), Some("err" | "warning")))
            .map(|object| text(&object["message"]).to_owned());
        Some(Self {
            end,
            resources: resources.cloned().collect(),
            warnings: warnings.collect(),
        })
    }

    fn status(&self) -> &str {
        text(&self.end["status"])
    }

    /// Whether the verification of a resource has found a difference.
    fn has_failed_verification(&self, reference: &str) -> bool {
        let about = self.resources.iter();
        let mut about = about.filter(|resource| resource["resource"] == reference);
        about.any(|resource| {
            let events = resource["events"].as_array();
            let mut events = events.into_iter().flatten();
            events.any(|event| event["name"] == "verification_failed")
        })
    }

    /// Whether a warning, or the failure of the device, contains these words.
    fn warns_about(&self, words: &str) -> bool {
        let failure = text(&self.end["failure"]);
        failure.contains(words) || self.warnings.iter().any(|message| message.contains(words))
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// All of the state that a scenario can change, as text.
pub(super) fn state(lab: &Lab, device: &str, scenario: &Scenario) -> String {
    match scenario.platform {
        Platform::CiscoIos => {
            let switch = &lab.switches[device];
            format!("{}{:?}", switch.running_config(), switch.vlans())
        }
        Platform::F5Bigip => {
            let balancer = &lab.load_balancers[device];
            let lists = ["ltm/node", "ltm/rule"].map(|path| balancer.get(path));
            format!("{lists:?}")
        }
    }
}

/// The statements of the output that the state of the device contradicts.
pub(super) fn wrong(
    lab: &Lab,
    device: &str,
    scenario: &Scenario,
    output: &DeviceOutput,
    before: &str,
) -> Vec<String> {
    let mut wrong = Vec::new();
    let status = output.status();
    if status == "not run" {
        if state(lab, device, scenario) != before {
            wrong.push("`not run`, and the device changed".to_owned());
        }
        return wrong;
    }
    for resource in &output.resources {
        wrong.extend(wrong_resource(lab, device, scenario, output, resource));
    }
    let missing: Vec<&str> = scenario
        .effects
        .iter()
        .filter(|effect| !(effect.is_applied)(lab, device))
        .map(|effect| effect.resource)
        .collect();
    if status != "failed" && !missing.is_empty() {
        wrong.push(format!("status `{status}` without {missing:?}"));
    }
    if !is_saved(lab, device, scenario) && !output.warns_about("sav") {
        wrong.push("not saved without a warning".to_owned());
    }
    wrong
}

fn wrong_resource(
    lab: &Lab,
    device: &str,
    scenario: &Scenario,
    output: &DeviceOutput,
    resource: &Value,
) -> Vec<String> {
    let reference = text(&resource["resource"]);
    let effects = || {
        let effects = scenario.effects.iter();
        effects.filter(|effect| effect.resource == reference)
    };
    let mut wrong = Vec::new();
    let events = resource["events"].as_array().map_or(&[][..], Vec::as_slice);
    let is_unchanged = events.is_empty() && resource["failed"] == false;
    if is_unchanged && resource["skipped"] == false {
        let missing = effects().filter(|effect| !(effect.is_applied)(lab, device));
        wrong.extend(
            missing.map(|effect| format!("{reference} in sync, and {} is not", effect.property)),
        );
    }
    for event in events {
        let (property, message) = (text(&event["property"]), text(&event["message"]));
        if event["name"] == "verification_failed" {
            continue;
        }
        if event["name"] == "resource_error" {
            let is_applied = effects().all(|effect| (effect.is_applied)(lab, device));
            if is_applied && message.contains("it was not sent") {
                wrong.push(format!(
                    "{reference} not sent, and it is applied: {message}"
                ));
            }
            continue;
        }
        let Some(effect) = effects().find(|effect| effect.property == property) else {
            wrong.push(format!("unexpected event of {reference}: {event}"));
            continue;
        };
        let is_applied = (effect.is_applied)(lab, device);
        match text(&event["status"]) {
            "success" if !is_applied && output.has_failed_verification(reference) => {}
            "success" if !is_applied => {
                wrong.push(format!(
                    "{reference} {property} done, and it is not: {message}"
                ));
            }
            "failure" if is_applied && !message.contains("unknown") => {
                wrong.push(format!(
                    "{reference} {property} not applied, and it is: {message}"
                ));
            }
            "success" | "failure" => {}
            other => wrong.push(format!("{reference} {property} has status `{other}`")),
        }
    }
    wrong
}

/// The findings about a device without a fault, in a run with others.
pub(super) fn unaffected(
    lab: &Lab,
    device: &str,
    scenario: &Scenario,
    objects: &[Value],
) -> Vec<String> {
    let mut findings = unconverged(lab, device, scenario, objects);
    if let Some(output) = DeviceOutput::of(objects, device) {
        findings.extend(output.warnings);
    }
    findings
}

/// The findings about a device that must have the desired state after a run.
pub(super) fn unconverged(
    lab: &Lab,
    device: &str,
    scenario: &Scenario,
    objects: &[Value],
) -> Vec<String> {
    let Some(output) = DeviceOutput::of(objects, device) else {
        return vec!["it did not end".to_owned()];
    };
    let mut findings = Vec::new();
    if !["changed", "unchanged"].contains(&output.status()) {
        let (status, warnings) = (output.status(), output.warnings.join("; "));
        findings.push(format!(
            "{status}: {} {warnings}",
            text(&output.end["error"])
        ));
    }
    let missing = scenario.effects.iter();
    let missing = missing.filter(|effect| !(effect.is_applied)(lab, device));
    findings.extend(missing.map(|effect| format!("{} {}", effect.resource, effect.property)));
    if !is_saved(lab, device, scenario) {
        findings.push("not saved".to_owned());
    }
    findings
}

fn is_saved(lab: &Lab, device: &str, scenario: &Scenario) -> bool {
    match scenario.platform {
        Platform::CiscoIos => lab.switches[device].is_saved(),
        Platform::F5Bigip => lab.load_balancers[device].is_saved(),
    }
}
