//! The parameters of the devices page: filters that combine, order, page and columns.

use std::collections::BTreeSet;

use switchtender_devices::diagnostic::suggest;
use switchtender_devices::printable;

use super::fleet_chart::ChartRange;
use super::fleet_column::FleetColumn;
use crate::history::device_state::KnownDevice;
use crate::history::devices::{DeviceResult, FleetFilter, FleetOrder};
use crate::inventory::DeviceSelection;
use crate::serve::web::pager::{PAGE_SIZE, Pager};
use crate::serve::web::select_option::{SelectOption, options};

/// The statuses of the filter: those of a device, and two that a device has besides.
const STATUSES: [(&str, &str); 11] = [
    ("", "All statuses"),
    ("failed", "Failed"),
    ("unreachable", "Unreachable"),
    ("not run", "Not run"),
    ("interrupted", "Interrupted"),
    ("pending", "Changes pending"),
    ("drifted", "With drift"),
    ("changed", "Changed"),
    ("unchanged", "Unchanged"),
    ("never", "No run yet"),
    ("paused", "Paused"),
];

const ORDERS: [(&str, &str); 7] = [
    ("", "By name"),
    ("status", "Failures first"),
    ("last_run", "Oldest run first"),
    ("next_due", "Next run first"),
    ("site", "By site"),
    ("model", "By model"),
    ("version", "By version"),
];

/// The parameters of the page. A form sends empty ones, too.
#[derive(Default)]
pub(super) struct FleetQuery {
    /// A part of the name, or an expression such as `sw[1-20], !sw7`.
    pub(super) text: String,
    /// Conditions for labels, such as `role=access`.
    pub(super) label: String,
    pub(super) status: String,
    pub(super) platform: String,
    pub(super) site: String,
    pub(super) sort: String,
    chart: String,
    page: Option<usize>,
    /// The columns that the form chose.
    pub(super) columns: Option<Vec<FleetColumn>>,
}

impl FleetQuery {
    /// Reads parameters. A name can occur several times, and unknown ones have no meaning.
    pub(super) fn parse(query: &str) -> Self {
        let mut found = Self::default();
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            let value = value.into_owned();
            match name.as_ref() {
                "q" => found.text = value,
                "label" => found.label = value,
                "status" => found.status = value,
                "platform" => found.platform = value,
                "site" => found.site = value,
                "sort" => found.sort = value,
                "chart" => found.chart = value,
                "page" => found.page = value.parse().ok(),
                "columns" => {
                    let columns = found.columns.get_or_insert_default();
                    columns.extend(value.parse::<FleetColumn>());
                }
                _ => {}
            }
        }
        found
    }

    /// The devices that the parameters select from the visible ones.
    ///
    /// # Errors
    /// A parameter has no meaning.
    pub(super) fn filter(&self, visible: &[KnownDevice]) -> Result<FleetFilter, String> {
        let (name, names) = self.names(visible)?;
        let has = |status: &str| self.status == status;
        let is_status = STATUSES.iter().any(|(word, _)| has(word));
        if !is_status {
            let words = STATUSES.iter().map(|(word, _)| *word);
            return Err(unknown("status", &self.status, words));
        }
        if !ORDERS.iter().any(|(word, _)| *word == self.sort) {
            let words = ORDERS.iter().map(|(word, _)| *word);
            return Err(unknown("order", &self.sort, words));
        }
        Ok(FleetFilter {
            name,
            names,
            result: self.status.parse::<DeviceResult>().ok(),
            platform: chosen("platform", &self.platform, &platforms(visible))?,
            site: chosen("site", &self.site, &sites(visible))?,
            has_drift: has("drifted"),
            is_paused: has("paused"),
            order: match self.sort.as_str() {
                "status" => FleetOrder::Status,
                "last_run" => FleetOrder::LastRun,
                "next_due" => FleetOrder::NextDue,
                "site" => FleetOrder::Site,
                "model" => FleetOrder::Model,
                "version" => FleetOrder::Version,
                _ => FleetOrder::Name,
            },
            limit: PAGE_SIZE as u32,
            offset: u32::try_from(Pager::offset(self.page)).unwrap_or(u32::MAX),
            ..FleetFilter::default()
        })
    }

    /// A part of the name, or the names that expressions select.
    fn names(
        &self,
        visible: &[KnownDevice],
    ) -> Result<(Option<String>, Option<Vec<String>>), String> {
        let (text, label) = (self.text.trim(), self.label.trim());
        let is_part = !text.is_empty() && !is_expression(text);
        let mut selections = Vec::new();
        if !text.is_empty() && !is_part {
            selections.push(DeviceSelection::parse(text).map_err(|error| error.to_string())?);
        }
        if !label.is_empty() {
            let labels = DeviceSelection::parse_labels(label);
            selections.push(labels.map_err(|error| error.to_string())?);
        }
        let name = is_part.then(|| text.to_owned());
        if selections.is_empty() {
            return Ok((name, None));
        }
        let is_selected = |device: &&KnownDevice| selections.iter().all(|one| one.matches(*device));
        let selected = visible.iter().filter(is_selected);
        let names = selected.map(|device| device.name.clone()).collect();
        Ok((name, Some(names)))
    }

    pub(super) fn chart(&self) -> ChartRange {
        ChartRange::of(&self.chart)
    }

    pub(super) fn statuses(&self) -> Vec<SelectOption> {
        options(STATUSES, Some(&self.status))
    }

    pub(super) fn orders(&self) -> Vec<SelectOption> {
        options(ORDERS, Some(&self.sort))
    }

    /// The parameters of the filter, for links and forms.
    pub(super) fn parameters(&self) -> Vec<(&'static str, String)> {
        let all = [
            ("q", &self.text),
            ("label", &self.label),
            ("status", &self.status),
            ("platform", &self.platform),
            ("site", &self.site),
            ("sort", &self.sort),
        ];
        let all = all.into_iter().filter(|(_, value)| !value.is_empty());
        all.map(|(name, value)| (name, value.clone())).collect()
    }

    /// Whether all devices are selected.
    pub(super) fn is_empty(&self) -> bool {
        self.parameters().iter().all(|(name, _)| *name == "sort")
    }

    pub(super) fn pager(&self, total: u32) -> Pager {
        let page = self.page.unwrap_or(1);
        Pager::new("/", self.parameters(), page, total as usize)
    }
}

