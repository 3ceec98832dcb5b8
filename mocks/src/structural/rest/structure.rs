//! The requests of a REST interface: which one a request is, and what it does.

use serde_json::Value;
use switchtender_outline::{AnswerShape, DocumentShape, ObjectEffect, ObjectShape, RestInterface};

use super::objects::{Condition, ObjectEdit, tag};
use super::{BAD_REQUEST, NOT_FOUND, RequestRefusal, RestContent, refuse};
use crate::json_path::{Locate as _, object};
use crate::rest_request::{CompiledRequest, RequestNames, RestRequest};
use crate::shape_pattern::InvalidShape;

/// The requests and the answers that they read or change.
#[derive(Debug)]
pub(super) struct RestStructure {
    answers: Vec<AnswerShape>,
    objects: Vec<ObjectShape>,
    documents: Vec<DocumentShape>,
    requests: Vec<(CompiledRequest, Meaning)>,
    /// Parameters that all requests can have.
    common: Vec<String>,
    missing: String,
}

/// What a request means, with the indexes of its shapes.
#[derive(Debug, Clone)]
enum Meaning {
    Answer(usize),
    Object(usize, ObjectEffect),
    Document(usize),
    Accepted,
}

/// What a request has done.
#[derive(Debug, PartialEq)]
pub(super) enum Executed {
    /// It reads an answer, with this shape and these names of a parent.
    Answer(usize, RequestNames),
    /// It reads an object, which has this tag.
    Object {
        /// The body of the answer.
        body: Value,
        /// The tag.
        tag: String,
    },
    /// It changes nothing.
    Accepted,
    /// It has changed an answer.
    Changed,
}

impl RestStructure {
    pub(super) fn new(
        interface: &RestInterface,
        common: Vec<String>,
    ) -> Result<Self, InvalidShape> {
        let answers = interface.answers.iter().enumerate();
        let answers = answers.map(|(index, answer)| (&answer.request, Meaning::Answer(index)));
        let objects = interface.objects.iter().enumerate();
        let objects = objects.flat_map(|(index, shape)| {
            let requests = shape.requests.iter();
            requests.map(move |one| (&one.request, Meaning::Object(index, one.effect.clone())))
        });
        let documents = interface.documents.iter().enumerate();
        let documents = documents.map(|(index, one)| (&one.request, Meaning::Document(index)));
        let accepted = interface.accepted.iter();
        let accepted = accepted.chain(&interface.session.accepted);
        let accepted = accepted.map(|request| (request, Meaning::Accepted));
        let all = answers.chain(objects).chain(documents).chain(accepted);
        let requests = all.map(|(request, meaning)| Ok((CompiledRequest::new(request)?, meaning)));
        Ok(Self {
            requests: requests.collect::<Result<_, InvalidShape>>()?,
            answers: interface.answers.clone(),
            objects: interface.objects.clone(),
            documents: interface.documents.clone(),
            common,
            missing: interface.missing.clone(),
        })
    }

    pub(super) fn answer(&self, index: usize) -> &AnswerShape {
        &self.answers[index]
    }

    /// The answers at the start.
    pub(super) fn content(&self) -> RestContent {
        let answers = self.answers.iter();
        answers.map(|answer| answer.content.clone()).collect()
    }

    /// Whether a request changes what reads return.
    pub(super) fn is_change(&self, request: &RestRequest) -> bool {
        self.meaning(request, false)
            .is_some_and(|(meaning, _)| match meaning {
                Meaning::Answer(_) | Meaning::Accepted => false,
                Meaning::Object(_, effect) => *effect != ObjectEffect::Read,
                Meaning::Document(index) => !self.documents[*index].is_check,
            })
    }

    /// What a request means, and its names. Of several meanings the most precise one counts. With a
    /// request that also creates, a change of an object that does not exist is its creation.
    fn meaning(&self, request: &RestRequest, creates: bool) -> Option<(&Meaning, RequestNames)> {
        let mut best: Option<(usize, &Meaning, RequestNames)> = None;
        for (shape, meaning) in &self.requests {
            let is_create = matches!(meaning, Meaning::Object(_, ObjectEffect::Create { .. }));
            let precision = shape.precision();
            let is_better = best.as_ref().is_none_or(|(other, ..)| precision > *other);
            if creates && !is_create || !is_better {
                continue;
            }
            if let Some(names) = shape.names(request, &self.common) {
                best = Some((precision, meaning, names));
            }
        }
        best.map(|(_, meaning, names)| (meaning, names))
    }

    /// Executes a request.
    pub(super) fn execute(
        &self,
        request: &RestRequest,
        condition: Option<Condition>,
        content: &mut RestContent,
    ) -> Result<Executed, RequestRefusal> {
        let supplied = (request, condition.clone());
        let executed = self.execute_meaning(self.meaning(request, false), supplied, content);
        let creation = self.meaning(request, true);
        match (&executed, creation) {
            (Err(refusal), Some(creation)) if refusal.status == NOT_FOUND => {
                self.execute_meaning(Some(creation), (request, condition), content)
            }
            _ => executed,
        }
    }

    fn execute_meaning(
        &self,
        meaning: Option<(&Meaning, RequestNames)>,
        (request, condition): (&RestRequest, Option<Condition>),
        content: &mut RestContent,
    ) -> Result<Executed, RequestRefusal> {
        let Some((meaning, names)) = meaning else {
            let message = "the structural mock has no answer to this request";
            return refuse(NOT_FOUND, message);
        };
        match meaning {
            Meaning::Answer(index) => Ok(Executed::Answer(*index, names)),
            Meaning::Accepted => Ok(Executed::Accepted),
            Meaning::Document(index) => self.write(&self.documents[*index], request, content),
            Meaning::Object(index, effect) => {
                let shape = &self.objects[*index];
                let mut answers = self.answers.iter();
                let answer = answers.find(|answer| answer.name == shape.answer);
                let edit = ObjectEdit {
                    part: answer.and_then(|answer| answer.part.as_ref()),
                    shape,
                    effect,
                    names,
                    body: &request.body,
                    condition,
                    missing: &self.missing,
                };
                let found = edit.execute(self.content_of(&shape.answer, content)?)?;
                Ok(found.map_or(Executed::Changed, |object| Executed::Object {
                    tag: tag(&object),
                    body: shape.envelope.document_with(object),
                }))
            }
        }
    }

    fn write(
        &self,
        document: &DocumentShape,
        request: &RestRequest,
        content: &mut RestContent,
    ) -> Result<Executed, RequestRefusal> {
        let Some(written) = document
            .envelope
            .get(&request.body)
            .filter(|one| one.is_object())
        else {
            return refuse(BAD_REQUEST, "the body has no document at its place");
        };
        if document.is_check {
            return Ok(Executed::Accepted);
        }
        let answer = self.content_of(&document.answer, content)?;
        *document.at.get_or_insert(answer) = written.clone();
        Ok(Executed::Changed)
    }

    fn content_of<'c>(
        &self,
        name: &str,
        content: &'c mut RestContent,
    ) -> Result<&'c mut Value, RequestRefusal> {
        let index = self.answers.iter().position(|answer| answer.name == name);
        let found = index.and_then(|index| content.get_mut(index));
        let Some(found) = found else {
            return refuse(
                NOT_FOUND,
                "the structural mock has no answer with these objects",
            );
        };
        if found.is_null() {
            object(found);
        }
        Ok(found)
    }
}
