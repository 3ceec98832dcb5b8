//! The locks of a run, and the state of the device that answers.

use std::time::Duration;

use switchtender_devices::session::Session;

use super::{DeviceRunError, Running};
use crate::fleet::connector::{DeviceConnector, OpenDevice};
use crate::fleet::run_request::LockWait;
use crate::fleet::state_files::DeviceState;
use crate::fleet::undo::UndoRecord;
use crate::store::identity::{DeviceIdentity, Owner};
use crate::store::{LockError, LockSubject};

impl Running<'_> {
    /// Takes a lock for the rest of the run.
    ///
    /// # Errors
    /// Another run has it, and does not end within the time of [`LockWait`].
    pub(super) async fn lock(&mut self, subject: &LockSubject) -> Result<(), DeviceRunError> {
        let LockWait { interval, limit } = self.request.lock_wait;
        let mut waited = Duration::ZERO;
        loop {
            match self.store.lock(subject) {
                Err(LockError::Held { .. })
                    if !interval.is_zero()
                        && limit.is_none_or(|limit| waited < limit)
                        && !self.stop.is_cancelled() => {}
                result => {
                    self.locks.push(result?);
                    return Ok(());
                }
            }
            tokio::select! {
                () = self.stop.cancelled() => {}
                () = tokio::time::sleep(interval) => {}
            }
            waited += interval;
        }
    }

    /// Locks the device that answers, and loads its state. Says so if the state is a new one.
    ///
    /// # Errors
    /// Another run has locked the device, its files cannot be read, or the run that is undone was on another
    /// device.
    pub(super) async fn find_state(
        &mut self,
        seen: Owner,
        undone: Option<&UndoRecord>,
    ) -> Result<DeviceState, DeviceRunError> {
        let serials: Vec<String> = seen.identity.serials().map(str::to_owned).collect();
        let identity = seen.identity.clone();
        for serial in serials {
            self.lock(&LockSubject::Serial(serial)).await?;
        }
        self.owned = self.store.owned_by(seen)?;
        if let Some(record) = undone
            && !record.is_in(&self.owned.store)
        {
            let newest = UndoRecord::runs(&self.owned.store)?.pop();
            return Err(DeviceRunError::OtherDevice {
                changed: Box::new(record.owner.clone()),
                hint: self.undo_hint(newest, &identity),
                identity,
            });
        }
        if let Some(known) = self.owned.known.last() {
            let text = format!(
                "another device answers as {}: {}; the last one was {known}. A new state begins, and the old one \
                 is kept{}",
                self.events.device(),
                self.owned.owner,
                self.accept_hint(&identity),
            );
            self.events.run_log().warning(text);
        }
        let state = DeviceState::load(&self.owned.store)?;
        if let Some(notice) = state.remembered.drop_notice() {
            self.events.run_log().notice(notice);
        }
        Ok(state)
    }

    /// Opens another session with the device.
    ///
    /// # Errors
    /// There is no session, or another device answers.
    pub(super) async fn open_again(
        &self,
        connector: &DeviceConnector,
    ) -> Result<Box<dyn Session>, DeviceRunError> {
        let OpenDevice {
            mut session,
            identity,
            ..
        } = connector.open().await?;
        if !identity.is_other(&self.owned.owner.identity) {
            return Ok(session);
        }
        session.close().await;
        Err(DeviceRunError::OtherUnit { identity })
    }

    /// The command that joins the states. Without number and key there is none.
    fn accept_hint(&self, identity: &DeviceIdentity) -> String {
        let device = self.events.device();
        identity.word().map_or_else(String::new, |word| {
            format!(
                ". If it replaces that device, or is the other unit of its pair: `switchtender state-dir accept \
                 {device} {word} --state-dir {}`",
                self.store.root().display()
            )
        })
    }

    fn undo_hint(&self, newest: Option<String>, identity: &DeviceIdentity) -> String {
        let device = self.events.device();
        match newest {
            Some(run) => format!(
                "undo the last run of this device with `switchtender undo {run} --target {device}`"
            ),
            None => format!(
                "no run of this device is stored{}",
                self.accept_hint(identity)
            ),
        }
    }
}
