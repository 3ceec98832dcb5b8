//! Devices: state, resources, configurations.

use axum::Json;
use axum::extract::{Path, Query, State};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::ApiAnswer;
use crate::history::device_state::FactSet;
use crate::history::devices::{DeviceResult, FleetDevice, FleetFilter, FleetOrder};
use crate::history::runs::{ManagedResource, ResourceRun};
use crate::history::{ConfigurationVersion, DriftEntry, DriftFilter, RunId};
use crate::report::RunStatus;
use crate::serve::web::layout::Sender;
use crate::serve::web::line_query::names;
use crate::serve::web::state::WebState;
use crate::serve::web::web_error::{ErrorBody, WebError};

/// Maximum number of entries of an answer.
const MAX_LIMIT: u32 = 1000;

/// Number of entries unless the request has a limit.
const DEFAULT_LIMIT: u32 = 100;

pub(super) fn limit(requested: Option<u32>) -> u32 {
    requested.unwrap_or(DEFAULT_LIMIT).clamp(1, MAX_LIMIT)
}

/// The names of the devices that an expression selects; `None`: all.
///
/// # Errors
/// The expression is invalid.
pub(super) fn selected(
    state: &WebState,
    sender: &Sender,
    target: Option<&str>,
) -> Result<Option<Vec<String>>, WebError> {
    let visible = state.service(&sender.0).devices();
    let names = names(target.unwrap_or_default(), &visible).map_err(WebError::invalid)?;
    Ok(names.map(Vec::from_iter))
}

#[derive(Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct DevicesQuery {
    /// A part of the name.
    name: Option<String>,
    /// An expression of names and labels, such as `sw[01-20], !sw7, role in (access, core)`.
    target: Option<String>,
    /// The status of the last run.
    status: Option<RunStatus>,
    /// The status of the last run, `unreachable`, or `never`.
    result: Option<DeviceResult>,
    platform: Option<String>,
    site: Option<String>,
    /// Only devices that differ from their catalogs.
    drift: Option<bool>,
    /// Only devices that cannot be connected.
    unreachable: Option<bool>,
    /// Only devices without scheduled runs.
    paused: Option<bool>,
    order: Option<FleetOrder>,
    /// At most 1000; default: 100.
    limit: Option<u32>,
    offset: Option<u32>,
}

#[derive(Serialize, utoipa::ToSchema)]
pub(super) struct DeviceList {
    devices: Vec<FleetDevice>,
    /// Number of selected devices.
    total: u32,
}

/// List devices
#[utoipa::path(get, path = "/devices", tag = "devices", params(DevicesQuery),
    responses((status = 200, body = DeviceList)))]
pub(super) async fn list(
    State(state): State<WebState>,
    sender: Sender,
    Query(query): Query<DevicesQuery>,
) -> ApiAnswer<DeviceList> {
    let filter = FleetFilter {
        name: query.name,
        names: selected(&state, &sender, query.target.as_deref())?,
        status: query.status,
        result: query.result,
        platform: query.platform,
        site: query.site,
        has_drift: query.drift.unwrap_or_default(),
        is_unreachable: query.unreachable.unwrap_or_default(),
        is_paused: query.paused.unwrap_or_default(),
        order: query.order.unwrap_or_default(),
        limit: limit(query.limit),
        offset: query.offset.unwrap_or_default(),
    };
    let list = state.read(&sender.0, move |reader| {
        Ok(DeviceList {
            devices: reader.fleet(&filter)?,
            total: reader.fleet_size(&filter)?,
        })
    });
    Ok(Json(list.await?))
}

#[derive(Serialize, utoipa::ToSchema)]
pub(super) struct DeviceDetail {
    #[serde(flatten)]
    device: FleetDevice,
    /// The facts of the last run that read them.
    facts: Option<FactSet>,
    /// Resources that differ from the catalog.
    differences: Vec<DriftEntry>,
}

/// Show a device
#[utoipa::path(get, path = "/devices/{name}", tag = "devices", params(("name" = String, Path)),
    responses((status = 200, body = DeviceDetail), (status = 404, body = ErrorBody)))]
pub(super) async fn one(
    State(state): State<WebState>,
    sender: Sender,
    Path(name): Path<String>,
) -> ApiAnswer<DeviceDetail> {
    let device = name.clone();
    let found = state.read(&sender.0, move |reader| {
        let Some(found) = reader.fleet_device(&device)? else {
            return Ok(None);
        };
        Ok(Some(DeviceDetail {
            device: found,
            facts: reader.facts(&device, None)?,
            differences: reader.drift(&DriftFilter {
                device: Some(device.clone()),
                is_open: true,
                limit: MAX_LIMIT,
                ..DriftFilter::default()
            })?,
        }))
    });
    let found = found.await?;
    found.map(Json).ok_or_else(|| WebState::no_device(&name))
}

#[derive(Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct PageQuery {
    /// At most 1000; default: 100.
    limit: Option<u32>,
    offset: Option<u32>,
}

#[derive(Serialize, utoipa::ToSchema)]
pub(super) struct ResourceList {
    resources: Vec<ManagedResource>,
    /// Number of all resources.
    total: u32,
}

/// List the resources of a device
#[utoipa::path(get, path = "/devices/{name}/resources", tag = "devices",
    params(("name" = String, Path), PageQuery),
    responses((status = 200, body = ResourceList), (status = 404, body = ErrorBody)))]
