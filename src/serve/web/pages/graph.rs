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
use crate::store::blocking_io;

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
        .read(move |reader| reader.fleet_device(&device))
        .await?;
    let device = found.ok_or_else(|| WebState::no_device(&name))?;
    let head = DeviceHead::new(&state, &device, "/graph");
    let graph = draw(&state, name.clone()).await;
    render(&GraphPage {
        layout: PageLayout::new(&state.guard, &sender.0, &name, "/"),
        graph: graph.map(|_| format!("{}/graph.svg", head.path)),
        head,
    })
}

pub(super) async fn image(
    State(state): State<WebState>,
    Path(name): Path<String>,
) -> Result<Response, WebError> {
    let svg = draw(&state, name).await.map_err(WebError::not_found)?;
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

async fn draw(state: &WebState, name: String) -> Result<String, String> {
    let fleet = state.service.fleet();
    blocking_io::run(move || fleet.graph(&name)).await
}
