//! The published releases, and the nodes that have them.

use askama::Template;
use axum::extract::State;

use super::{RenderedPage, render};
use crate::history::releases::ReleaseEntry;
use crate::serve::web::layout::{PageLayout, Sender};
use crate::serve::web::state::WebState;

#[derive(Template)]
#[template(path = "releases.html")]
struct ReleasesPage {
    layout: PageLayout,
    releases: Vec<ReleaseEntry>,
}

pub(super) async fn page(State(state): State<WebState>, sender: Sender) -> RenderedPage {
    render(&ReleasesPage {
        layout: PageLayout::new(&sender.0, "Releases", "/"),
        releases: state.releases(&sender.0).await?,
    })
}
