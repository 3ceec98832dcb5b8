//! A device with a REST interface: one request from its credentials to its answer.

use std::sync::Mutex;

use hyper::header::{ETAG, HeaderName, HeaderValue, IF_MATCH, IF_NONE_MATCH, LINK};
use serde_json::Value;
use switchtender_outline::RestInterface;

use super::candidates::{CandidateRequest, Candidates};
use super::login::Login;
use super::objects::{Condition, part_of};
use super::structure::{Executed, RestStructure};
use super::tasks::Tasks;
use super::{
    BAD_REQUEST, NOT_FOUND, RequestRefusal, RestContent, UNAUTHORIZED, UNAVAILABLE, pages, refuse,
};
use crate::control::lock;
use crate::fault::{FaultDecision, FaultKind, FaultPlan};
use crate::http_server::HttpRequest;
use crate::json_path::Locate as _;
use crate::rest_request::{CompiledRequest, RequestNames, RestRequest};
use crate::shape_pattern::InvalidShape;

/// A device with a REST interface.
#[derive(Debug)]
pub(in crate::structural) struct RestDevice {
    interface: RestInterface,
    structure: RestStructure,
    version: Option<CompiledRequest>,
    /// Parameters that all requests can have.
    common: Vec<String>,
    state: Mutex<RestState>,
}

#[derive(Debug)]
struct RestState {
    running: RestContent,
    login: Login,
    candidates: Option<Candidates>,
    tasks: Option<Tasks>,
    /// The number of the configuration.
    number: u64,
}

/// The body and the headers of an answer.
pub(super) type Answered = (Value, Vec<(HeaderName, HeaderValue)>);

const REFUSED: &str = "the device refuses the request";

impl RestDevice {
    pub(in crate::structural) fn new(
        interface: RestInterface,
        account: (&str, &str),
    ) -> Result<Self, InvalidShape> {
        let login = Login::new(&interface.session, account)?;
        let candidate = interface.candidate.as_ref();
        let parameters = interface.parameters.iter().map(|(name, _)| name.clone());
        let mut common: Vec<String> = parameters.collect();
        common.extend(login.parameter().map(str::to_owned));
        common.extend(interface.version.iter().map(|one| one.parameter.clone()));
        common.extend(candidate.and_then(|candidate| candidate.parameter.clone()));
        common.extend(interface.pages.iter().flat_map(pages::parameters));
        let structure = RestStructure::new(&interface, common.clone())?;
        let version = interface.version.as_ref();
        let version = version.map(|version| CompiledRequest::new(&version.request));
        let state = RestState {
            running: structure.content(),
            login,
            candidates: candidate.map(Candidates::new).transpose()?,
            tasks: interface.tasks.as_ref().map(Tasks::new).transpose()?,
            number: 1,
        };
        Ok(Self {
            version: version.transpose()?,
            state: Mutex::new(state),
            interface,
            structure,
            common,
        })
    }

    /// The status, the body and the headers of the answer to a request.
    pub(super) fn answer(
        &self,
        http: &HttpRequest,
        decision: &FaultDecision,
        faults: &Mutex<FaultPlan>,
    ) -> (u16, Answered) {
        match self.answer_authorized(http, decision, faults) {
            Ok(answered) => (200, answered),
            Err(refusal) => (refusal.status, (self.refusal(&refusal), Vec::new())),
        }
    }

    fn answer_authorized(
        &self,
        http: &HttpRequest,
        decision: &FaultDecision,
        faults: &Mutex<FaultPlan>,
    ) -> Result<Answered, RequestRefusal> {
        if decision.has(FaultKind::Unavailable) {
            return refuse(UNAVAILABLE, "the device is not available");
        }
        let target = match http.query.as_str() {
            "" => http.path.clone(),
            query => format!("{}?{query}", http.path),
        };
        let body = serde_json::from_slice(&http.body).unwrap_or_default();
        let request = RestRequest::new(&http.method, &target, body);
        let mut state = lock(&self.state);
        let is_login = state.login.is_login(&request, &self.common);
        let logs_in = is_login || state.login.has_password(http);
        if logs_in && lock(faults).refuses_login() {
            return refuse(UNAUTHORIZED, "user or password is wrong");
        }
        if is_login {
            let issued = state.login.issue(http, &self.interface.done)?;
            return Ok((issued.body, issued.headers));
        }
        state.login.authorize(http, &request)?;
        for (name, value) in &self.interface.parameters {
            if request.parameter(name) != Some(value) {
                return refuse(
                    BAD_REQUEST,
                    format!("the parameter `{name}` is not `{value}`"),
                );
            }
        }
        let refusal = decision.message(FaultKind::Refuse);
        let refusal = refusal.map(|text| text.unwrap_or(REFUSED).to_owned());
        self.answer_control(&request, &mut state, refusal.as_ref())
            .unwrap_or_else(|| match refusal {
                Some(message) => refuse(BAD_REQUEST, message),
                None => self.answer_content(http, &request, (&mut state, decision)),
            })
    }

