//! Requests that the device continues after its answer. A task runs until its state is read once.

use serde_json::Value;
use switchtender_outline::{JsonPath, TaskShape};

use crate::json_path::Locate as _;
use crate::rest_request::{CompiledRequest, RestRequest};
use crate::shape_pattern::InvalidShape;

/// The beginning of the links to tasks, if the identifier is a link.
const LINKS: &str = "/tasks/";

/// The tasks of a device.
#[derive(Debug)]
pub(super) struct Tasks {
    shape: TaskShape,
    request: Option<CompiledRequest>,
    all: Vec<Task>,
}

#[derive(Debug)]
struct Task {
    /// The message of a task that fails.
    failure: Option<String>,
    was_read: bool,
}

impl Tasks {
    pub(super) fn new(shape: &TaskShape) -> Result<Self, InvalidShape> {
        let request = shape.request.as_ref().map(CompiledRequest::new);
        Ok(Self {
            shape: shape.clone(),
            request: request.transpose()?,
            all: Vec::new(),
        })
    }

    /// Adds a task with this result, and its identifier to the answer of its request.
    pub(super) fn add(&mut self, failure: Option<String>, answer: &mut Value) {
        self.all.push(Task {
            failure,
            was_read: false,
        });
        let id = self.all.len().to_string();
        let id = if self.request.is_some() {
            id
        } else {
            format!("{LINKS}{id}")
        };
        *self.shape.id.get_or_insert(answer) = id.into();
    }

    /// The answer to the read of a task; `None` for another request.
    pub(super) fn read(
        &mut self,
        request: &RestRequest,
        (common, done, message): (&[String], &Value, &JsonPath),
    ) -> Option<Value> {
        let id = match &self.request {
            Some(shape) => shape.names(request, common)?.remove("id")?,
            None => request.path.strip_prefix(LINKS)?.to_owned(),
        };
        let index = id.parse::<usize>().ok()?.checked_sub(1)?;
        let task = self.all.get_mut(index)?;
        let [running, ended, failed] = &self.shape.states;
        let state = match (task.was_read, &task.failure) {
            (false, _) => running,
            (true, None) => ended,
            (true, Some(_)) => failed,
        };
        let mut answer = done.clone();
        *self.shape.state.get_or_insert(&mut answer) = state.clone().into();
        if let (true, Some(text)) = (task.was_read, &task.failure) {
            *message.get_or_insert(&mut answer) = text.clone().into();
        }
        task.was_read = true;
        Some(answer)
    }
}
