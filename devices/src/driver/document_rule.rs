//! `[write.x]` of a platform: the answer to a read is a document, which is written as a whole.

use serde_json::{Map, Value as Json};
use switchtender_outline::{DocumentShape, FieldShape, RequestShape};

use super::json_body::Body;
use super::json_fields::JsonFields;
use super::read_rule::ReadRule;
use crate::document::{Item, KeyValue, keys, word_values};
use crate::map::IndexMap;
use crate::operation::outline::{PathPart, request_shape};
use crate::operation::{Action, Method, Operation, Precondition, Request};
use crate::read::field_path::FieldPath;
use crate::read::{Parsed, ReadRequest, State};
use crate::value::Name;

/// How the answer to a read is written.
#[derive(Clone, Debug)]
pub(crate) struct DocumentRule {
    pub(crate) read: ReadRequest,
    method: Method,
    path: String,
    /// The document in the answer to the read.
    from: FieldPath,
    /// The document in the body of the request.
    envelope: FieldPath,
    /// Further fields of the body.
    body: Vec<(FieldPath, Json)>,
    /// The same for a request that checks the document, sent before the change.
    check: Option<Vec<(FieldPath, Json)>>,
}

keys! {
    /// How a document is written as a whole.
    pub(super) struct DocumentKeys {
        /// `POST` (default) or `PUT`.
        verb: DocumentVerb = DocumentVerb(Method::Post),
        /// Path of the request.
        path: String,
        /// Path of the document in the answer.
        at: FieldPath = FieldPath::default(),
        /// Path of the document in the body.
        envelope: FieldPath = FieldPath::default(),
        /// The other fields of the body.
        body: JsonFields,
        /// Such fields of a request that is sent first, as a check.
        check: Option<JsonFields>,
    }
}

/// The method of a request that writes a document.
#[derive(Clone, Copy, Debug)]
pub(super) struct DocumentVerb(Method);

word_values!(DocumentVerb {
    "POST" => DocumentVerb(Method::Post),
    "PUT" => DocumentVerb(Method::Put),
});

/// Shown instead of the document.
const OMITTED: &str = "…";

impl DocumentRule {
    /// Reads `[write.NAME]`, for the read with this name.
    pub(crate) fn load(
        name: &str,
        item: &Item<'_>,
        reads: &IndexMap<String, ReadRule>,
    ) -> Option<Self> {
        let keys = DocumentKeys::read(item)?;
        let Some(rule) = reads.get(name) else {
            let path = &item.path;
            let message = format!("[{path}] has no read: declare [read.{name}]");
            item.error("unknown-read", message);
            return None;
        };
        Some(Self {
            read: rule.request.clone(),
            method: keys.verb.0,
            path: keys.path,
            from: keys.at,
            envelope: keys.envelope,
            body: keys.body.0,
            check: keys.check.map(|check| check.0),
        })
    }

    /// Makes an answer with an empty document.
    pub(crate) fn put_empty(&self, answer: &mut Json) {
        self.from.put(answer, Json::Object(Map::new()));
    }

    /// Requires that an answer has the document.
    ///
    /// # Errors
    /// The message has the answer as its subject.
    pub(crate) fn check(&self, answer: &Json) -> Result<(), String> {
        match self.from.get(answer) {
            Some(_) => Ok(()),
            None => Err(format!("it has no `{}`", self.from)),
        }
    }

    /// The requests that write and check it, for a mock.
    pub(crate) fn outlines(&self) -> Vec<DocumentShape> {
        let shape = |fields: &[(FieldPath, Json)], is_check| {
            let fields = fields.iter();
            let fields =
                fields.map(|(path, value)| (path.outline(), FieldShape::Value(value.clone())));
            DocumentShape {
                answer: self.read.name.clone(),
                at: self.from.outline(),
                request: RequestShape {
                    fields: fields.collect(),
                    ..request_shape(self.method, &[PathPart::Literal(&self.path)])
                },
                envelope: self.envelope.outline(),
                is_check,
            }
        };
        let check = self.check.as_ref().map(|check| shape(check, true));
        [shape(&self.body, false)]
            .into_iter()
            .chain(check)
            .collect()
    }

    /// Whether a path in the answer is one in the document.
    pub(crate) fn contains(&self, path: &FieldPath) -> bool {
        self.from.contains(path)
    }

    /// For `driver explain`.
    pub(crate) fn describe(&self) -> String {
        let body = Self::wrapped(&self.body, &self.envelope, Json::from(OMITTED).into());
        format!("{} {} {}", self.method, self.path, body.to_text())
    }

    /// The document in a body.
    fn wrapped(fields: &[(FieldPath, Json)], envelope: &FieldPath, document: Body) -> Body {
        let mut body = Body::object();
        for (field, json) in fields {
            body.put(field, json.clone().into());
        }
        body.put(envelope, document);
        body
    }

    /// The requests that write an answer, changed.
    pub(crate) fn operations(
        &self,
        attributes: &[Name],
        before: &Json,
        after: Body,
    ) -> Vec<Operation> {
        let document = after.take(&self.from);
        let request = |fields: &[(FieldPath, Json)], precondition| {
            let wrapped = |document| Self::wrapped(fields, &self.envelope, document).to_text();
            Operation {
                attributes: attributes.to_vec(),
                action: Action::Request(Request {
                    method: self.method,
                    path: self.path.clone(),
                    body: Some(wrapped(document.clone())),
                    abridged: Some(wrapped(Json::from(OMITTED).into())),
                    is_file: false,
                    // The device has the same document afterwards.
                    idempotent: true,
                    precondition,
                }),
            }
        };
        let same = Precondition::SameAnswer(Box::new((self.read.clone(), before.clone())));
        match &self.check {
            Some(check) => vec![
                request(check, same),
                request(&self.body, Precondition::None),
            ],
            None => vec![request(&self.body, same)],
        }
    }

    /// Puts the document of a request into the state.
    pub(crate) fn apply(&self, request: &Request, state: &mut State) {
        let body = request.body.as_ref();
        let body: Option<Json> = body.and_then(|body| serde_json::from_str(&body.reveal()).ok());
        let Some(body) = body else { return };
        let mut fields = self.body.iter();
        let is_write = fields.all(|(field, json)| field.get(&body) == Some(json));
        if let (true, Some(document), Some(Parsed::Json(answer))) = (
            is_write,
            self.envelope.get(&body),
            state.get_mut(&self.read.name),
        ) {
            self.from.put(answer, document.clone());
        }
    }
}