/// Whether a text is more than a part of a name.
fn is_expression(text: &str) -> bool {
    text.contains(|letter: char| "*?[]{}(),=!\"'".contains(letter) || letter.is_whitespace())
}

/// The platforms of devices.
pub(super) fn platforms(devices: &[KnownDevice]) -> BTreeSet<String> {
    devices.iter().map(|one| one.platform.clone()).collect()
}

/// The sites of devices.
pub(super) fn sites(devices: &[KnownDevice]) -> BTreeSet<String> {
    devices.iter().filter_map(|one| one.site.clone()).collect()
}

/// The labels of devices as `KEY=VALUE`.
pub(super) fn labels(devices: &[KnownDevice]) -> BTreeSet<String> {
    let labels = devices.iter().flat_map(|device| &device.labels);
    labels
        .map(|(key, value)| format!("{key}={value}"))
        .collect()
}

fn chosen(name: &str, value: &str, all: &BTreeSet<String>) -> Result<Option<String>, String> {
    if value.is_empty() {
        return Ok(None);
    }
    if all.contains(value) {
        return Ok(Some(value.to_owned()));
    }
    Err(unknown(name, value, all.iter().map(String::as_str)))
}

/// The error about a value that a parameter does not have.
pub(super) fn unknown<'a>(name: &str, value: &str, all: impl Iterator<Item = &'a str>) -> String {
    let all: Vec<&str> = all.filter(|word| !word.is_empty()).collect();
    let list = format!("choose one of: {}", all.join(", "));
    let help = suggest(value, all.iter().copied(), &list);
    format!("unknown {name} `{}`; {help}", printable::escape(value))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn device(name: &str, site: &str, role: &str) -> KnownDevice {
        KnownDevice {
            name: name.to_owned(),
            platform: "cisco_ios".to_owned(),
            site: Some(site.to_owned()),
            labels: BTreeMap::from([("role".to_owned(), role.to_owned())]),
            address: String::new(),
            guarantee: None,
        }
    }

    #[test]
    fn filters_combine_and_unknown_values_are_reported() {
        let devices = [
            device("sw1", "berlin", "core"),
            device("sw2", "berlin", "access"),
            device("sw10", "munich", "access"),
        ];
        let filter = |query: &str| FleetQuery::parse(query).filter(&devices);
        let part = filter("q=sw1&site=berlin&status=failed&sort=version").unwrap();
        assert_eq!(part.name.as_deref(), Some("sw1"));
        assert_eq!((part.names, part.site.as_deref()), (None, Some("berlin")));
        assert_eq!(part.result, Some(DeviceResult::Failed));
        assert_eq!(part.order, FleetOrder::Version);
        let names = |query: &str| filter(query).unwrap().names.unwrap().join(" ");
        assert_eq!(names("q=sw*%2C+!sw2"), "sw1 sw10");
        assert_eq!(names("q=sw1*&label=role%3Daccess"), "sw10");
        assert_eq!(
            names("label=role%20in%20(core%2C%20access)"),
            "sw1 sw2 sw10"
        );
        for (query, problem) in [
            (
                "status=drift",
                "unknown status `drift`; did you mean `drifted`?",
            ),
            ("site=berln", "unknown site `berln`; did you mean `berlin`?"),
            (
                "platform=x",
                "unknown platform `x`; choose one of: cisco_ios",
            ),
            ("sort=size", "unknown order `size`"),
            ("label=sw1", "expected a label"),
        ] {
            let found = filter(query).unwrap_err();
            assert!(found.starts_with(problem), "{query}: {found}");
        }
        assert!(FleetQuery::parse("sort=status&chart=week").is_empty());
    }
}
