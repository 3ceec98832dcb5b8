//! The runs of all devices, newest first.

use askama::Template;
use axum::extract::{Query, State};
use serde::Deserialize;

use super::fleet_query::unknown;
use super::{RenderedPage, render};
use crate::history::RunId;
use crate::history::device_state::KnownDevice;
use crate::history::runs::RunFilter;
use crate::report::RunStatus;
use crate::serve::web::layout::{PageLayout, Sender};
use crate::serve::web::line_query::names;
use crate::serve::web::pager::{PAGE_SIZE, encode};
use crate::serve::web::select_option::{SelectOption, options};
use crate::serve::web::shared_views::RunRow;
use crate::serve::web::state::WebState;

#[derive(Template)]
#[template(path = "runs.html")]
struct RunsPage {
    layout: PageLayout,
    filter: RunsQuery,
    /// Why the filter has no meaning.
    problem: Option<String>,
    runs: Vec<RunRow>,
    no_runs: &'static str,
    names_devices: bool,
    /// The page with older runs.
    older: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct RunsQuery {
    /// An expression, or the name of a device that the inventory no longer has.
    #[serde(default)]
    target: String,
    #[serde(default)]
    status: String,
    before: Option<RunId>,
}

impl RunsQuery {
    fn statuses(&self) -> Vec<SelectOption> {
        let mut all = vec![("", "All runs"), ("notable", "Without unchanged")];
        all.extend(
            RunStatus::ALL
                .iter()
                .map(|status| (status.word(), status.word())),
        );
        options(all, Some(&self.status))
    }

    /// Why the filter has no meaning.
    fn problem(&self) -> Option<String> {
        let statuses = self.statuses();
        let is_known = statuses.iter().any(|option| option.value == self.status);
        let words = statuses.iter().map(|option| option.value.as_str());
        (!is_known).then(|| unknown("status", &self.status, words))
    }

    fn is_empty(&self) -> bool {
        self.target.trim().is_empty() && self.status.is_empty() && self.before.is_none()
    }

    /// # Errors
    /// The filter has no meaning.
    fn filter(&self, visible: &[KnownDevice]) -> Result<RunFilter, String> {
        if let Some(problem) = self.problem() {
            return Err(problem);
        }
        let names = names(&self.target, visible)?.map(Vec::from_iter);
        let is_unknown = names.as_ref().is_some_and(Vec::is_empty);
        Ok(RunFilter {
            device: is_unknown.then(|| self.target.trim().to_owned()),
            names: names.filter(|_| !is_unknown),
            status: self.status.parse().ok(),
            is_notable: self.status == "notable",
            before: self.before,
            limit: PAGE_SIZE as u32,
            ..RunFilter::default()
        })
    }

    fn path_before(&self, run: RunId) -> String {
        let (target, status) = (encode(self.target.trim()), encode(&self.status));
        format!("/runs?target={target}&status={status}&before={run}")
    }
}

pub(super) async fn page(
    State(state): State<WebState>,
    sender: Sender,
    Query(query): Query<RunsQuery>,
) -> RenderedPage {
    let (runs, problem) = match query.filter(&state.service(&sender.0).devices()) {
        Ok(filter) => {
            let read = state.read(&sender.0, move |reader| reader.runs(&filter));
            (read.await?, None)
        }
        // A filter without a meaning selects nothing.
        Err(problem) => (Vec::new(), Some(problem)),
    };
    let last = runs.last().filter(|_| runs.len() == PAGE_SIZE);
    render(&RunsPage {
        layout: PageLayout::new(&sender.0, "Runs", "/runs"),
        older: last.map(|run| query.path_before(run.id)),
        no_runs: if query.is_empty() {
            "There are no runs yet."
        } else {
            "No run matches the filter."
        },
        problem,
        filter: query,
        runs: runs.iter().map(RunRow::new).collect(),
        names_devices: true,
    })
}
