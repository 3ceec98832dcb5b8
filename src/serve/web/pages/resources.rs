//! The resources of a device's catalog with their last status.

use askama::Template;
use axum::extract::{Path, Query, State};
use serde::Deserialize;
use switchtender_devices::value::Value;

use super::device_head::DeviceHead;
use super::{RenderedPage, render};
use crate::history::resource_search::ResourceRow;
use crate::serve::web::layout::{PageLayout, Sender};
use crate::serve::web::pager::{PAGE_SIZE, Pager};
use crate::serve::web::shared_views::{resource_path, seconds};
use crate::serve::web::state::WebState;
use crate::serve::web::status_label::StatusLabel;
use crate::transaction::{Event, EventStatus, ResourceResult, ResourceStatus, file_line};

#[derive(Template)]
#[template(path = "device_resources.html")]
struct ResourcesPage {
    layout: PageLayout,
    head: DeviceHead,
    text: String,
    rows: Vec<ResourceLink>,
    pager: Pager,
}

struct ResourceLink {
    path: String,
    reference: String,
    status: StatusLabel,
    run: i64,
    time: String,
    position: String,
    values: Vec<ResourceValue>,
}

/// An attribute with the value that the catalog declares, and the one that the device has.
struct ResourceValue {
    name: String,
    desired: String,
    actual: String,
    differs: bool,
}

#[derive(Deserialize)]
pub(super) struct ResourcesQuery {
    #[serde(default, rename = "q")]
    text: String,
    page: Option<usize>,
}

pub(super) async fn page(
    State(state): State<WebState>,
    sender: Sender,
    Path(name): Path<String>,
    Query(query): Query<ResourcesQuery>,
) -> RenderedPage {
    let (device, text) = (name.clone(), query.text.trim().to_owned());
    let offset = u32::try_from(Pager::offset(query.page)).unwrap_or(u32::MAX);
    let found = state
        .read(&sender.0, move |reader| {
            let Some(found) = reader.fleet_device(&device)? else {
                return Ok(None);
            };
            let rows = reader.search_resources(&device, &text, PAGE_SIZE as u32, offset)?;
            let total = reader.count_resources(&device, &text)?;
            Ok(Some((found, rows, total)))
        })
        .await?;
    let (device, rows, total) = found.ok_or_else(|| WebState::no_device(&name))?;
    let head = DeviceHead::new(&state, &sender.0, &device, "/resources");
    let path = format!("{}/resources", head.path);
    let parameters = vec![("q", query.text.clone())];
    render(&ResourcesPage {
        layout: PageLayout::new(&sender.0, &name, "/"),
        pager: Pager::new(path, parameters, query.page.unwrap_or(1), total as usize),
        head,
        rows: rows.iter().map(|row| link(&name, row)).collect(),
        text: query.text,
    })
}

fn link(device: &str, row: &ResourceRow) -> ResourceLink {
    ResourceLink {
        path: resource_path(device, &row.resource),
        reference: row.resource.clone(),
        status: StatusLabel::new(row.status.word()),
        run: row.run.0,
        time: row.ended.map(seconds).unwrap_or_default(),
        position: file_line(row.file.as_deref(), row.line).unwrap_or_default(),
        values: values(row),
    }
}

/// The values of the last run. An attribute without an event has its declared value, unless the resource itself is
/// not there or was not compared.
fn values(row: &ResourceRow) -> Vec<ResourceValue> {
    let mut values: Vec<ResourceValue> = (row.declared.iter())
        .map(|(name, desired)| ResourceValue {
            name: name.clone(),
            desired: desired.clone(),
            actual: desired.clone(),
            differs: false,
        })
        .collect();
    let events = row.found.iter().flat_map(ResourceStatus::changes);
    let events: Vec<&Event> = events
        .filter(|event| event.status != EventStatus::Audit)
        .collect();
    let is_open = |event: &Event| event.status != EventStatus::Success;
    // The resource itself is missing, or was not read.
    let hides_others = |event: &&Event| {
        let is_of_resource = matches!(event.property.as_deref(), None | Some("ensure"));
        is_of_resource && is_open(event)
    };
    let is_unknown = row.status == ResourceResult::Skipped || events.iter().any(hides_others);
    if is_unknown {
        values.iter_mut().for_each(|value| value.actual.clear());
    }
    for event in events {
        let Some(name) = event.property.as_deref() else {
            continue;
        };
        let text = |value: &Option<Value>| value.as_ref().map(Value::display).unwrap_or_default();
        let differs = is_open(event);
        let has = if differs {
            &event.previous_value
        } else {
            &event.desired_value
        };
        let found = values.iter().position(|value| value.name == name);
        let at = found.unwrap_or_else(|| {
            values.push(ResourceValue {
                name: name.to_owned(),
                desired: text(&event.desired_value),
                actual: String::new(),
                differs,
            });
            values.len() - 1
        });
        values[at].actual = text(has);
        values[at].differs = differs;
    }
    values
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::history::RunId;

    /// The values of a resource with a declared name and shutdown, as `name: desired | actual`; `!` marks a difference.
    fn values_of(status: ResourceResult, events: &[(&str, &str, &str, &str)]) -> Vec<String> {
        let events: Vec<_> = events
            .iter()
            .map(|(property, status, previous, desired)| {
                json!({
                    "name": "changed", "property": property, "status": status, "message": "m",
                    "previous_value": previous, "desired_value": desired,
                    "time": "2026-01-01T00:00:00.000000000+00:00",
                })
            })
            .collect();
        let found = json!({
            "resource": "Network_vlan[10]", "status": status.word(), "corrective": false,
            "events": events, "operations": [],
        });
        let text = |text: &str| text.to_owned();
        let row = ResourceRow {
            resource: text("Network_vlan[10]"),
            file: None,
            line: None,
            status,
            run: RunId(1),
            ended: None,
            declared: vec![
                (text("ensure"), text("'present'")),
                (text("vlan_name"), text("'users'")),
            ],
            found: Some(serde_json::from_value(found).unwrap()),
        };
        let values = values(&row).into_iter();
        values
            .map(|value| {
                let mark = if value.differs { "!" } else { "" };
                format!("{}: {} | {}{mark}", value.name, value.desired, value.actual)
            })
            .collect()
    }

    #[test]
    fn values_are_those_of_the_last_run() {
        let unchanged = values_of(ResourceResult::Unchanged, &[]);
        let expected = [
            "ensure: 'present' | 'present'",
            "vlan_name: 'users' | 'users'",
        ];
        assert_eq!(unchanged, expected);
        let renamed = [("vlan_name", "noop", "guests", "users")];
        let pending = values_of(ResourceResult::Pending, &renamed);
        assert_eq!(pending[0], "ensure: 'present' | 'present'");
        assert_eq!(pending[1], "vlan_name: 'users' | 'guests'!");
        let renamed = [("vlan_name", "success", "guests", "users")];
        let changed = values_of(ResourceResult::Changed, &renamed);
        assert_eq!(changed[1], "vlan_name: 'users' | 'users'");
        // Other values of a missing resource are not known.
        let created = [("ensure", "noop", "absent", "present")];
        let missing = values_of(ResourceResult::Pending, &created);
        assert_eq!(
            missing,
            ["ensure: 'present' | 'absent'!", "vlan_name: 'users' | "]
        );
        let skipped = values_of(ResourceResult::Skipped, &[]);
        assert_eq!(skipped[1], "vlan_name: 'users' | ");
    }
}