pub(super) async fn resources(
    State(state): State<WebState>,
    sender: Sender,
    Path(name): Path<String>,
    Query(query): Query<PageQuery>,
) -> ApiAnswer<ResourceList> {
    state.require_device(&sender.0, &name).await?;
    let list = state.read(&sender.0, move |reader| {
        let offset = query.offset.unwrap_or_default();
        Ok(ResourceList {
            resources: reader.resources(&name, limit(query.limit), offset)?,
            total: reader.count_resources(&name, "")?,
        })
    });
    Ok(Json(list.await?))
}

#[derive(Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct ResourceHistoryQuery {
    /// The resource, such as `Network_vlan[10]`.
    reference: String,
    /// Only runs before this one, for paging.
    before: Option<i64>,
    /// At most 1000; default: 100.
    limit: Option<u32>,
}

#[derive(Serialize, utoipa::ToSchema)]
pub(super) struct ResourceRunList {
    runs: Vec<ResourceRun>,
}

/// List the runs in which a resource was not unchanged, newest first
#[utoipa::path(get, path = "/devices/{name}/resource", tag = "devices",
    params(("name" = String, Path), ResourceHistoryQuery),
    responses((status = 200, body = ResourceRunList), (status = 404, body = ErrorBody)))]
pub(super) async fn resource(
    State(state): State<WebState>,
    sender: Sender,
    Path(name): Path<String>,
    Query(query): Query<ResourceHistoryQuery>,
) -> ApiAnswer<ResourceRunList> {
    state.require_device(&sender.0, &name).await?;
    let list = state.read(&sender.0, move |reader| {
        let (before, limit) = (query.before.map(RunId), limit(query.limit));
        let runs = reader.resource_history(Some(&name), &query.reference, before, limit)?;
        Ok(ResourceRunList { runs })
    });
    Ok(Json(list.await?))
}

#[derive(Serialize, utoipa::ToSchema)]
pub(super) struct ConfigurationList {
    configurations: Vec<ConfigurationVersion>,
}

/// List the versions of the running configuration, newest first
#[utoipa::path(get, path = "/devices/{name}/configurations", tag = "configurations",
    params(("name" = String, Path), PageQuery),
    responses((status = 200, body = ConfigurationList), (status = 404, body = ErrorBody)))]
pub(super) async fn configurations(
    State(state): State<WebState>,
    sender: Sender,
    Path(name): Path<String>,
    Query(query): Query<PageQuery>,
) -> ApiAnswer<ConfigurationList> {
    state.require_device(&sender.0, &name).await?;
    let list = state.read(&sender.0, move |reader| {
        let offset = query.offset.unwrap_or_default();
        let configurations = reader.configurations(&name, limit(query.limit), offset)?;
        Ok(ConfigurationList { configurations })
    });
    Ok(Json(list.await?))
}

#[derive(Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct TimeQuery {
    /// Default: now.
    #[param(value_type = Option<String>, format = DateTime)]
    at: Option<Timestamp>,
}

#[derive(Serialize, utoipa::ToSchema)]
pub(super) struct ConfigurationText {
    #[serde(flatten)]
    version: ConfigurationVersion,
    /// The configuration with masked secrets.
    text: String,
}

/// Show the running configuration at a time
#[utoipa::path(get, path = "/devices/{name}/configuration", tag = "configurations",
    params(("name" = String, Path), TimeQuery),
    responses((status = 200, body = ConfigurationText), (status = 404, body = ErrorBody)))]
pub(super) async fn configuration(
    State(state): State<WebState>,
    sender: Sender,
    Path(name): Path<String>,
    Query(query): Query<TimeQuery>,
) -> ApiAnswer<ConfigurationText> {
    state.require_device(&sender.0, &name).await?;
    let at = query.at.unwrap_or(Timestamp::MAX);
    let found = state
        .read(&sender.0, move |reader| reader.configuration_at(&name, at))
        .await?;
    let none = || WebError::not_found("no configuration of the device was read until then");
    let (version, text) = found.ok_or_else(none)?;
    Ok(Json(ConfigurationText { version, text }))
}

#[derive(Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct DifferenceQuery {
    #[param(value_type = String, format = DateTime)]
    from: Timestamp,
    /// Default: now.
    #[param(value_type = Option<String>, format = DateTime)]
    to: Option<Timestamp>,
}

#[derive(Serialize, utoipa::ToSchema)]
pub(super) struct ConfigurationDifference {
    /// Unified difference. Empty: there is none.
    pub(super) configuration_difference: String,
}

/// Compare the running configurations at two times
#[utoipa::path(get, path = "/devices/{name}/difference", tag = "configurations",
    params(("name" = String, Path), DifferenceQuery),
    responses((status = 200, body = ConfigurationDifference), (status = 404, body = ErrorBody)))]
pub(super) async fn difference(
    State(state): State<WebState>,
    sender: Sender,
    Path(name): Path<String>,
    Query(query): Query<DifferenceQuery>,
) -> ApiAnswer<ConfigurationDifference> {
    state.require_device(&sender.0, &name).await?;
    let to = query.to.unwrap_or(Timestamp::MAX);
    let read = state.read(&sender.0, move |reader| {
        reader.configuration_difference(&name, query.from, to)
    });
    Ok(Json(ConfigurationDifference {
        configuration_difference: read.await?,
    }))
}
