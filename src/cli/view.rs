//! What people and machines see: one rendering each of the same events and results.

mod human;
mod json;
mod operations;
mod plan;
pub mod puppet_code;
mod table;

use std::time::Duration;

use switchtender_devices::session::Statistics;

use super::Global;
use super::run::Output;
use crate::catalog::Level;
use crate::error_chain::chain;
use crate::fleet::device_run::{NotRun, Purpose, Ran};
use crate::fleet::runner::TaskError;
use crate::fleet::tally::Tally;
use crate::transaction::RunEvent;

/// A view of a run over devices.
pub trait View: Send {
    /// Something happened on a device. Events of several devices come mixed.
    fn event(&mut self, device: &str, event: &RunEvent);

    /// A device is done with.
    fn device(&mut self, done: &Done);

    /// Something about the run as a whole, for whoever sits before it.
    fn say(&mut self, text: &str) {
        eprintln!("{text}");
    }

    /// Some time has passed. What was held back to be written together is due.
    fn tick(&mut self) {}

    /// All devices are done with.
    fn end(&mut self, all: &[Ended]);
}

/// A device that is done with.
#[derive(Debug)]
pub struct Done {
    pub device: String,
    pub platform: String,
    pub result: Result<Ran, Failure>,
    pub took: Duration,
}

/// Why a device has no result.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    #[error(transparent)]
    NotRun(#[from] NotRun),
    #[error(transparent)]
    Task(#[from] TaskError),
}

/// What is kept of a device's run once it was shown.
#[derive(Debug)]
pub struct Ended {
    pub device: String,
    pub platform: String,
    /// `None`: the device could not run.
    pub came_to: Option<(Tally, Statistics)>,
    pub took: Duration,
}

impl Ended {
    pub fn tally(&self) -> Option<Tally> {
        self.came_to.map(|(tally, _)| tally)
    }
}

impl From<Done> for Ended {
    fn from(done: Done) -> Self {
        let ran = done.result.ok();
        Self {
            device: done.device,
            platform: done.platform,
            came_to: ran.map(|ran| (ran.tally, ran.statistics)),
            took: done.took,
        }
    }
}

/// An error of a device in one line, which begins with the device as errors of sessions do.
pub fn of_device(device: &str, error: &dyn std::error::Error) -> String {
    let why = chain(error);
    if why.starts_with(&format!("{device}: ")) {
        why
    } else {
        format!("{device}: {why}")
    }
}

/// Messages below this level are left out.
fn level(global: &Global) -> Level {
    match global.verbose {
        0 => Level::Notice,
        1 => Level::Info,
        _ => Level::Debug,
    }
}

/// The view that the user asked for, of a run over so many devices that only says what it would
/// change (`noop`), or changes it.
pub fn new(
    output: Output,
    purpose: Purpose,
    noop: bool,
    global: &Global,
    devices: usize,
) -> Box<dyn View> {
    match output {
        Output::Json => Box::new(json::Json::new(purpose, global)),
        Output::Human => Box::new(human::Human::new(purpose, noop, global, devices)),
    }
}
