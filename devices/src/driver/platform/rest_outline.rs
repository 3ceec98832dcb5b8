//! The structure of a platform's REST interface, for a mock.

use serde::de::IgnoredAny;
use serde_json::{Value as Json, json};
use switchtender_outline::{AnswerShape, PartShape, RequestShape, RestInterface};

use super::Platform;
use super::outline::example;
use crate::dialogue::rest_rules::RestRules;
use crate::operation::Method;
use crate::operation::outline::{NameEncoding, PathPart, request_shape, with_body};
use crate::read::answer_rule::{AnswerRule, Expectation};
use crate::read::parents::{ParentRead, answer_field, name_field};
use crate::read::{ReadRequest, Reads};

/// What a mock of a REST interface has from its platform.
#[derive(Clone, Debug)]
pub struct RestOutline {
    /// The structure.
    pub interface: RestInterface,
    /// The names of saved answers that are not JSON, or of no read.
    pub unused: Vec<String>,
}

/// The value of a field that a valid answer must have, and of facts.
const ANY: &str = "mock";

impl Platform {
    /// The structure of the REST interface of a device with this host name. `saved` has answers by
    /// name of the read; others have what a valid answer must have.
    pub(super) fn rest_outline(
        &self,
        rules: &RestRules,
        hostname: &str,
        saved: &Reads,
    ) -> RestOutline {
        let missing = rules.absent.first().map(example);
        let (done, refused) = match &rules.in_body {
            Some(field) => field.examples(),
            None => (json!({}), json!({})),
        };
        let candidate = rules.candidate.as_ref();
        let mut interface = RestInterface {
            session: rules.outline(),
            parameters: rules.query.clone(),
            pages: rules.pages.as_ref().map(|pages| pages.outline()),
            tasks: rules.tasks.as_ref().map(|tasks| tasks.outline()),
            candidate: candidate.map(|candidate| candidate.outline(&done)),
            version: rules.version.as_ref().map(|version| version.outline()),
            missing: missing.unwrap_or_else(|| "the object does not exist".to_owned()),
            done,
            refused,
            ..RestInterface::default()
        };
        let implementations: Vec<_> = self
            .type_drivers()
            .flat_map(|definition| definition.implementations())
            .collect();
        let own = self.reads.values().map(|rule| rule.request.clone());
        let reads = implementations.iter().flat_map(|one| one.reads(None));
        for read in own.chain(reads) {
            self.add_answer(&read, hostname, saved, &mut interface.answers);
        }
        for document in self.documents.values() {
            let mut answers = interface.answers.iter_mut();
            let answer = answers.find(|answer| answer.name == document.read.name);
            if let Some(answer) = answer.filter(|answer| document.check(&answer.content).is_err()) {
                document.put_empty(&mut answer.content);
            }
            interface.documents.extend(document.outlines());
        }
        for implementation in implementations {
            implementation.add_objects(&mut interface);
        }
        let is_used = |name: &str, text: &str| {
            let mut answers = interface.answers.iter();
            let is_json = serde_json::from_str::<IgnoredAny>(text).is_ok();
            is_json && answers.any(|answer| answer.name == name)
        };
        let unused = saved.iter().filter(|(name, text)| !is_used(name, text));
        let unused = unused.map(|(name, _)| name.clone()).collect();
        RestOutline { interface, unused }
    }

    /// Adds the answer to a read, or what another use of the read requires of it.
    fn add_answer(
        &self,
        read: &ReadRequest,
        hostname: &str,
        saved: &Reads,
        answers: &mut Vec<AnswerShape>,
    ) {
        if let Some(parents) = &read.parents {
            self.add_answer(&parents.list, hostname, saved, answers);
        }
        let known = answers.iter_mut().find(|answer| answer.name == read.name);
        let is_new = known.is_none();
        let mut added = AnswerShape {
            name: read.name.clone(),
            request: request_of(read),
            content: Json::Null,
            rows: None,
            is_optional: read.optional,
            part: read.parents.as_ref().map(part),
        };
        let answer = known.unwrap_or(&mut added);
        answer.is_optional &= read.optional;
        match saved
            .get(&read.name)
            .and_then(|text| serde_json::from_str(text).ok())
        {
            Some(content) => answer.content = content,
            None if answer.part.is_some() => answer.content = json!([]),
            None => self.complete(read, hostname, &mut answer.content),
        }
        if is_new {
            answers.push(added);
        }
    }

    /// Adds what a valid answer must have, and the facts in it.
    fn complete(&self, read: &ReadRequest, hostname: &str, content: &mut Json) {
        let facts = self.facts.iter().chain(&self.identity);
        let facts = facts.filter_map(|fact| Some((fact, fact.path_in(&read.name)?)));
        for (fact, path) in facts {
            let text = if fact.name == "hostname" {
                hostname
            } else {
                ANY
            };
            let text = if self
                .identity
                .iter()
                .any(|own| own.path_in(&read.name) == Some(path))
            {
                format!("{ANY}-{hostname}")
            } else {
                text.to_owned()
            };
            path.put(content, text.into());
        }
        complete(&read.answer, content);
    }
}

/// Adds what a valid answer must have.
fn complete(answer: &AnswerRule, content: &mut Json) {
    for expectation in &answer.expectations {
        match expectation {
            Expectation::Field { path, value } => match value {
                Some(value) => path.put(content, value.as_str().into()),
                None if path.get(content).is_none() => path.put(content, ANY.into()),
                None => {}
            },
            Expectation::Rows(rows) => {
                let list = rows.outermost().location().get_or_insert(content);
                if !list.is_array() && !list.is_object() {
                    *list = json!([]);
                }
            }
            Expectation::List if !content.is_array() => *content = json!([]),
            _ => {}
        }
    }
    if content.is_null() {
        *content = json!({});
    }
}

/// The answers of the collections of parents.
fn part(parents: &ParentRead) -> PartShape {
    let mut empty = Json::Null;
    complete(&parents.answer, answer_field().get_or_insert(&mut empty));
    let names = parents.key.iter();
    let names = names.map(|(name, _)| (name.clone(), name_field(name).outline()));
    PartShape {
        names: names.collect(),
        at: answer_field().outline(),
        empty,
    }
}

fn request_of(read: &ReadRequest) -> RequestShape {
    let method = match read.body {
        Some(_) => Method::Post,
        None => Method::Get,
    };
    let parts = named_parts(&read.command, read.parents.as_ref());
    with_body(request_shape(method, &parts), read.body.as_deref())
}

/// The parts of a path with the names of a parent, `{name}`.
fn named_parts<'a>(path: &'a str, parents: Option<&'a ParentRead>) -> Vec<PathPart<'a>> {
    let mut parts = vec![PathPart::Literal(path)];
    for (name, _) in parents.iter().flat_map(|parents| &parents.key) {
        let hole = format!("{{{name}}}");
        let mut next = Vec::new();
        for part in parts {
            match part {
                PathPart::Literal(text) => {
                    for (index, literal) in text.split(hole.as_str()).enumerate() {
                        if index > 0 {
                            next.push(PathPart::Name(name, NameEncoding::Segment));
                        }
                        next.push(PathPart::Literal(literal));
                    }
                }
                name => next.push(name),
            }
        }
        parts = next;
    }
    parts
}
