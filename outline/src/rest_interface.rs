//! The structure of a REST interface: its answers, and the requests that change them.

use serde_json::Value as Json;

use super::{FieldShape, JsonPath, RequestShape, RestSession};

/// The structure of a REST interface.
#[derive(Clone, Debug, Default)]
pub struct RestInterface {
    /// Login and errors.
    pub session: RestSession,
    /// Parameters that each request must have.
    pub parameters: Vec<(String, String)>,
    /// What reads return.
    pub answers: Vec<AnswerShape>,
    /// The objects in the answers.
    pub objects: Vec<ObjectShape>,
    /// Documents that are written as a whole.
    pub documents: Vec<DocumentShape>,
    /// Requests that change nothing that a read returns.
    pub accepted: Vec<RequestShape>,
    /// How lists are divided.
    pub pages: Option<PageShape>,
    /// How requests continue after their answer.
    pub tasks: Option<TaskShape>,
    /// How changes take effect.
    pub candidate: Option<CandidateShape>,
    /// The number of the configuration that changes name.
    pub version: Option<VersionShape>,
    /// The body of the answer to a change.
    pub done: Json,
    /// The body of a refusal, without the message.
    pub refused: Json,
    /// The message about an object that does not exist.
    pub missing: String,
}

/// What a read returns.
#[derive(Clone, Debug)]
pub struct AnswerShape {
    /// Name of the read.
    pub name: String,
    /// The read.
    pub request: RequestShape,
    /// The answer at the start.
    pub content: Json,
    /// The list of objects in it.
    pub rows: Option<JsonPath>,
    /// While the list is empty, the status is 404.
    pub is_optional: bool,
    /// The read returns a part of the content, which is a list with one for each parent.
    pub part: Option<PartShape>,
}

/// The answer for one parent.
#[derive(Clone, Debug, PartialEq)]
pub struct PartShape {
    /// The names of the parent in the path, and their fields in an element of the content.
    pub names: Vec<(String, JsonPath)>,
    /// The answer in the element.
    pub at: JsonPath,
    /// An element without objects.
    pub empty: Json,
}

/// Objects of one kind in an answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ObjectShape {
    /// Name of the read.
    pub answer: String,
    /// The lists, outermost first; the last one has the objects. None: there is one object.
    pub lists: Vec<ListLevel>,
    /// The only object in the answer.
    pub at: JsonPath,
    /// The object in the bodies of requests.
    pub envelope: JsonPath,
    /// The requests.
    pub requests: Vec<ObjectRequest>,
    /// Fields of which an object has those that were set last.
    pub exclusive: Vec<Vec<JsonPath>>,
    /// Fields that have another place when they are read: written, read.
    pub moved: Vec<(JsonPath, JsonPath)>,
}

/// A list of objects, in an answer or in each object of the list around it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListLevel {
    /// The list.
    pub at: JsonPath,
    /// The names of its objects, each with its field. `None`: the name of the object in a map.
    pub keys: Vec<(String, Option<JsonPath>)>,
}

/// A request about an object.
#[derive(Clone, Debug, PartialEq)]
pub struct ObjectRequest {
    /// The request.
    pub request: RequestShape,
    /// What it does.
    pub effect: ObjectEffect,
}

/// What a request does with an object.
#[derive(Clone, Debug, PartialEq)]
pub enum ObjectEffect {
    /// Returns it.
    Read,
    /// Adds it with the fields of the body, which must have these.
    Create {
        /// Fields without which it is refused.
        required: Vec<JsonPath>,
    },
    /// Sets the fields of the body.
    Merge,
    /// Sets the fields of the body, and removes the others.
    Replace,
    /// Removes it.
    Remove,
    /// Removes a field.
    RemoveField(JsonPath),
    /// Sets fields.
    SetFields(Vec<(JsonPath, Json)>),
    /// Moves it in its list.
    Move {
        /// The group with the name of the object at the new place.
        other: String,
        /// In front of the other one.
        is_before: bool,
    },
}

/// A document that is written as a whole.
#[derive(Clone, Debug, PartialEq)]
pub struct DocumentShape {
    /// Name of the read that returns it.
    pub answer: String,
    /// The document in the answer.
    pub at: JsonPath,
    /// The request.
    pub request: RequestShape,
    /// The document in its body.
    pub envelope: JsonPath,
    /// The request checks the document and does not store it.
    pub is_check: bool,
}

/// How lists are divided into pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PageShape {
    /// The link to the next page is in this field.
    Field(JsonPath),
    /// It is in the header `Link`.
    Header,
    /// Each page has parameters.
    Query {
        /// The parameter that differs.
        parameter: String,
        /// What it counts.
        counter: PageCounter,
        /// The names of the others.
        others: Vec<String>,
    },
}

/// What the parameter of a page counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageCounter {
    /// Pages; the first one has this number.
    Page(usize),
    /// Objects on the pages before.
    Objects,
}

/// How requests continue after their answer.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskShape {
    /// The identifier, or the link, in the answer.
    pub id: JsonPath,
    /// The read of the state, with the group `id`; `None`: the identifier is a link.
    pub request: Option<RequestShape>,
    /// The state.
    pub state: JsonPath,
    /// The states of a task that runs, that is done, and that has failed.
    pub states: [String; 3],
}

/// A configuration that takes effect when it is committed.
#[derive(Clone, Debug, PartialEq)]
pub struct CandidateShape {
    /// The request that begins a transaction; `None`: each user has one candidate.
    pub begin: Option<RequestShape>,
    /// The identifier of the transaction in the answer.
    pub id: JsonPath,
    /// The header with the identifier; otherwise the parameter.
    pub header: Option<String>,
    /// The parameter with the identifier.
    pub parameter: Option<String>,
    /// The request that checks it.
    pub check: Option<RequestShape>,
    /// The request that commits it.
    pub commit: RequestShape,
    /// The request that discards it.
    pub abort: RequestShape,
    /// The body of the answer to the commit.
    pub committed: Json,
}

/// The number of the configuration that changes name.
#[derive(Clone, Debug, PartialEq)]
pub struct VersionShape {
    /// The read of the number.
    pub request: RequestShape,
    /// The number in its answer.
    pub at: JsonPath,
    /// The parameter of changes.
    pub parameter: String,
    /// The status of a change with another number.
    pub stale_status: u16,
}

impl RequestShape {
    /// The number of parts that a request must have: of two kinds that match, the one with more is meant.
    pub fn precision(&self) -> usize {
        let constants = self.fields.iter();
        let constants = constants.filter(|(_, field)| matches!(field, FieldShape::Value(_)));
        self.parameters.len() + self.fields.len() + constants.count()
    }
}
