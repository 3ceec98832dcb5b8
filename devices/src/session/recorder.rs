//! A session that writes its requests and answers to a recording, with secrets masked.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::PathBuf;

use async_trait::async_trait;
use serde_json::Value as Json;

use super::error::{SessionError, SessionErrorKind};
use super::mask::mask_device_text;
use super::{
    AnswersWithTimer, RevertAbsence, RevertLimit, RevertMethod, Session, Statistics, TimerState,
};
use crate::dialogue::Protocol;
use crate::operation::{Operation, OperationResult, Outcome};
use crate::read::ReadRequest;
use crate::recording::{Exchange, ExchangeKind, RecordedOutcome, Recording};
use crate::secret_mask::SecretMask;

/// The file of a recording. Sessions append to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordingFile {
    /// Its path.
    pub path: PathBuf,
    /// Name of the platform.
    pub platform: String,
}

/// Appends exchanges to a recording.
pub(super) struct Recorder {
    file: Option<File>,
    path: PathBuf,
    protocol: Protocol,
    secrets: SecretMask,
    /// Exchanges from the time before all secrets were known.
    held: Vec<Exchange>,
}

impl Recorder {
    /// Opens the file, readable for owner and group only. As with a transcript, nothing is written
    /// before `secrets` are complete, or the session ends.
    pub(super) fn create(
        recording: &RecordingFile,
        protocol: &Protocol,
        secrets: &SecretMask,
    ) -> Result<Self, SessionErrorKind> {
        let open = || -> io::Result<File> {
            let mut options = File::options();
            options.append(true).create(true);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o640);
            let mut file = options.open(&recording.path)?;
            if file.metadata()?.len() == 0 {
                file.write_all(Recording::header(&recording.platform).as_bytes())?;
            }
            Ok(file)
        };
        let file = open().map_err(|error| SessionErrorKind::File {
            action: "cannot write the recording",
            path: recording.path.clone(),
            reason: error.to_string(),
        })?;
        Ok(Self {
            file: Some(file),
            path: recording.path.clone(),
            protocol: protocol.clone(),
            secrets: secrets.clone(),
            held: Vec::new(),
        })
    }

    /// Records the answers to reads.
    fn reads(&mut self, requests: &[ReadRequest], answers: &[String]) {
        for (request, answer) in requests.iter().zip(answers) {
            self.read(request, answer);
        }
    }

    /// Records the answer to a read.
    pub(super) fn read(&mut self, request: &ReadRequest, answer: &str) {
        let answer = match serde_json::from_str(answer) {
            Ok(json @ (Json::Object(_) | Json::Array(_))) => format!("{json:#}"),
            _ => answer.to_owned(),
        };
        let is_refused = request.optional && answer.is_empty();
        self.record(Exchange {
            kind: ExchangeKind::Read(request.name.clone()),
            request: request.describe(),
            answer,
            outcome: if is_refused {
                RecordedOutcome::Refused
            } else {
                RecordedOutcome::Done
            },
        });
    }

    fn record(&mut self, exchange: Exchange) {
        self.held.push(exchange);
        if self.secrets.is_complete() {
            self.write_held();
        }
    }

    fn write_held(&mut self) {
        let mut text = String::new();
        for mut exchange in std::mem::take(&mut self.held) {
            for part in [&mut exchange.request, &mut exchange.answer] {
                *part = mask_device_text(&self.protocol, &self.secrets, part);
            }
            text += &exchange.to_string();
        }
        // A full disk ends the recording, not the session.
        if let Some(file) = &mut self.file
            && let Err(error) = file.write_all(text.as_bytes())
        {
            self.file = None;
            let path = self.path.display();
            tracing::warn!("the recording is incomplete: cannot write {path}: {error}");
        }
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.write_held();
    }
}

/// A session with a recorder.
pub(super) struct RecordingSession {
    pub(super) inner: Box<dyn Session>,
    pub(super) recorder: Recorder,
}

#[async_trait]
impl Session for RecordingSession {
    async fn read(&mut self, requests: &[ReadRequest]) -> Result<Vec<String>, SessionError> {
        let read = self.inner.read(requests).await;
        match (&read, requests) {
            (Ok(texts), _) => self.recorder.reads(requests, texts),
            (Err(error), [request]) => self.recorder.record(Exchange {
                kind: ExchangeKind::Read(request.name.clone()),
                request: request.describe(),
                answer: error.kind.to_string(),
                outcome: if error.is_refusal() {
                    RecordedOutcome::Refused
                } else {
                    RecordedOutcome::Unknown
                },
            }),
            // Which one failed is unknown; the reads are sent again one by one.
            (Err(_), _) => {}
        }
        read
    }

    async fn commit(&mut self, operations: &[Operation]) -> Vec<OperationResult> {
        let results = self.inner.commit(operations).await;
        for (operation, result) in operations.iter().zip(&results) {
            let (outcome, answer) = match &result.outcome {
                Outcome::Done { messages } => (RecordedOutcome::Done, messages.join("\n")),
                Outcome::Refused { message } => (RecordedOutcome::Refused, message.clone()),
                Outcome::NotSent => (RecordedOutcome::NotSent, String::new()),
                Outcome::Unknown { reason, .. } => (RecordedOutcome::Unknown, reason.clone()),
            };
            self.recorder.record(Exchange {
                kind: ExchangeKind::Write,
                request: operation.action.text(),
                answer,
                outcome,
            });
        }
        results
    }

    fn awaits_confirmation(&self) -> bool {
        self.inner.awaits_confirmation()
    }

    async fn confirm(&mut self, keep: bool) -> Result<(), SessionError> {
        self.inner.confirm(keep).await
    }

    fn commits_together(&self) -> bool {
        self.inner.commits_together()
    }

    fn revert_limit(&self, method: RevertMethod) -> Option<RevertLimit> {
        self.inner.revert_limit(method)
    }

    async fn missing_for_revert(
        &mut self,
        method: RevertMethod,
    ) -> Result<Option<RevertAbsence>, SessionError> {
        self.inner.missing_for_revert(method).await
    }

    async fn read_with_timer(
        &mut self,
        requests: &[ReadRequest],
        method: RevertMethod,
    ) -> Result<AnswersWithTimer, SessionError> {
        let read = self.inner.read_with_timer(requests, method).await?;
        self.recorder.reads(requests, &read.0);
        Ok(read)
    }

    async fn protect(&mut self, method: RevertMethod) -> Result<TimerState, SessionError> {
        self.inner.protect(method).await
    }

    async fn end_protection(
        &mut self,
        method: RevertMethod,
        keep: bool,
    ) -> Result<TimerState, SessionError> {
        self.inner.end_protection(method, keep).await
    }

    async fn save(&mut self) -> Result<String, SessionError> {
        let saved = self.inner.save().await;
        let (outcome, answer) = match &saved {
            Ok(answer) => (RecordedOutcome::Done, answer.clone()),
            Err(error) if error.is_refusal() => (RecordedOutcome::Refused, error.kind.to_string()),
            Err(error) => (RecordedOutcome::Unknown, error.kind.to_string()),
        };
        self.recorder.record(Exchange {
            kind: ExchangeKind::Save,
            request: String::new(),
            answer,
            outcome,
        });
        saved
    }

    async fn close(&mut self) -> Vec<String> {
        self.inner.close().await
    }

    fn notes(&self) -> Vec<String> {
        self.inner.notes()
    }

    fn host_key(&self) -> Option<String> {
        self.inner.host_key()
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        self.inner.facts()
    }

    fn statistics(&self) -> Statistics {
        self.inner.statistics()
    }
}
