//! The session among all sessions of the device: recorded before its first write, after the earlier ones ended.

#[cfg(test)]
mod tests;

use std::time::Duration;

use super::CliSession;
use super::opening::PendingStep;
use crate::dialogue::cli_rules::Step;
use crate::dialogue::session_rules::{ListedSession, SessionList, SessionRules};
use crate::dialogue::{Classification, Command};
use crate::secret::Text;
use crate::session::Access;
use crate::session::error::SessionErrorKind;
use crate::session::ledger::EarlierSessions;

/// How often the device is asked whether a session has ended, and the pause before it is asked again.
const ATTEMPTS: u32 = 5;
const PAUSE: Duration = Duration::from_secs(1);

/// Whether the session may write.
#[derive(Clone, Debug)]
pub(super) enum Admission {
    /// Nothing was written yet.
    Open,
    /// `None`: the session is not recorded.
    Admitted(Option<ListedSession>),
    /// Earlier sessions of the login may still write.
    Refused(SessionErrorKind),
}

impl CliSession {
    /// Ends the earlier sessions and records this one, before its first write.
    ///
    /// # Errors
    /// An earlier session cannot be ended, or the session cannot be recorded. Nothing may be written.
    pub(super) async fn admit(&mut self) -> Result<(), SessionErrorKind> {
        match &self.admission {
            Admission::Admitted(_) => return Ok(()),
            Admission::Refused(kind) => return Err(kind.clone()),
            Admission::Open => {}
        }
        let earlier = self
            .ledger
            .earlier()
            .filter(|_| self.access == Access::ReadWrite);
        let (Some(earlier), Some(rules)) = (earlier, self.rules.sessions.clone()) else {
            self.admission = Admission::Admitted(None);
            return Ok(());
        };
        match self.end_earlier_and_record(&rules, earlier).await {
            Ok(own) => {
                self.admission = Admission::Admitted(own);
                Ok(())
            }
            Err(kind) => {
                self.admission = Admission::Refused(kind.clone());
                Err(kind)
            }
        }
    }

    /// Removes the record of this session.
    pub(super) async fn end_record(&mut self) {
        if let Admission::Admitted(Some(own)) = &self.admission {
            self.ledger.end(own).await;
        }
    }

    async fn end_earlier_and_record(
        &mut self,
        rules: &SessionRules,
        earlier: EarlierSessions,
    ) -> Result<Option<ListedSession>, SessionErrorKind> {
        let listed = self.list_sessions(rules).await;
        let (own, others) = match listed {
            Ok(SessionList {
                own: Some(own),
                others,
            }) => (own, others),
            Ok(SessionList { own: None, .. }) => {
                let reason = format!("the device does not mark the own one in `{}`", rules.list);
                return self.unrecorded(earlier, reason);
            }
            Err(kind @ SessionErrorKind::CommandRefused { .. }) => {
                return self.unrecorded(earlier, kind.to_string());
            }
            Err(kind) => return Err(kind),
        };
        let is_earlier = |session: &ListedSession| {
            earlier.recorded.contains(session)
                || earlier.all_of_login
                    && session.user == own.user
                    && !self.ledger.is_of_run(session)
        };
        let ended: Vec<ListedSession> = others.into_iter().filter(is_earlier).collect();
        self.end_sessions(rules, &ended).await?;
        let recorded = async {
            if !earlier.is_empty() {
                self.ledger.earlier_ended(ended).await?;
            }
            self.ledger.begin(&own).await
        };
        let recorded = recorded.await;
        recorded.map_err(|reason| SessionErrorKind::SessionNotRecorded { reason })?;
        Ok(Some(own))
    }

    /// The sessions cannot be listed. Without an earlier session to end, the session writes unrecorded.
    fn unrecorded(
        &self,
        earlier: EarlierSessions,
        reason: String,
    ) -> Result<Option<ListedSession>, SessionErrorKind> {
        if earlier.is_empty() {
            self.ledger.note(reason);
            return Ok(None);
        }
        Err(SessionErrorKind::SessionsRemain {
            sessions: earlier.recorded,
            reason,
        })
    }

    /// Ends sessions, and waits until the device does not list them anymore.
    async fn end_sessions(
        &mut self,
        rules: &SessionRules,
        sessions: &[ListedSession],
    ) -> Result<(), SessionErrorKind> {
        let mut refusal = None;
        for session in sessions {
            let command = Command {
                line: Text::plain(rules.end_line(session)),
                accept_questions: true,
                ..Command::default()
            };
            for answered in self.send_all(vec![command]).await? {
                let verdict = Classification::new(&self.rules, &answered.command, &answered.answer);
                let refused = verdict.refusal;
                if let Some(found) = refused {
                    refusal = Some(self.refusal_error(&answered.command, found));
                }
            }
        }
        let mut remaining = sessions.to_vec();
        for attempt in 0..ATTEMPTS {
            if remaining.is_empty() {
                return Ok(());
            }
            if attempt > 0 {
                tokio::time::sleep(PAUSE).await;
            }
            let SessionList { others, .. } = self.list_sessions(rules).await?;
            remaining.retain(|session| others.contains(session));
        }
        if remaining.is_empty() {
            return Ok(());
        }
        let reason = refusal.map(|kind| kind.to_string());
        let reason = reason.unwrap_or_else(|| format!("`{}` still lists them", rules.list));
        Err(SessionErrorKind::SessionsRemain {
            sessions: remaining,
            reason,
        })
    }

    async fn list_sessions(
        &mut self,
        rules: &SessionRules,
    ) -> Result<SessionList, SessionErrorKind> {
        self.send_reads(&[]).await?;
        let step = PendingStep::set_up(Step {
            send: rules.list.clone(),
            modes: Vec::new(),
            expect: None,
            optional: false,
        });
        let answered = self.send_all(vec![step.command()]).await?;
        let mut output = String::new();
        for answered in &answered {
            self.check_step(&step, answered)?;
            output = answered.answer.output.join("\n");
        }
        Ok(rules.read(&output))
    }
}
