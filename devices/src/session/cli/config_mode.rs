//! Where in the configuration a session stands, and the way to where it must be.

use crate::dialogue::CliRules;
use crate::secret::Text;

/// Where the device is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ConfigMode {
    /// In the mode for reads.
    Read,
    /// In configuration, within these modes, outermost first; none means global.
    Config(Vec<Text>),
    /// Somewhere in configuration: a line was refused, or the prompt was not the expected one.
    Unknown,
}

/// One step on the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ModeStep {
    /// Leave configuration altogether.
    End,
    /// Begin configuration.
    Configure,
    /// Leave so many modes; may be written together.
    Exit(usize),
    /// Enter the mode at this depth of the wanted path. Its prompt must be seen before anything
    /// else is sent.
    Enter(usize),
}

impl ConfigMode {
    /// The moves that lead to the mode path `wanted`.
    pub fn steps_to(&self, wanted: &[Text], rules: &CliRules) -> Vec<ModeStep> {
        let mut moves = Vec::new();
        let here: &[Text] = match self {
            ConfigMode::Config(path) => path,
            ConfigMode::Read => {
                moves.push(ModeStep::Configure);
                &[]
            }
            ConfigMode::Unknown => {
                moves.extend([ModeStep::End, ModeStep::Configure]);
                &[]
            }
        };
        let shared = here.iter().zip(wanted).take_while(|(a, b)| a == b).count();
        let beside = rules.direct_sub_modes && shared == 0 && !wanted.is_empty();
        if here.len() > shared && !beside {
            moves.push(ModeStep::Exit(here.len() - shared));
        }
        moves.extend((shared..wanted.len()).map(ModeStep::Enter));
        moves
    }
}
