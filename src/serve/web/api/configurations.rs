//! The newest configurations of all devices: search and comparison.

use axum::Json;
use axum::extract::{Query, State};
use serde::Deserialize;

use super::ApiAnswer;
use super::devices::{ConfigurationDifference, limit};
use crate::history::configuration_search::FoundConfigurations;
use crate::serve::web::layout::Sender;
use crate::serve::web::line_query::LineQuery;
use crate::serve::web::state::WebState;
use crate::serve::web::web_error::{ErrorBody, WebError};

#[derive(Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct SearchQuery {
    /// Compared with each line, in any case.
    text: String,
    /// The text is a regular expression.
    regex: Option<bool>,
    /// Find the devices without such a line.
    absent: Option<bool>,
    /// An expression of names and labels, such as `sw[01-20], !sw7, role in (access, core)`.
    target: Option<String>,
    /// Number of devices, at most 1000; default: 100.
    limit: Option<u32>,
    offset: Option<u32>,
}

/// Search the newest configurations of all devices
#[utoipa::path(get, path = "/search", tag = "configurations", params(SearchQuery),
    responses((status = 200, body = FoundConfigurations)))]
pub(super) async fn search(
    State(state): State<WebState>,
    sender: Sender,
    Query(query): Query<SearchQuery>,
) -> ApiAnswer<FoundConfigurations> {
    if query.text.is_empty() {
        return Err(WebError::invalid("`text` is empty"));
    }
    let lines = LineQuery {
        text: &query.text,
        is_regex: query.regex.unwrap_or_default(),
        is_absent: query.absent.unwrap_or_default(),
        target: query.target.as_deref().unwrap_or_default(),
    };
    let visible = state.service(&sender.0).devices();
    let mut search = lines.search(&visible).map_err(WebError::invalid)?;
    search.limit = limit(query.limit) as usize;
    search.offset = query.offset.unwrap_or_default() as usize;
    let found = state.read(&sender.0, move |reader| {
        reader.search_configurations(&search)
    });
    Ok(Json(found.await?))
}

#[derive(Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct ComparisonQuery {
    /// The first device.
    from: String,
    /// The second device.
    to: String,
}

/// Compare the newest configurations of two devices
#[utoipa::path(get, path = "/comparison", tag = "configurations", params(ComparisonQuery),
    responses((status = 200, body = ConfigurationDifference), (status = 404, body = ErrorBody)))]
pub(super) async fn comparison(
    State(state): State<WebState>,
    sender: Sender,
    Query(query): Query<ComparisonQuery>,
) -> ApiAnswer<ConfigurationDifference> {
    for device in [&query.from, &query.to] {
        state.require_device(&sender.0, device).await?;
    }
    let read = state.read(&sender.0, move |reader| {
        for device in [&query.from, &query.to] {
            if reader.configurations(device, 1, 0)?.is_empty() {
                return Ok(Err(device.clone()));
            }
        }
        Ok(Ok(reader.device_difference(&query.from, &query.to)?))
    });
    match read.await? {
        Ok(configuration_difference) => Ok(Json(ConfigurationDifference {
            configuration_difference,
        })),
        Err(device) => {
            let text = format!("no configuration of {device} is stored");
            Err(WebError::not_found(text))
        }
    }
}
