//! Commands as text: configuration lines indented under their modes, and requests.

use std::fmt::Display;

/// Writes commands one after the other, each mode once.
#[derive(Default)]
pub(crate) struct CommandLines {
    mode: Vec<String>,
}

impl CommandLines {
    /// The lines of the next command: steps into its mode that the last command did not take, and its
    /// text.
    pub(crate) fn next<T: Display>(
        &mut self,
        mode: &[String],
        text: impl IntoIterator<Item = T>,
    ) -> Vec<String> {
        let same = mode.iter().zip(&self.mode);
        let shared = same.take_while(|(new, old)| new == old).count();
        let steps = mode.iter().enumerate().skip(shared);
        let steps = steps.map(|(depth, step)| format!("{}{step}", " ".repeat(depth)));
        let indent = " ".repeat(mode.len());
        let text = text.into_iter().map(|line| format!("{indent}{line}"));
        let lines = steps.chain(text).collect();
        self.mode = mode.to_vec();
        lines
    }
}
