//! The blocks around a line.

/// The headers of the blocks around a line, outermost first, by indentation.
#[derive(Default)]
pub(super) struct Blocks<'a>(Vec<(usize, &'a str)>);

impl<'a> Blocks<'a> {
    /// Ends the blocks that a line with this indentation does not belong to.
    pub(super) fn leave(&mut self, indentation: usize) {
        while self.0.last().is_some_and(|(own, _)| *own >= indentation) {
            self.0.pop();
        }
    }

    /// Adds a line that may have lines below it.
    pub(super) fn enter(&mut self, indentation: usize, header: &'a str) {
        self.0.push((indentation, header));
    }

    /// The headers, innermost first.
    pub(super) fn inner_first(&self) -> impl Iterator<Item = &'a str> {
        self.0.iter().rev().map(|(_, header)| *header)
    }

    /// The header of the innermost block.
    pub(super) fn innermost(&self) -> Option<&'a str> {
        self.inner_first().next()
    }

    /// Whether the lines of a block are public keys.
    pub(super) fn are_public_keys(&self) -> bool {
        self.0
            .iter()
            .any(|(_, header)| header.contains("pubkey-chain"))
    }
}
