//! `[tasks]`: requests that a device continues after its answer.

use std::time::Duration;

use serde_json::Value as Json;
use switchtender_outline::TaskShape;

use super::page_rules::local_path;
use crate::document::{Item, KeyValue, ValueShape, keys};
use crate::operation::Method;
use crate::operation::outline::{NameEncoding, PathPart, request_shape};
use crate::read::field_path::{FieldPath, scalar_text};

/// How a device continues a request after its answer.
#[derive(Clone, Debug)]
pub(crate) struct TaskRules {
    /// The identifier of the task in the answer, or a link to it. Answers without it are final.
    id: FieldPath,
    /// The path of the task, with the placeholder `{id}`; `None`: the identifier is a link.
    path: Option<String>,
    /// The state in the answer of that path.
    state: FieldPath,
    done: Vec<String>,
    failed: Vec<String>,
    /// The longest pause between two reads of the state.
    pub(crate) interval: Duration,
    /// The longest time of a task.
    pub(crate) limit: Duration,
}

/// The state of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TaskState {
    Running,
    Done,
    Failed,
}

const INTERVAL: u64 = 2;
const LIMIT: u64 = 600;
/// The placeholder of the identifier.
const ID: &str = "{id}";

keys! {
    /// Requests that a device continues after its answer.
    pub(crate) struct TaskKeys {
        /// Path of the identifier in the answer.
        id: FieldPath,
        /// Path of the task, with `{id}`; without it the identifier is a link.
        path: Option<TaskPath>,
        /// Path of the state in the answer.
        state: FieldPath,
        /// States of success.
        done: Vec<String>,
        /// States of failure.
        failed: Vec<String>,
        /// Seconds between two reads of the state, at most.
        interval: u64 = INTERVAL,
        /// Longest time of a task, in seconds.
        limit: u64 = LIMIT,
    }
}

/// The path of a task.
#[derive(Clone, Debug)]
pub(crate) struct TaskPath(String);

impl KeyValue for TaskPath {
    fn declare(shape: &ValueShape) {
        String::declare(shape);
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        let path = item.string_with(&["id"])?;
        if !path.contains(ID) {
            let message = "`path` of a task requires the placeholder `{id}`";
            item.error("tasks", message);
        }
        Some(Self(path))
    }
}

impl From<TaskKeys> for TaskRules {
    fn from(keys: TaskKeys) -> Self {
        Self {
            id: keys.id,
            path: keys.path.map(|path| path.0),
            state: keys.state,
            done: keys.done,
            failed: keys.failed,
            interval: Duration::from_secs(keys.interval),
            limit: Duration::from_secs(keys.limit),
        }
    }
}

impl TaskRules {
    /// The requests and the states, for a mock.
    pub(crate) fn outline(&self) -> TaskShape {
        let request = self.path.as_ref().map(|path| {
            let (before, after) = path.split_once(ID).unwrap_or((path, ""));
            let id = PathPart::Name("id", NameEncoding::Segment);
            let parts = [PathPart::Literal(before), id, PathPart::Literal(after)];
            request_shape(Method::Get, &parts)
        });
        let first = |words: &[String]| words.first().cloned().unwrap_or_default();
        let mut running = "running".to_owned();
        while self.done.contains(&running) || self.failed.contains(&running) {
            running.push('x');
        }
        TaskShape {
            id: self.id.outline(),
            request,
            state: self.state.outline(),
            states: [running, first(&self.done), first(&self.failed)],
        }
    }

    /// The path of the task that an answer names.
    pub(crate) fn task_in(&self, answer: &str) -> Option<String> {
        let answer: Json = serde_json::from_str(answer).ok()?;
        let id = scalar_text(self.id.get(&answer)?)?;
        match &self.path {
            Some(path) => {
                let is_name = |c: char| c.is_ascii_alphanumeric() || "-_.~".contains(c);
                let is_segment = !id.is_empty() && id.chars().all(is_name) && id != "..";
                is_segment.then(|| path.replace(ID, &id))
            }
            None => local_path(&id),
        }
    }

    /// The state of a task; `None` if it is not a declared one.
    pub(crate) fn state_in(&self, answer: &str) -> TaskState {
        let answer: Json = serde_json::from_str(answer).unwrap_or_default();
        let state = self.state.get(&answer).and_then(scalar_text);
        let is_in = |words: &[String]| state.as_ref().is_some_and(|state| words.contains(state));
        match (is_in(&self.done), is_in(&self.failed)) {
            (true, _) => TaskState::Done,
            (_, true) => TaskState::Failed,
            _ => TaskState::Running,
        }
    }
}
