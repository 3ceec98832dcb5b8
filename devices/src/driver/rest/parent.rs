//! Objects in the body of a parent, which has the path of the requests: the parent is written with one of
//! its objects added, changed or removed. All else of the parent is sent as it was read.

use super::read_requests::collections;
use super::writer::{RequestWriter, error};
use crate::driver::implementation::RenderError;
use crate::driver::json_body::Body;
use crate::operation::{Action, Operation, Precondition};
use crate::read::Parsed;

impl RequestWriter<'_> {
    /// The request that writes the parent with the change.
    pub(super) fn write_parent(&self) -> Result<Vec<Operation>, RenderError> {
        let rule = &self.definition.instance;
        let unread = || error("ensure", "the list of its parents was not read");
        let collection = collections(self.definition).into_iter().next();
        let read = collection.ok_or_else(unread)?.read;
        let Some(Parsed::Json(answer)) = self.state.get(&read) else {
            return Err(unread());
        };
        let rows = rule.rows.as_ref().ok_or_else(unread)?;
        let (parents, inner) = rows.split_at(rule.parent_levels);
        let path = self.position_in(answer)?;
        // Each list has its path, and its element one step.
        let steps = parents.iter().map(|list| list.location().steps().len() + 1);
        let (path, object) = path.split_at(steps.sum());
        let parent = path.get(answer).ok_or_else(unread)?;
        let mut body = self.with_change(parent, &object)?;
        let update = &rule.update;
        if !update.is_complete {
            let mut changed = Body::object();
            changed.put(inner.location(), body.take(inner.location()));
            body = changed;
        }
        self.put_body(&mut body, &update.fields, None)?;
        let body = body.inside(&rule.envelope);
        let path = self.path(&rule.object, None)?;
        let attributes = self.written_attributes();
        let mut operation = self.request(attributes, update.method, path, Some(body));
        if rule.has_etag
            && let Action::Request(request) = &mut operation.action
        {
            request.precondition = Precondition::Unchanged(parent.clone());
        }
        Ok(vec![operation])
    }
}
