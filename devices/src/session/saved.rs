//! A session whose answers were saved before: nothing connects, and nothing can be written.

use std::collections::{BTreeMap, BTreeSet};

use super::error::{SessionError, SessionErrorKind};
use super::{RevertAbsence, RevertMethod, Session, Statistics};
use crate::operation::{Operation, OperationResult};
use crate::read::{CONFIG, ReadRequest, Reads};
use async_trait::async_trait;

/// The saved answers of a device.
#[derive(Clone, Debug, Default)]
pub struct SavedAnswers {
    /// Name of the device, for messages.
    pub device: String,
    /// The answers by name of the read.
    pub reads: Reads,
}

/// A session with saved answers.
pub struct SavedSession {
    answers: SavedAnswers,
    notes: Vec<String>,
    /// Why configurations that were read are not as a device prints them, by their command.
    incomplete: BTreeMap<String, String>,
    /// The commands of optional reads whose answers are missing.
    missing: BTreeSet<String>,
}

impl SavedSession {
    /// A session that prints these notes.
    pub fn new(answers: SavedAnswers, notes: Vec<String>) -> Self {
        Self {
            answers,
            notes,
            incomplete: BTreeMap::new(),
            missing: BTreeSet::new(),
        }
    }

    fn read_one(&mut self, request: &ReadRequest) -> Result<String, SessionErrorKind> {
        let command = request.command.clone();
        match self.answers.reads.get(&request.name) {
            // The device has refused it.
            Some(text) if request.optional && text.is_empty() => Ok(String::new()),
            Some(text) => match request.answer.check(text) {
                Ok(()) => Ok(text.clone()),
                // A person wrote it, or copied a part of it.
                Err(reason) if request.name == CONFIG && !text.trim().is_empty() => {
                    self.incomplete.insert(command, reason.to_string());
                    Ok(text.clone())
                }
                Err(reason) => Err(SessionErrorKind::UnexpectedAnswer {
                    command,
                    reason: reason.to_string(),
                    output: String::new(),
                }),
            },
            None if request.optional => {
                self.missing.insert(command);
                Ok(String::new())
            }
            None => Err(SessionErrorKind::NotSaved {
                command,
                read: request.name.clone(),
            }),
        }
    }
}

#[async_trait]
impl Session for SavedSession {
    async fn read(&mut self, requests: &[ReadRequest]) -> Result<Vec<String>, SessionError> {
        let texts = requests.iter().map(|request| self.read_one(request));
        let texts: Result<Vec<String>, SessionErrorKind> = texts.collect();
        texts.map_err(|kind| SessionError::new(&self.answers.device, kind))
    }

    /// Saved answers do not have it.
    async fn missing_for_revert(
        &mut self,
        _: RevertMethod,
    ) -> Result<Option<RevertAbsence>, SessionError> {
        let kind = SessionErrorKind::NotSaved {
            command: "timed revert".to_owned(),
            read: "timed revert".to_owned(),
        };
        Err(SessionError::new(&self.answers.device, kind))
    }

    async fn commit(&mut self, operations: &[Operation]) -> Vec<OperationResult> {
        let not_sent = |_: &Operation| OperationResult::not_sent();
        operations.iter().map(not_sent).collect()
    }

    async fn save(&mut self) -> Result<String, SessionError> {
        let command = "save".to_owned();
        let kind = SessionErrorKind::ReadOnly { command };
        Err(SessionError::new(&self.answers.device, kind))
    }

    async fn close(&mut self) -> Vec<String> {
        let incomplete = self.incomplete.iter();
        let incomplete = incomplete.map(|(command, reason)| {
            format!("the output of `{command}` is read, but {reason}: it can be incomplete")
        });
        let missing = self.missing.iter().map(|command| {
            format!(
                "the output of `{command}` is not saved: values that only this output shows are unknown"
            )
        });
        incomplete.chain(missing).collect()
    }

    fn saved_answers(&self) -> Option<&Reads> {
        Some(&self.answers.reads)
    }

    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    fn statistics(&self) -> Statistics {
        Statistics::default()
    }
}
