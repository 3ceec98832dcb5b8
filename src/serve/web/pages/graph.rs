//! The graph of a device's catalog.

use askama::Template;
use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};

use super::device_head::DeviceHead;
use super::{RenderedPage, render};
use crate::serve::web::layout::{PageLayout, Sender};
use crate::serve::web::state::WebState;
use crate::serve::web::web_error::WebError;

#[derive(Template)]
#[template(path = "device_graph.html")]
struct GraphPage {
    layout: PageLayout,
    head: DeviceHead,
    /// The path of the image, or why there is none.
    graph: Result<String, String>,
}

pub(super) async fn page(
    State(state): State<WebState>,
    sender: Sender,
    Path(name): Path<String>,
) -> RenderedPage {
    let device = name.clone();
    let found = state
        .read(&sender.0, move |reader| reader.fleet_device(&device))
        .await?;
    let device = found.ok_or_else(|| WebState::no_device(&name))?;
    let head = DeviceHead::new(&state, &sender.0, &device, "/graph");
    let graph = state.service(&sender.0).graph(&name).await;
    render(&GraphPage {
        layout: PageLayout::new(&sender.0, &name, "/"),
        graph: graph.map(|_| format!("{}/graph.svg", head.path)),
        head,
    })
}

pub(super) async fn image(
    State(state): State<WebState>,
    sender: Sender,
    Path(name): Path<String>,
) -> Result<Response, WebError> {
    let svg = state.service(&sender.0).graph(&name).await;
    let svg = svg.map_err(WebError::not_found)?;
    // The image has a style of its own.
    let headers = [
        (header::CONTENT_TYPE, "image/svg+xml"),
        (
            header::CONTENT_SECURITY_POLICY,
            "default-src 'none'; style-src 'unsafe-inline'",
        ),
    ];
    Ok((headers, svg).into_response())
}
