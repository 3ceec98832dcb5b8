//! The branch with the accepted drift of a device.

use askama::Template;

use super::{RenderedPage, render};
use crate::serve::accept_drift::AcceptedDrift;
use crate::serve::access::Principal;
use crate::serve::web::layout::PageLayout;
use crate::serve::web::shared_views::{DiffLine, device_path, diff_lines};

#[derive(Template)]
#[template(path = "accepted_drift.html")]
struct AcceptedDriftPage {
    layout: PageLayout,
    device: String,
    device_path: String,
    branch: String,
    commit: String,
    accepted: Vec<String>,
    left: Vec<String>,
    difference: Vec<DiffLine>,
}

pub(in crate::serve::web) fn page(
    sender: &Principal,
    device: &str,
    accepted: &AcceptedDrift,
) -> RenderedPage {
    render(&AcceptedDriftPage {
        layout: PageLayout::new(sender, &format!("Drift of {device}"), "/"),
        device: device.to_owned(),
        device_path: device_path(device),
        branch: accepted.branch.clone().unwrap_or_default(),
        commit: accepted.commit.clone().unwrap_or_default(),
        accepted: accepted.accepted.clone(),
        left: accepted.left.clone(),
        difference: diff_lines(&accepted.patch),
    })
}
