//! Tests in `platform.toml`: prompts and their modes, messages and their classes, facts.

use super::{SuppliedAnswers, texts};
use crate::document::{Item, KeyValue, Named, keys};
use crate::driver::facts::Facts;
use crate::read::Reads;

/// A test of a platform.
#[derive(Clone, Debug)]
pub(crate) struct PlatformTest {
    pub(in crate::driver) name: String,
    /// It stands in a user's file.
    pub(in crate::driver) own: bool,
    pub(in crate::driver) expectation: PlatformExpectation,
}

/// What a test of a platform expects.
#[derive(Clone, Debug)]
pub(in crate::driver) enum PlatformExpectation {
    /// A line is the prompt of a mode.
    Prompt { line: String, mode: String },
    /// A line of output has a class of `[error]`, or `none`.
    Class { line: String, class: String },
    /// An output lists these sessions, the own one first.
    Sessions {
        output: String,
        sessions: Vec<String>,
    },
    /// An output names who has the lock of the configuration.
    Holder { output: String, holder: String },
    /// Answers have these facts.
    Facts { answers: Reads, facts: Facts },
}

keys! {
    /// A test of a platform.
    pub(in crate::driver) struct PlatformTestKeys {
        /// Name of the test.
        name: String,
        /// A prompt.
        prompt: Option<String>,
        /// The mode of the prompt.
        mode: Option<String>,
        /// A line of output, or the output of `sessions.list`.
        output: Option<String>,
        /// Its class in `[error]`, or `none`.
        class: Option<String>,
        /// The sessions in the output, each `ID USER MARK`, the own one first.
        sessions: Vec<String>,
        /// Who has the lock of the configuration, by this output.
        holder: Option<String>,
        /// Answers by read.
        supplied as "given": SuppliedAnswers,
        /// Facts in these answers.
        facts: Named<String>,
    }
}

impl PlatformTest {
    pub(crate) fn load(item: &Item<'_>, shipped: bool) -> Option<Self> {
        let keys = PlatformTestKeys::read(item)?;
        let prompt = keys.prompt.zip(keys.mode);
        let sessions = Some(keys.sessions).filter(|sessions| !sessions.is_empty());
        let of_output = match (keys.output, keys.class, sessions, keys.holder) {
            (Some(line), Some(class), None, None) => {
                Some(PlatformExpectation::Class { line, class })
            }
            (Some(output), None, Some(sessions), None) => {
                Some(PlatformExpectation::Sessions { output, sessions })
            }
            (Some(output), None, None, Some(holder)) => {
                Some(PlatformExpectation::Holder { output, holder })
            }
            _ => None,
        };
        let facts = texts(keys.facts);
        let answers = keys.supplied.0;
        let expectation = match (prompt, of_output, facts.is_empty()) {
            (Some((line, mode)), None, true) => PlatformExpectation::Prompt { line, mode },
            (None, Some(expectation), true) => expectation,
            (None, None, false) => PlatformExpectation::Facts { answers, facts },
            _ => {
                item.findings.error_with_help(
                    "test",
                    item.span.clone(),
                    "a test of a platform has one expectation",
                    "add `prompt` and `mode`, or `output` with `class`, `sessions` or `holder`, or `given` and `facts`",
                );
                return None;
            }
        };
        Some(Self {
            name: keys.name,
            own: !shipped,
            expectation,
        })
    }
}
