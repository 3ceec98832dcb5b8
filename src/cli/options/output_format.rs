//! The forms of output.

use clap::ValueEnum;

/// The output of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Output {
    Human,
    Json,
}

/// The output of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RunOutput {
    /// Text
    Human,
    /// One JSON object per line
    Json,
    /// An HTML page in one file, with the graphs of up to 20 devices
    Html,
}
