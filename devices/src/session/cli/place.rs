//! Where in the configuration a session stands, and the way to where it must be.

use crate::dialogue::Rules;
use crate::secret::Text;

/// Where the device is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// In the mode for reads.
    Reading,
    /// In configuration, within these modes, outermost first; none means global.
    Configuring(Vec<Text>),
    /// Somewhere in configuration: a line was refused, or the prompt was not the expected one.
    Unknown,
}

/// One step on the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Move {
    /// Leave configuration altogether.
    End,
    /// Begin configuration.
    Begin,
    /// Leave so many modes; may be written together.
    Leave(usize),
    /// Enter the mode at this depth of the wanted path. Its prompt must be seen before anything
    /// else is sent.
    Enter(usize),
}

impl Place {
    /// The moves that lead to the mode path `wanted`.
    pub fn way_to(&self, wanted: &[Text], rules: &Rules) -> Vec<Move> {
        let mut moves = Vec::new();
        let here: &[Text] = match self {
            Place::Configuring(path) => path,
            Place::Reading => {
                moves.push(Move::Begin);
                &[]
            }
            Place::Unknown => {
                moves.extend([Move::End, Move::Begin]);
                &[]
            }
        };
        let shared = here.iter().zip(wanted).take_while(|(a, b)| a == b).count();
        let beside = rules.sideways && shared == 0 && !wanted.is_empty();
        if here.len() > shared && !beside {
            moves.push(Move::Leave(here.len() - shared));
        }
        moves.extend((shared..wanted.len()).map(Move::Enter));
        moves
    }
}
