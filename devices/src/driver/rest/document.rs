//! `[write.x]`: the answer to a read is a document, which is written as a whole.
//!
//! A change reads the document from the state, changes the object in it, and sends all of it. The
//! request requires that the device still has the document that was read.

use serde_json::{Map, Value as Json};

use super::canonical::canonical;
use super::definition::RestInstanceRule;
use super::json::Body;
use super::load::toml::{all_fields, fields};
use super::objects::{key_of, rows_in};
use super::writer::{RequestWriter, error};
use crate::change::ChangeKind;
use crate::document::Item;
use crate::driver::implementation::RenderError;
use crate::driver::read_rule::ReadRule;
use crate::map::IndexMap;
use crate::model::load::word;
use crate::operation::{Action, Method, Operation, Precondition, Request};
use crate::read::field_path::FieldPath;
use crate::read::{Parsed, ReadRequest, State};
use crate::value::{Name, Value};

/// How the answer to a read is written.
#[derive(Clone, Debug)]
pub(crate) struct DocumentRule {
    read: ReadRequest,
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

/// Shown instead of the document.
const OMITTED: &str = "…";

impl DocumentRule {
    /// Reads `[write.NAME]`, for the read with this name.
    pub(crate) fn load(
        name: &str,
        item: &Item<'_>,
        reads: &IndexMap<String, ReadRule>,
    ) -> Option<Self> {
        let table = item.table()?;
        let read = reads.get(name).map(|rule| rule.request.clone());
        if read.is_none() {
            let message = format!("[{}] has no read: declare [read.{name}]", table.path);
            item.error("unknown-read", message);
        }
        let verbs = [("POST", Method::Post), ("PUT", Method::Put)];
        let verb = table.get("verb").and_then(|item| word(&item, &verbs));
        let path = table.required_string("path");
        let location = |key| match table.get(key) {
            Some(item) => FieldPath::read(&item),
            None => Some(FieldPath::default()),
        };
        let (from, envelope) = (location("document"), location("envelope"));
        let body = fields(&table, "body");
        let check = table.table("check").map(|table| all_fields(&table));
        table.finish();
        Some(Self {
            read: read?,
            method: verb.unwrap_or(Method::Post),
            path: path?,
            from: from?,
            envelope: envelope?,
            body,
            check,
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
    fn operations(&self, attributes: &[Name], before: &Json, after: Body) -> Vec<Operation> {
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

impl RequestWriter<'_> {
    /// The requests that write the document with the change.
    pub(super) fn write_document(
        &self,
        document: &DocumentRule,
    ) -> Result<Vec<Operation>, RenderError> {
        let rule = &self.definition.instance;
        let Some(Parsed::Json(answer)) = self.state.get(&document.read.name) else {
            return Err(error("ensure", "the document was not read"));
        };
        let path = self.path_in_document(rule, answer);
        let missing = || RenderError::lacking_object("ensure", "the object is not in the document");
        let after = match (self.change.kind, &rule.create) {
            (ChangeKind::Remove, _) if !rule.remove => {
                let message = "the device has exactly one, which cannot be removed";
                return Err(error("ensure", message));
            }
            (ChangeKind::Remove, _) => {
                let mut after = answer.clone();
                path.ok_or_else(missing)?.remove(&mut after);
                Body::from(after)
            }
            (ChangeKind::Create, Some(create)) => {
                let mut after = Body::from(answer.clone());
                let path = self.path_of_new(rule, answer)?;
                after.put(&path, self.new_object(create)?);
                after
            }
            (ChangeKind::Create, None) => {
                let message = "the device has exactly one, which cannot be created";
                return Err(error("ensure", message));
            }
            (ChangeKind::Update, _) => {
                let path = path.ok_or_else(missing)?;
                let object = path.get(answer).ok_or_else(missing)?;
                let mut changed = self.current_body(object);
                self.put_fields(&mut changed, &|name| {
                    self.change.attributes.iter().any(|one| one == name)
                });
                let mut after = Body::from(answer.clone());
                after.put(&path, changed);
                after
            }
        };
        let attributes: Vec<Name> = if self.change.is_create_or_remove() {
            vec!["ensure".into()]
        } else {
            self.change.attributes.clone()
        };
        Ok(document.operations(&attributes, answer, after))
    }

    /// The path of the object of the change in the answer; that of the answer for a singleton.
    fn path_in_document(&self, rule: &RestInstanceRule, answer: &Json) -> Option<FieldPath> {
        if rule.rows.is_none() {
            return Some(FieldPath::default());
        }
        let rows = rows_in(rule, answer).ok()?.into_iter();
        let mut rows = rows.filter(|one| {
            key_of(rule, one.row, one.outer).is_ok_and(|key| {
                rule.key
                    .iter()
                    .zip(key)
                    .all(|(rule, value)| self.is_desired(&rule.attribute, &value))
            })
        });
        rows.next()?.path(rule)
    }

    /// The path of a new object in the answer.
    fn path_of_new(
        &self,
        rule: &RestInstanceRule,
        answer: &Json,
    ) -> Result<FieldPath, RenderError> {
        let rows = rule.rows.as_ref();
        let rows = rows.ok_or_else(|| error("ensure", "the type has no list of objects"))?;
        let (list, outer) = match &rule.each {
            None => (answer, FieldPath::default()),
            Some(each) => {
                let each = each.location();
                let index = self.outer_index(rule, each.get(answer))?;
                let path = each.join(&FieldPath::element(index));
                (path.get(answer).unwrap_or(&Json::Null), path)
            }
        };
        let name = rule.key.iter().find(|key| key.field.is_none());
        let name = name.and_then(|key| self.change.desired.attributes.get(&key.attribute));
        let name = name.and_then(Value::scalar_text);
        let count = rows.rows(list).map(|rows| rows.len()).unwrap_or_default();
        Ok(outer.join(&rows.path_of_new(count, name.as_deref())))
    }

    /// The index of the element of the outer list that gets a new object.
    fn outer_index(
        &self,
        rule: &RestInstanceRule,
        list: Option<&Json>,
    ) -> Result<usize, RenderError> {
        let mut elements = list.and_then(Json::as_array).into_iter().flatten();
        let keys = || rule.key.iter().filter(|key| key.is_outer);
        let found = elements.position(|element| {
            keys().all(|key| {
                let value = key.field.as_ref().and_then(|field| field.get(element));
                let value = value.and_then(crate::read::field_path::scalar_text);
                value.is_some_and(|value| self.is_desired(&key.attribute, &value))
            })
        });
        found.ok_or_else(|| {
            let key = keys().next().map_or("ensure", |key| &key.attribute);
            let value = self.change.desired.attributes.get(key);
            let value = value.and_then(Value::scalar_text).unwrap_or_default();
            let message = format!("`{value}` does not exist on the device");
            RenderError::lacking_object(key, message)
        })
    }

    /// Whether a value of the device is that of a namevar of the resource.
    fn is_desired(&self, attribute: &str, value: &str) -> bool {
        let value = canonical(self.definition, self.model, attribute, &value.into(), None);
        let desired = self.change.desired.attributes.get(attribute);
        desired.and_then(Value::scalar_text) == value.scalar_text()
    }
}
