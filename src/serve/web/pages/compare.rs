//! The difference between the newest configurations of two devices.

use askama::Template;
use axum::extract::{RawQuery, State};

use super::{RenderedPage, render};
use crate::serve::web::layout::{PageLayout, Sender};
use crate::serve::web::shared_views::{DiffLine, device_path, diff_lines, seconds};
use crate::serve::web::state::WebState;

#[derive(Template)]
#[template(path = "compare.html")]
struct ComparePage {
    layout: PageLayout,
    /// The names that can be chosen.
    names: Vec<String>,
    chosen: [String; 2],
    problem: Option<String>,
    sides: Vec<ComparedSide>,
    lines: Vec<DiffLine>,
}

/// A device of the comparison, with the time of its configuration.
struct ComparedSide {
    name: String,
    path: String,
    time: String,
}

pub(super) async fn page(
    State(state): State<WebState>,
    sender: Sender,
    RawQuery(query): RawQuery,
) -> RenderedPage {
    let mut devices = devices(query.as_deref().unwrap_or_default());
    let count = devices.len();
    devices.resize(2, String::new());
    let [from, to] = [devices.swap_remove(0), devices.swap_remove(0)];
    let mut page = ComparePage {
        layout: PageLayout::new(&sender.0, "Compare", "/compare"),
        names: (state.service(&sender.0).devices().into_iter())
            .map(|device| device.name)
            .collect(),
        chosen: [from.clone(), to.clone()],
        problem: (count > 2).then(|| format!("{count} devices are selected; two are compared")),
        sides: Vec::new(),
        lines: Vec::new(),
    };
    page.names
        .sort_by(|a, b| crate::natural_order::compare(a, b));
    if count < 2 {
        return render(&page);
    }
    for name in [&from, &to] {
        state.require_device(&sender.0, name).await?;
    }
    let names = [from, to];
    let read = state.read(&sender.0, move |reader| {
        let mut times = Vec::new();
        for name in &names {
            let versions = reader.configurations(name, 1, 0)?;
            times.push((name.clone(), versions.first().map(|version| version.time)));
        }
        let difference = reader.device_difference(&names[0], &names[1])?;
        Ok((times, difference))
    });
    let (times, difference) = read.await?;
    if let Some((name, _)) = times.iter().find(|(_, time)| time.is_none()) {
        page.problem = Some(format!("no configuration of {name} is stored"));
        return render(&page);
    }
    page.lines = diff_lines(&difference);
    page.sides = times
        .into_iter()
        .map(|(name, time)| ComparedSide {
            path: device_path(&name),
            time: time.map(seconds).unwrap_or_default(),
            name,
        })
        .collect();
    render(&page)
}

/// The names of the devices. Fields of a form that are empty name none.
fn devices(query: &str) -> Vec<String> {
    form_urlencoded::parse(query.as_bytes())
        .filter(|(name, value)| name == "device" && !value.is_empty())
        .map(|(_, value)| value.into_owned())
        .collect()
}
