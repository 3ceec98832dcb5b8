//! The nodes, sites and shards of the fleet.

use askama::Template;
use axum::extract::State;

use super::{RenderedPage, render};
use crate::serve::lease::fleet_status::{FleetStatus, NodeStatus};
use crate::serve::web::layout::{PageLayout, Sender};
use crate::serve::web::state::WebState;

#[derive(Template)]
#[template(path = "nodes.html")]
struct NodesPage {
    layout: PageLayout,
    nodes: Vec<NodeTableRow>,
    sites: Vec<SiteTableRow>,
    tasks: Vec<(String, String)>,
    late_runs: u64,
    problems: Vec<String>,
    warnings: Vec<String>,
}

struct NodeTableRow {
    node: NodeStatus,
    sites: String,
    release: String,
}

struct SiteTableRow {
    name: String,
    shards: String,
    lateness_seconds: i64,
    guarantees: String,
    /// The owners, as `NODE (N)`.
    owners: String,
}

pub(super) async fn page(State(state): State<WebState>, sender: Sender) -> RenderedPage {
    let FleetStatus {
        nodes,
        sites,
        tasks,
        late_runs,
        problems,
        warnings,
    } = state.fleet_status(&sender.0).await?;
    let nodes = nodes.into_iter().map(|node| NodeTableRow {
        sites: if node.sites.is_empty() {
            "all other sites".to_owned()
        } else {
            node.sites.join(", ")
        },
        release: node
            .release
            .map(|release| release.to_string())
            .unwrap_or_default(),
        node,
    });
    let sites = sites.into_iter().map(|site| {
        let guarantees = site.guarantee_counts();
        let mut counts = std::collections::BTreeMap::new();
        for shard in site.owners {
            let owner = shard.owner.unwrap_or_else(|| "free".to_owned());
            *counts.entry(owner).or_insert(0_u32) += 1;
        }
        let owners = counts
            .into_iter()
            .map(|(owner, count)| format!("{owner} ({count})"));
        let next = site
            .next_shards
            .map(|next| format!(", {next} soon"))
            .unwrap_or_default();
        SiteTableRow {
            name: site.name,
            shards: format!("{}{next}", site.shards),
            lateness_seconds: site.lateness_seconds,
            guarantees,
            owners: owners.collect::<Vec<_>>().join(", "),
        }
    });
    let tasks = tasks.into_iter().map(|task| {
        let owner = task.owner.unwrap_or_else(|| "free".to_owned());
        (task.task.to_string(), owner)
    });
    render(&NodesPage {
        layout: PageLayout::new(&sender.0, "Nodes", "/"),
        nodes: nodes.collect(),
        sites: sites.collect(),
        tasks: tasks.collect(),
        late_runs,
        problems,
        warnings,
    })
}
