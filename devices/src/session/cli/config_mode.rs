//! The configuration mode of a session, and the steps to another one.

use crate::dialogue::CliRules;
use crate::secret::Text;

/// The mode of the device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ConfigMode {
    /// In the mode for reads.
    Read,
    /// Configuration, in these modes, outermost first; none means global configuration.
    Config(Vec<Text>),
    /// Unknown: a line was refused, or the prompt was unexpected.
    Unknown,
}

/// One step to another mode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ModeStep {
    /// Leave configuration.
    End,
    /// Enter global configuration.
    Configure,
    /// Leave this number of modes, as one batch.
    Exit(usize),
    /// Enter the mode at this depth of the required path. Nothing more is sent before its prompt.
    Enter(usize),
}

impl ConfigMode {
    /// The steps to the mode path `desired`.
    pub(crate) fn steps_to(&self, desired: &[Text], rules: &CliRules) -> Vec<ModeStep> {
        let mut steps = Vec::new();
        let current: &[Text] = match self {
            ConfigMode::Config(path) => path,
            ConfigMode::Read => {
                steps.push(ModeStep::Configure);
                &[]
            }
            ConfigMode::Unknown => {
                steps.extend([ModeStep::End, ModeStep::Configure]);
                &[]
            }
        };
        let shared = current
            .iter()
            .zip(desired)
            .take_while(|(a, b)| a == b)
            .count();
        let is_direct = rules.direct_sub_modes && shared == 0 && !desired.is_empty();
        if current.len() > shared && !is_direct {
            steps.push(ModeStep::Exit(current.len() - shared));
        }
        steps.extend((shared..desired.len()).map(ModeStep::Enter));
        steps
    }
}
