//! The policy for saving the running configuration as startup configuration after a run.
//!
//! No policy saves after a connection that dropped when a change had been sent: the change can be the
//! cause, and a reload then restores the saved configuration.

use switchtender_devices::document::Item;

use super::table_settings::word;

/// `save_config`, in `inventory.toml` and in the credentials files of `puppet device`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SavePolicy {
    /// Never save, as Puppet does.
    #[default]
    Never,
    /// After a run that has changed the device, also partially.
    OnChange,
    /// After every run that is allowed to change the device. Unsaved changes of other users are saved, too.
    Always,
}

impl SavePolicy {
    pub(crate) const WORDS: [(&str, SavePolicy); 3] = [
        ("never", SavePolicy::Never),
        ("on_change", SavePolicy::OnChange),
        ("always", SavePolicy::Always),
    ];

    pub(super) fn read(item: &Item<'_>) -> Option<Self> {
        let Some(yes) = item.as_bool() else {
            return word(item, &Self::WORDS);
        };
        let help = if yes {
            "use \"on_change\" to save after a run with changes, \"always\" to save after every run"
        } else {
            "use \"never\""
        };
        item.findings.error_with_help(
            "unknown-word",
            item.span.clone(),
            format!(
                "`{}` must be \"never\", \"on_change\" or \"always\"",
                item.path
            ),
            help,
        );
        None
    }

    /// Parses a policy.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut words = Self::WORDS.into_iter();
        words
            .find(|(word, _)| *word == text)
            .map(|(_, policy)| policy)
    }

    /// Whether to save after a run with an intact connection. `changed`: the device has accepted a change.
    pub(crate) fn is_due(self, changed: bool) -> bool {
        match self {
            SavePolicy::Never => false,
            SavePolicy::OnChange => changed,
            SavePolicy::Always => true,
        }
    }
}
