//! A run as the user names it: by the number of one device's run in the store, or by the name that the runs of all
//! devices of one command have.

use crate::cli::exit::CommandError;
use crate::cli::options::store_options::{StoreOption, store_error};
use crate::history::RunId;
use crate::history::runs::{RunEntry, RunFilter};

/// A run that an argument names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RunReference {
    Number(RunId),
    Name(String),
}

impl RunReference {
    /// `None`: the text is another word, such as the name of a device.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if let Ok(number) = text.parse() {
            return Some(RunReference::Number(number));
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

    /// The runs in the store, newest first; one at least.
    ///
    /// # Errors
    /// The store cannot be read, or has no such run.
    pub(crate) fn find(&self, store: &StoreOption) -> Result<Vec<RunEntry>, CommandError> {
        let history = store.existing()?;
        let found = history.read(|reader| match self {
            RunReference::Number(run) => Ok(reader.run(*run)?.into_iter().collect()),
            RunReference::Name(name) => reader.runs(&RunFilter {
                name: Some(name.clone()),
                limit: u32::MAX,
                ..RunFilter::default()
            }),
        });
        let found: Vec<RunEntry> = found.map_err(store_error)?;
        if found.is_empty() {
            return Err(CommandError::new(format!("the store has no run {self}"))
                .hint("list the runs with `switchtender history`"));
        }
        Ok(found)
    }
}

impl std::fmt::Display for RunReference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            RunReference::Number(run) => run.fmt(f),
            RunReference::Name(name) => f.write_str(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_have_a_number_or_a_name() {
        for (text, expected) in [
            ("4711", Some(RunReference::Number(RunId(4711)))),
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
