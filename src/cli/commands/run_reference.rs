//! A run as the user names it: by the number or UUID of one device's run in the store, or by the name that the runs of
//! all devices of one command have.

use jiff::Timestamp;

use crate::cli::exit::CommandError;
use crate::cli::options::store_options::{StoreOption, store_error};
use crate::history::folded_runs::FoldedDay;
use crate::history::run_key::RunKey;
use crate::history::runs::{RunEntry, RunFilter};

/// A run that an argument names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RunReference {
    Key(RunKey),
    Name(String),
}

/// What the store has of a run.
pub(crate) enum FoundRuns {
    /// Newest first; one at least.
    Stored(Vec<RunEntry>),
    /// The day of an unchanged run that is folded.
    Folded(FoldedDay),
}

impl RunReference {
    /// `None`: the text is another word, such as the name of a device.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if let Ok(key) = text.parse() {
            return Some(RunReference::Key(key));
        }
        // As `RunName` makes it.
        let has_form = text.len() == "20261123T223551.123Z".len()
            && text.char_indices().all(|(index, character)| match index {
                8 => character == 'T',
                15 => character == '.',
                19 => character == 'Z',
                _ => character.is_ascii_digit(),
            });
        has_form.then(|| RunReference::Name(text.to_owned()))
    }

    /// The runs in the store.
    ///
    /// # Errors
    /// The store cannot be read, or has no such run.
    pub(crate) fn find(&self, store: &StoreOption) -> Result<FoundRuns, CommandError> {
        let history = store.existing()?;
        let found = history.read(|reader| match self {
            RunReference::Key(key) => {
                let number = reader.run_number(*key)?;
                let stored = number.map(|run| reader.run(run)).transpose()?.flatten();
                Ok(match stored {
                    Some(run) => Some(FoundRuns::Stored(vec![run])),
                    None => reader.folded_run(*key)?.map(FoundRuns::Folded),
                })
            }
            RunReference::Name(name) => {
                let runs = reader.runs(&RunFilter {
                    name: Some(name.clone()),
                    limit: u32::MAX,
                    ..RunFilter::default()
                })?;
                Ok((!runs.is_empty()).then_some(FoundRuns::Stored(runs)))
            }
        });
        if let Some(found) = found.map_err(store_error)? {
            return Ok(found);
        }
        let has_folded = history.read(|reader| match self.name_time() {
            Some(time) => reader.has_folded_runs(time),
            None => Ok(false),
        });
        if has_folded.map_err(store_error)? {
            let text = format!("the store has no run {self}: unchanged runs of its day are folded");
            return Err(CommandError::new(text)
                .hint("`switchtender history DEVICE` lists the folded runs by day"));
        }
        Err(CommandError::new(format!("the store has no run {self}"))
            .hint("list the runs with `switchtender history`"))
    }

    /// The time that a name has.
    fn name_time(&self) -> Option<Timestamp> {
        match self {
            RunReference::Key(_) => None,
            RunReference::Name(name) => name.parse().ok(),
        }
    }
}

impl std::fmt::Display for RunReference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            RunReference::Key(key) => key.fmt(f),
            RunReference::Name(name) => f.write_str(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::RunId;

    #[test]
    fn runs_have_a_number_a_uuid_or_a_name() {
        let uuid = "01938bd5-0000-7000-8000-000000000001";
        let key = |text: &str| Some(RunReference::Key(text.parse().unwrap()));
        assert_eq!(RunReference::parse(uuid), key(uuid));
        for (text, expected) in [
            ("4711", Some(RunReference::Key(RunKey::Number(RunId(4711))))),
            (
                "20261123T223551.123Z",
                Some(RunReference::Name("20261123T223551.123Z".to_owned())),
            ),
            ("sw1", None),
            ("20261123T223551", None),
        ] {
            assert_eq!(RunReference::parse(text), expected, "{text}");
        }
    }
}
