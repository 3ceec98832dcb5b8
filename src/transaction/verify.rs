//! Verification: after the last resource, the resources that the run set are read once more, and with them others
//! that needed no change.
//!
//! A difference changes the status of its resource after the fact. Dependents have run already, so
//! the event names them.

use std::collections::VecDeque;
use std::sync::Arc;

use foldhash::{HashMap, HashSet};
use switchtender_devices::provider::{Difference, DifferenceCause};
use switchtender_devices::value::{Name, Value};

use crate::catalog::node::NodeId;
use crate::catalog::{Level, ResourceRef};
use crate::graph::Vertex;

use super::event::{Event, EventStatus, ResourceStatus, RunEvent};
use super::property_event::REDACTED;
use super::run::Transaction;

/// Maximum number of dependents in a message.
const NAMED_DEPENDENTS: usize = 10;

/// Statuses of evaluated resources that were not skipped.
#[derive(Default)]
pub(super) struct EvaluatedResources(HashMap<NodeId, Arc<ResourceStatus>>);

impl EvaluatedResources {
    pub(super) fn add(&mut self, node: NodeId, status: &Arc<ResourceStatus>) {
        if status.skipped.is_none() {
            self.0.insert(node, Arc::clone(status));
        }
    }

    pub(super) fn status(&self, node: NodeId) -> Option<&ResourceStatus> {
        self.0.get(&node).map(Arc::as_ref)
    }

    fn by_reference(&self) -> HashMap<&str, NodeId> {
        let all = self.0.iter();
        all.map(|(node, status)| (status.reference.as_str(), *node))
            .collect()
    }
}

impl Transaction<'_> {
    /// Reads the resources that the run set. Each difference fails its resource, and also one without
    /// a change.
    pub(super) async fn verify(&mut self) {
        let was_disconnected = self.provider.disconnected().is_some();
        match self.provider.verify().await {
            Ok(differences) => self.fail_differing(&differences),
            Err(_) if was_disconnected => self.log(
                Level::Warning,
                "the changes before the connection broke are not verified",
            ),
            Err(error) => {
                let reason = format!("cannot verify the changes: {error}");
                self.log(Level::Err, reason.clone());
                self.sink.emit(RunEvent::Unverified { reason });
            }
        }
    }

    fn fail_differing(&mut self, differences: &[Difference]) {
        if differences.is_empty() {
            return;
        }
        let nodes = self.progress.evaluated.by_reference();
        let of_resources = differences.chunk_by(|one, next| one.reference == next.reference);
        let found: Vec<(NodeId, &[Difference])> = of_resources
            .filter_map(|all| Some((*nodes.get(&*all[0].reference)?, all)))
            .collect();
        let mut failed = 0;
        for (node, differences) in found {
            if differences[0].cause == DifferenceCause::PredictedSideEffect {
                self.warn_about_side_effects(node, differences);
            } else {
                failed += differences.len();
                self.fail_verification(node, differences);
            }
        }
        let attributes = match failed {
            0 => return,
            1 => "1 attribute does".to_owned(),
            count => format!("{count} attributes do"),
        };
        self.log(
            Level::Err,
            format!("verification failed: {attributes} not have the desired value"),
        );
    }

    fn warn_about_side_effects(&mut self, node: NodeId, differences: &[Difference]) {
        let Some((vertex, _)) = self.graph.ends(node) else {
            return;
        };
        for difference in differences {
            let attribute = &difference.attribute;
            let (desired, found) = (difference.desired.display(), difference.found.display());
            let text = format!(
                "{attribute} is {desired}, and the changes of other resources would make it {found}"
            );
            self.log_property(vertex, attribute, Level::Warning, text);
        }
    }

    fn fail_verification(&mut self, node: NodeId, differences: &[Difference]) {
        let Some(previous) = self.progress.evaluated.0.get(&node).cloned() else {
            return;
        };
        let dependents = self.evaluated_dependents(node);
        let mut status = (*previous).clone();
        let last = differences.len() - 1;
        for (index, difference) in differences.iter().enumerate() {
            let (attribute, found) = (&difference.attribute, difference.found.display());
            let desired = difference.desired.display();
            let mut message = match difference.cause {
                DifferenceCause::NotApplied => format!(
                    "verification failed: {attribute} was set to {desired}, and the device has {found}"
                ),
                DifferenceCause::SideEffect | DifferenceCause::PredictedSideEffect => format!(
                    "verification failed: {attribute} was {desired} before the changes of the run, and the device \
                     has {found}"
                ),
            };
            if index == last && !dependents.is_empty() {
                message.push_str("; dependents that ran: ");
                message.push_str(&list(&dependents));
            }
            if let Some((vertex, _)) = self.graph.ends(node) {
                let (property, text) = (&difference.attribute, message.clone());
                self.log_property(vertex, property, Level::Err, text);
            }
            status.add(self.verification_event(difference, message));
        }
        let index = self.memory.index_of(&status.reference.shared());
        for (of, history) in &mut self.progress.histories {
            if *of == index {
                history.remove(|property| is_one_of(property, differences));
            }
        }
        self.sink.emit(RunEvent::Amended {
            previous,
            status: Arc::new(status),
        });
    }

    fn verification_event(&self, difference: &Difference, message: String) -> Event {
        let sensitive = matches!(difference.desired, Value::Sensitive(_))
            || matches!(difference.found, Value::Sensitive(_));
        let redact = |value: &Value| {
            if sensitive && *value != Value::Undef {
                REDACTED.into()
            } else {
                value.clone()
            }
        };
        Event {
            property: Some(difference.attribute.clone()),
            previous_value: Some(redact(&difference.found)),
            desired_value: Some(redact(&difference.desired)),
            redacted: sensitive.then_some(true),
            ..self.new_event("verification_failed", EventStatus::Failure, message)
        }
    }

    /// The resources that were evaluated and depend on a resource, directly or indirectly.
    fn evaluated_dependents(&self, node: NodeId) -> Vec<ResourceRef> {
        let Some((_, start)) = self.graph.ends(node) else {
            return Vec::new();
        };
        let mut seen = HashSet::default();
        let mut queue = VecDeque::from([start]);
        let mut dependents = Vec::new();
        while let Some(id) = queue.pop_front() {
            for (target, _) in self.graph.edges.outgoing(id) {
                if !seen.insert(target) {
                    continue;
                }
                queue.push_back(target);
                if let Vertex::Resource(node) = self.graph.vertex(target)
                    && let Some(status) = self.progress.evaluated.0.get(&node)
                {
                    dependents.push(status.reference.clone());
                }
            }
        }
        dependents
    }
}

fn is_one_of(property: &Name, differences: &[Difference]) -> bool {
    let mut differences = differences.iter();
    differences.any(|difference| difference.attribute == *property)
}

fn list(references: &[ResourceRef]) -> String {
    let named = references.iter().take(NAMED_DEPENDENTS);
    let mut text = named
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(", ");
    if let Some(more @ 1..) = references.len().checked_sub(NAMED_DEPENDENTS) {
        text.push_str(&format!(" and {more} more"));
    }
    text
}
