//! Self-tests in definitions: device text → resources, desired resource → commands or requests.

pub(crate) mod platform_test;
pub(super) mod test_source;

use std::fmt;
use std::sync::Arc;

use super::facts::Facts;
use crate::definitions::FILE_SUFFIX;
use crate::diagnostic::Source;
use crate::document::{Item, KeyValue, Named, ValueShape, keys};
use crate::read::Reads;
use crate::value::{Attributes, Value};

/// The answers in `given`, as texts or from files.
#[derive(Clone, Debug, Default)]
pub(super) struct SuppliedAnswers(pub(super) Reads);

impl KeyValue for SuppliedAnswers {
    fn declare(shape: &ValueShape) {
        Named::<String>::declare(shape);
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        let answers = Named::<String>::read(item)?.into_iter();
        let answers = answers.map(|(name, text)| {
            let Some(read) = name.strip_suffix(FILE_SUFFIX) else {
                return Some((name.value, text));
            };
            match item.findings.source.input(&text) {
                Ok(content) => Some((read.to_owned(), content.to_owned())),
                Err(reason) => {
                    item.error("test", format!("cannot read `{text}`: {reason}"));
                    None
                }
            }
        });
        let answers: Option<Reads> = answers.collect();
        answers.map(Self)
    }

    fn absent() -> Option<Self> {
        Some(Self::default())
    }
}

/// Texts by name.
pub(super) fn texts(texts: Named<String>) -> Facts {
    let texts = texts.into_iter();
    texts.map(|(name, text)| (name.value, text)).collect()
}

/// The attributes of a resource or an instance.
#[derive(Clone, Debug)]
pub(super) struct ResourceValues(Attributes);

impl KeyValue for ResourceValues {
    fn declare(shape: &ValueShape) {
        Named::<Value>::declare(shape);
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        let values = Named::<Value>::read(item)?.into_iter();
        let values = values.map(|(name, value)| (name.value, value));
        Some(Self(values.collect()))
    }
}

keys! {
    /// A test of a type.
    pub(super) struct SelfTestKeys {
        /// Name of the test.
        name: String,
        /// Facts and options that select a variant.
        facts: Named<String>,
        /// Answers by read.
        supplied as "given": SuppliedAnswers,
        /// The desired resource.
        want: Option<ResourceValues>,
        /// The expected lines.
        commands: Option<Vec<String>>,
        /// The expected requests or edits.
        requests: Option<Vec<String>>,
        /// All instances with all attributes.
        expect: Option<Vec<ResourceValues>>,
        /// All lines, rows and objects that are recognized and not understood.
        not_understood: Option<Vec<String>>,
        /// `expect` has only some attributes of each instance.
        subset: bool,
        /// Only the configuration of the device is known.
        offline: bool,
        /// The expected refusal before the connection.
        error: Option<String>,
    }
}

/// What a test covers; a shipped definition needs all that apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Coverage {
    Read,
    Create,
    Change,
    Remove,
    SecondRun,
    Refusal,
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Coverage::Read => "read",
            Coverage::Create => "create",
            Coverage::Change => "change",
            Coverage::Remove => "remove",
            Coverage::SecondRun => "no difference (`commands = []`)",
            Coverage::Refusal => "refusal",
        })
    }
}

/// A test of a definition.
#[derive(Clone, Debug)]
pub(crate) struct SelfTest {
    pub(crate) name: String,
    /// Its file: the definition, or the file that the definition extends.
    pub(super) source: Arc<Source>,
    pub(super) supplied: Reads,
    pub(super) facts: Facts,
    pub(super) want: Option<Attributes>,
    pub(super) expect: Option<Vec<Attributes>>,
    /// `expect` has only some attributes of the instances.
    pub(super) is_subset: bool,
    /// Only the configuration of the device is known.
    pub(super) is_offline: bool,
    /// All texts that are not understood.
    pub(super) not_understood: Option<Vec<String>>,
    pub(super) operations: Option<Vec<String>>,
    pub(super) error: Option<String>,
}

impl SelfTest {
    pub(super) fn load(item: &Item<'_>) -> Option<Self> {
        let keys = SelfTestKeys::read(item)?;
        let expect = keys.expect.map(|all| all.into_iter().map(|one| one.0));
        if keys.commands.is_some() && keys.requests.is_some() {
            item.error("test", "a test has either `commands` or `requests`");
        }
        let test = Self {
            source: Arc::clone(&item.findings.source),
            supplied: keys.supplied.0,
            facts: texts(keys.facts),
            want: keys.want.map(|want| want.0),
            expect: expect.map(Iterator::collect),
            is_subset: keys.subset,
            is_offline: keys.offline,
            not_understood: keys.not_understood,
            operations: keys.commands.or(keys.requests),
            error: keys.error,
            name: keys.name,
        };
        let complete = match &test.want {
            Some(_) => test.operations.is_some() || test.error.is_some(),
            None => test.expect.is_some() || test.not_understood.is_some(),
        };
        if test.is_subset && test.expect.is_none() {
            item.error("test", "`subset` has no effect without `expect`");
        }
        if !complete {
            item.findings.error_with_help(
                "test",
                item.span.clone(),
                format!("the test `{}` has no expectation", test.name),
                "add `expect`, `not_understood`, or `want` with `commands`, `requests` or `error`",
            );
        }
        Some(test)
    }

    /// What the test may cover, as far as its keys show it.
    pub(super) fn may_cover(&self) -> Vec<Coverage> {
        let mut covered = Vec::new();
        if self.expect.is_some() {
            covered.push(Coverage::Read);
        }
        let Some(want) = &self.want else {
            return covered;
        };
        let is_removed = want.get("ensure").and_then(Value::as_str) == Some("absent");
        covered.extend(match &self.operations {
            None => vec![Coverage::Refusal],
            Some(sent) if sent.is_empty() => vec![Coverage::SecondRun],
            Some(_) if is_removed => vec![Coverage::Remove],
            Some(_) => vec![Coverage::Create, Coverage::Change],
        });
        covered
    }

    /// The resource that the test applies to any device of the platform, without an error or removal.
    pub(super) fn applied_resource(&self) -> Option<&Attributes> {
        let is_general = self.error.is_none() && self.facts == Facts::default();
        let want = self.want.as_ref().filter(|_| is_general)?;
        let is_removed = want.get("ensure").and_then(Value::as_str) == Some("absent");
        (!is_removed).then_some(want)
    }
}
