//! Whether the configuration that a device runs is made the one it starts with, after a run.
//!
//! No policy saves after a connection that broke once a change was sent: the change may have been
//! what broke it, and a restart is then the way back.

use switchtender_devices::document::Item;

use super::table_settings::word;

/// `save_config`, in `inventory.toml` and in the peer's files of credentials.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SavePolicy {
    /// That is somebody else's business, as it is with Puppet.
    #[default]
    Never,
    /// After a run that has changed the device, if only by a part of a resource that failed.
    OnChange,
    /// After every run that may change the device: what others have left unsaved is saved, too.
    Always,
}

impl SavePolicy {
    pub const WORDS: [(&str, SavePolicy); 3] = [
        ("never", SavePolicy::Never),
        ("on_change", SavePolicy::OnChange),
        ("always", SavePolicy::Always),
    ];

    pub(super) fn read(item: &Item<'_>) -> Option<Self> {
        let Some(yes) = item.value.as_bool() else {
            return word(item, &Self::WORDS);
        };
        let help = if yes {
            "write \"on_change\" to save after a run that has changed the device, \"always\" to save after every run"
        } else {
            "write \"never\""
        };
        item.findings.error_with_help(
            "unknown-word",
            item.span.clone(),
            format!("`{}` is one of three words, not yes or no", item.path),
            help,
        );
        None
    }

    /// The policy of a word.
    pub fn parse(text: &str) -> Option<Self> {
        let mut words = Self::WORDS.into_iter();
        words
            .find(|(word, _)| *word == text)
            .map(|(_, policy)| policy)
    }

    /// Whether to save after a run whose connection held; `changed`: the device took something.
    pub fn is_due(self, changed: bool) -> bool {
        match self {
            SavePolicy::Never => false,
            SavePolicy::OnChange => changed,
            SavePolicy::Always => true,
        }
    }
}
