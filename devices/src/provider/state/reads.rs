//! The reads of the run and their answers.

use std::sync::Arc;

use foldhash::{HashMap, HashSet};

use super::DeviceState;
use crate::change::{Desired, Instance};
use crate::model::TypeModel;
use crate::names::TypeName;
use crate::provider::ProviderError;
use crate::read::{ReadRequest, Reads, State};

/// What was read, and for which resources.
#[derive(Default)]
pub(in crate::provider) struct RunReads {
    /// Resources that the run will read; empty after the first prefetch.
    pub(in crate::provider) expected: Vec<Arc<Desired>>,
    /// Resources of the first prefetch.
    pub(in crate::provider) announced: Vec<Arc<Desired>>,
    /// Types whose reads were sent.
    pub(in crate::provider) types: HashSet<TypeName>,
    /// The reads that were sent, each with its error if its last answer was none.
    pub(in crate::provider) sent: HashMap<String, Option<ProviderError>>,
}

impl DeviceState {
    /// Announces the resources of the run.
    pub(in crate::provider) fn expect(&mut self, resources: Vec<Arc<Desired>>) {
        // A preview of the run has read everything. The run uses the same state.
        if self.reads.types.is_empty() {
            self.reads.expected = resources;
        }
        self.previewed = None;
    }

    /// The reads for all resources of the run.
    pub(in crate::provider) fn first_reads(
        &mut self,
        expected: &[Arc<Desired>],
    ) -> Vec<ReadRequest> {
        for desired in expected {
            self.note_left_out(desired);
        }
        let desired: Vec<&Desired> = expected.iter().map(Arc::as_ref).collect();
        self.driver.reads_for(&desired)
    }

    /// Records that the reads for all resources of the run were sent.
    pub(in crate::provider) fn announce(&mut self, expected: Vec<Arc<Desired>>) {
        let types = expected.iter().map(|desired| desired.model.name.clone());
        self.reads.types.extend(types);
        self.reads.announced = expected;
    }

    /// Those of the reads that were not sent.
    pub(in crate::provider) fn unsent(
        &self,
        requests: impl IntoIterator<Item = ReadRequest>,
    ) -> Vec<ReadRequest> {
        let requests = requests.into_iter();
        let unsent = requests.filter(|request| !self.reads.sent.contains_key(&request.name));
        unsent.collect()
    }

    /// Parses answers. Errors are kept for the types that need the reads.
    pub(in crate::provider) fn parse(&mut self, answers: &Reads) -> State {
        let (state, errors) = self.driver.platform().parse_answers(answers, &self.now);
        for error in errors {
            let failed = ProviderError::failed(error.to_string());
            self.reads.sent.insert(error.read, Some(failed));
        }
        state
    }

    /// Adds answers from before the first change of the run to what they show.
    pub(in crate::provider) fn add_answers(&mut self, read: State) {
        self.now.extend(read.clone());
        self.staged.extend_state(&read);
        // Previewed changes began without these answers. Those that they have contain their effect.
        if let Some(previewed) = &mut self.previewed {
            previewed.state.add_missing(&read);
        }
        self.before.extend(read);
    }

    /// All instances of a type, as far as they were read.
    pub(in crate::provider) fn instances(
        &self,
        model: &Arc<TypeModel>,
    ) -> Result<Vec<Instance>, ProviderError> {
        self.check_failed_reads(model)?;
        self.driver
            .instances(model, &self.now)
            .map_err(|error| ProviderError::failed(error.to_string()))
    }

    /// Fails if a read failed that the type needs.
    pub(in crate::provider) fn check_failed_reads(
        &self,
        model: &Arc<TypeModel>,
    ) -> Result<(), ProviderError> {
        let refused = |name: &str| self.reads.sent.get(name).cloned().flatten();
        let mut requests = self.driver.reads(&[model]).into_iter();
        requests
            .find_map(|request| refused(&request.name))
            .map_or(Ok(()), Err)
    }
}
