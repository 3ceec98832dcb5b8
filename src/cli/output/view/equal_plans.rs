//! Plans and messages of many devices: equal ones once, with their devices.

use std::collections::HashMap;

use indexmap::IndexMap;
use switchtender_devices::names::{DeviceName, PlatformName};

use super::device_names::wrapped;
use super::plan::PlanText;
use crate::inventory::range;
use crate::terminal_text::TerminalText;

/// Maximum number of different messages of the devices with one plan.
const MAX_MESSAGES: usize = 5;

/// Plans with the same changes of the configuration. The lines around a change, its position and
/// messages may differ.
#[derive(Default)]
pub(super) struct EqualPlans {
    plans: IndexMap<(PlatformName, TerminalText, Vec<String>), PlanGroup>,
}

/// The devices with one plan.
struct PlanGroup {
    /// The devices with their configuration differences, which have the same changes.
    devices: Vec<(DeviceName, TerminalText)>,
    /// The devices of each message.
    messages: IndexMap<TerminalText, Vec<DeviceName>>,
}

impl EqualPlans {
    pub(super) fn add(
        &mut self,
        device: &DeviceName,
        platform: &PlatformName,
        messages: Vec<TerminalText>,
        plan: PlanText,
    ) {
        let key = (platform.clone(), plan.changes, plan.changed_lines);
        let group = self.plans.entry(key).or_insert_with(|| PlanGroup {
            devices: Vec::new(),
            messages: IndexMap::default(),
        });
        group.devices.push((device.clone(), plan.difference));
        for message in messages {
            let devices = group.messages.entry(message).or_default();
            devices.push(device.clone());
        }
    }

    /// The plans in the order of their first devices. `order` has the position of each device; without
    /// it, their names decide.
    pub(super) fn render(
        self,
        order: Option<&HashMap<&str, usize>>,
        colored: bool,
    ) -> Vec<TerminalText> {
        let position = |device: &DeviceName| {
            let position = order.and_then(|order| order.get(device.as_str()).copied());
            (position, device.clone())
        };
        let mut plans: Vec<_> = self.plans.into_iter().collect();
        for (_, group) in &mut plans {
            group.devices.sort_by_key(|(device, _)| position(device));
        }
        plans.sort_by_key(|(_, group)| position(&group.devices[0].0));
        let plans = plans.into_iter().map(|((platform, changes, _), group)| {
            let mut text = TerminalText::with_colors(colored);
            let names = group.devices.iter().map(|(device, _)| device.as_str());
            for line in heading(names, &platform) {
                text.line(line);
            }
            for (message, devices) in group.messages.iter().take(MAX_MESSAGES) {
                if devices.len() < group.devices.len() {
                    for line in owners(devices) {
                        text.line(line);
                    }
                }
                text.append(message);
            }
            if let Some(more) = group.messages.len().checked_sub(MAX_MESSAGES + 1) {
                text.line(format_args!(
                    "  {} more messages of these devices; --target DEVICE prints them",
                    more + 1
                ));
            }
            let (_, difference) = &group.devices[0];
            text.append(&changes).append(difference).end_line();
            text
        });
        plans.collect()
    }
}

/// The devices of a plan, in lines.
pub(crate) fn heading<'a>(
    devices: impl ExactSizeIterator<Item = &'a str>,
    platform: &str,
) -> Vec<String> {
    let end = match devices.len() {
        1 => format!(" ({platform})"),
        count => format!(" ({platform}, {count} devices)"),
    };
    listed("", devices, &end)
}

/// The devices of a message that not all devices of the plan have, in lines.
fn owners(devices: &[DeviceName]) -> Vec<String> {
    listed("  only ", devices.iter().map(DeviceName::as_str), ":")
}

fn listed<'a>(start: &str, devices: impl Iterator<Item = &'a str>, end: &str) -> Vec<String> {
    let mut names = range::of_names(devices).into_iter().peekable();
    let mut first = format!("{start}{}", names.next().unwrap_or_default());
    let mut words = Vec::new();
    if names.peek().is_some() {
        first.push(',');
        words = names.collect();
    }
    words.last_mut().unwrap_or(&mut first).push_str(end);
    wrapped(&first, &words)
}