    /// The answer to a request about tasks, the number of the configuration or candidates.
    fn answer_control(
        &self,
        request: &RestRequest,
        state: &mut RestState,
        refusal: Option<&String>,
    ) -> Option<Result<Answered, RequestRefusal>> {
        let done = &self.interface.done;
        if let Some(tasks) = &mut state.tasks {
            let message = &self.interface.session.message;
            if let Some(read) = tasks.read(request, (&self.common, done, message)) {
                return Some(Ok((read, Vec::new())));
            }
        }
        if let (Some(shape), Some(version)) = (&self.version, &self.interface.version)
            && shape.names(request, &self.common).is_some()
        {
            let number = version.at.document_with(state.number.into());
            return Some(Ok((number, Vec::new())));
        }
        let candidates = state.candidates.as_mut()?;
        let meaning = candidates.meaning(request, &self.common)?;
        if let Some(message) = refusal {
            // A commit that is a task fails later.
            let tasks = state.tasks.as_mut();
            return Some(match (meaning, tasks) {
                (CandidateRequest::Commit(_), Some(tasks)) => {
                    let mut answer = done.clone();
                    tasks.add(Some(message.clone()), &mut answer);
                    Ok((answer, Vec::new()))
                }
                _ => refuse(BAD_REQUEST, message),
            });
        }
        Some(match meaning {
            CandidateRequest::Begin => Ok((candidates.begin(&state.running, done), Vec::new())),
            CandidateRequest::Check => Ok((done.clone(), Vec::new())),
            CandidateRequest::Abort(id) => {
                let ended = candidates.end(&id);
                ended.map(|_| (done.clone(), Vec::new()))
            }
            CandidateRequest::Commit(id) => candidates.end(&id).map(|content| {
                if let Some(content) = content {
                    state.running = content;
                    state.number += 1;
                }
                let mut answer = candidates.committed().clone();
                if let Some(tasks) = &mut state.tasks {
                    tasks.add(None, &mut answer);
                }
                (answer, Vec::new())
            }),
        })
    }

    /// The answer to a read or a change.
    fn answer_content(
        &self,
        http: &HttpRequest,
        request: &RestRequest,
        (state, decision): (&mut RestState, &FaultDecision),
    ) -> Result<Answered, RequestRefusal> {
        let is_change = self.structure.is_change(request);
        if let (Some(version), true) = (&self.interface.version, is_change)
            && request.parameter(&version.parameter) != Some(state.number.to_string().as_str())
        {
            return refuse(version.stale_status, "the configuration has another number");
        }
        let RestState {
            running,
            candidates,
            ..
        } = state;
        let header = |name: &str| http.header(name).map(str::to_owned);
        let content = match candidates {
            Some(candidates) if is_change => candidates.content(request, header, running)?,
            _ => running,
        };
        let mut changed = content.clone();
        let executed = self
            .structure
            .execute(request, condition(http), &mut changed)?;
        match executed {
            Executed::Answer(index, names) => self.read((index, &names), request, &changed),
            Executed::Object { body, tag } => {
                let tag = HeaderValue::try_from(tag).ok();
                Ok((body, tag.map(|tag| (ETAG, tag)).into_iter().collect()))
            }
            Executed::Accepted => Ok((self.interface.done.clone(), Vec::new())),
            Executed::Changed => {
                if !decision.has(FaultKind::LostWrite) {
                    *content = changed;
                    state.number += 1;
                }
                let mut answer = self.interface.done.clone();
                // With a candidate, only its commit is a task.
                if let (Some(tasks), None) = (&mut state.tasks, &state.candidates) {
                    tasks.add(None, &mut answer);
                }
                Ok((answer, Vec::new()))
            }
        }
    }

    fn read(
        &self,
        (index, names): (usize, &RequestNames),
        request: &RestRequest,
        content: &RestContent,
    ) -> Result<Answered, RequestRefusal> {
        let shape = self.structure.answer(index);
        let mut answer = match &shape.part {
            Some(part) => part_of(part, &content[index], names),
            None => content[index].clone(),
        };
        let rows = shape.rows.as_ref();
        let list = rows.and_then(|rows| rows.get(&answer));
        let is_empty = list.is_none_or(|list| match list {
            Value::Array(items) => items.is_empty(),
            Value::Object(members) => members.is_empty(),
            _ => true,
        });
        if shape.is_optional && is_empty {
            return refuse(NOT_FOUND, self.interface.missing.as_str());
        }
        let mut headers = Vec::new();
        if let (Some(shape), Some(rows)) = (&self.interface.pages, rows) {
            let link = pages::divide(shape, rows, request, &mut answer);
            let link = link.and_then(|link| HeaderValue::try_from(link).ok());
            headers.extend(link.map(|link| (LINK, link)));
        }
        Ok((answer, headers))
    }

    /// The token of requests, if no request issues one.
    pub(in crate::structural) fn token(&self) -> Option<String> {
        lock(&self.state).login.supplied_token()
    }

    /// What reads return, by the name of the read.
    pub(in crate::structural) fn text(&self) -> String {
        let state = lock(&self.state);
        let answers = state.running.iter().enumerate();
        let answers = answers.map(|(index, answer)| {
            let name = self.structure.answer(index).name.clone();
            (name, answer.clone())
        });
        Value::Object(answers.collect()).to_string()
    }

    fn refusal(&self, refusal: &RequestRefusal) -> Value {
        let mut body = self.interface.refused.clone();
        let message = &self.interface.session.message;
        *message.get_or_insert(&mut body) = refusal.message.clone().into();
        body
    }

    /// Whether a request has a password in its body.
    pub(super) fn is_login(&self, http: &HttpRequest) -> bool {
        let target = format!("{}?{}", http.path, http.query);
        let request = RestRequest::new(&http.method, &target, Value::Null);
        lock(&self.state).login.is_login(&request, &self.common)
    }
}

/// The condition in the headers of a request.
fn condition(http: &HttpRequest) -> Option<Condition> {
    if http.header(IF_NONE_MATCH.as_str()) == Some("*") {
        return Some(Condition::Missing);
    }
    let tag = http.header(IF_MATCH.as_str())?;
    Some(Condition::Tag(tag.to_owned()))
}
