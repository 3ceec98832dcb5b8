//! Reads one collection for each parent: first the list of the parents, then all collections at once.

use std::sync::Arc;

use serde_json::Value as Json;
use tokio::task::JoinSet;

use super::client::RestClient;
use super::read_collection;
use crate::read::ReadRequest;
use crate::read::parents::ParentRead;
use crate::session::error::SessionErrorKind;

/// The collections of all parents as one answer.
pub(super) async fn read_parents(
    client: &Arc<RestClient>,
    request: &ReadRequest,
    parents: &ParentRead,
) -> Result<String, SessionErrorKind> {
    let list = read_collection(client, &parents.list).await?;
    let found = parents.parents(&list);
    let found = found.map_err(|reason| SessionErrorKind::InvalidAnswer {
        command: format!("GET {}", parents.list.command),
        reason,
    })?;
    let mut reads = JoinSet::new();
    for (index, parent) in found.iter().enumerate() {
        let client = Arc::clone(client);
        let request = ReadRequest {
            command: parent.path(&request.command),
            answer: parents.answer.clone(),
            parents: None,
            ..request.clone()
        };
        // The client limits concurrent requests.
        reads.spawn(async move { (index, read_collection(&client, &request).await) });
    }
    let mut answers: Vec<Option<String>> = vec![None; found.len()];
    while let Some(joined) = reads.join_next().await {
        let (index, result) = joined.map_err(|error| SessionErrorKind::InvalidAnswer {
            command: String::new(),
            reason: format!("internal error of a read: {error}"),
        })?;
        // An empty text: the device has no collection for the parent.
        answers[index] = Some(result?).filter(|text| !text.is_empty());
    }
    let elements = found.into_iter().zip(&answers);
    let elements = elements.map(|(parent, answer)| parent.element(answer.as_deref()));
    Ok(elements.collect::<Json>().to_string())
}
