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
        /// A line of output.
        output: Option<String>,
        /// Its class in `[error]`, or `none`.
        class: Option<String>,
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
        let output = keys.output.zip(keys.class);
        let facts = texts(keys.facts);
        let answers = keys.supplied.0;
        let expectation = match (prompt, output, facts.is_empty()) {
            (Some((line, mode)), None, true) => PlatformExpectation::Prompt { line, mode },
            (None, Some((line, class)), true) => PlatformExpectation::Class { line, class },
            (None, None, false) => PlatformExpectation::Facts { answers, facts },
            _ => {
                item.findings.error_with_help(
                    "test",
                    item.span.clone(),
                    "a test of a platform has one expectation",
                    "add `prompt` and `mode`, or `output` and `class`, or `given` and `facts`",
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
