//! The state of devices over the link. Bodies are sealed above it: hubs and the way have no key.

use serde::de::DeserializeOwned;

use super::client::{HubLink, LinkError};
use super::protocol::{LinkCall, StateCall};
use crate::store::state_table::{StateChange, StateRow, StateTable, StateTableError};

impl HubLink {
    fn of_table<T: DeserializeOwned + Send + 'static>(
        &self,
        call: StateCall,
    ) -> Result<T, StateTableError> {
        let answer: Result<Result<T, StateTableError>, _> =
            self.call_and_wait(LinkCall::State(call));
        answer.unwrap_or_else(|error| {
            let reason = error.to_string();
            Err(match error {
                LinkError::Unreachable(_) | LinkError::NotAccepted(_) => {
                    StateTableError::Unreachable { reason }
                }
                LinkError::Foreign(_) => StateTableError::Foreign { reason },
                LinkError::Refused(_) => StateTableError::Failed { reason },
            })
        })
    }
}

impl StateTable for HubLink {
    fn get(&self, device: &str, file: &str) -> Result<Option<StateRow>, StateTableError> {
        let (device, file) = (device.to_owned(), file.to_owned());
        self.of_table(StateCall::Get { device, file })
    }

    fn change(&self, change: &StateChange) -> Result<(), StateTableError> {
        self.of_table(StateCall::Change(change.clone()))
    }

    fn files(&self, device: &str) -> Result<Vec<String>, StateTableError> {
        let device = device.to_owned();
        self.of_table(StateCall::Files { device })
    }

    fn devices(&self) -> Result<Vec<String>, StateTableError> {
        self.of_table(StateCall::Devices)
    }

    fn key(&self) -> Result<Option<String>, StateTableError> {
        self.of_table(StateCall::Key)
    }

    fn use_key(&self, fingerprint: &str) -> Result<String, StateTableError> {
        let fingerprint = fingerprint.to_owned();
        self.of_table(StateCall::UseKey { fingerprint })
    }
}
