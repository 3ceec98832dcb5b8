//! Commands as text: configuration lines indented under their modes, and requests.

use crate::transaction::CommandRecord;

/// A command with the lines that show it.
pub(crate) struct CommandBlock<'a> {
    /// Steps into its mode that the last command did not take, and its text.
    pub(crate) lines: Vec<String>,
    pub(crate) command: &'a CommandRecord,
}

/// Commands one after the other, each mode once.
pub(crate) fn blocks(commands: &[CommandRecord]) -> Vec<CommandBlock<'_>> {
    let mut before: &[String] = &[];
    let blocks = commands.iter().map(|command| {
        let mode = &command.mode;
        let same = mode.iter().zip(before);
        let shared = same.take_while(|(new, old)| new == old).count();
        before = mode;
        let steps = mode.iter().enumerate().skip(shared);
        let steps = steps.map(|(depth, step)| format!("{}{step}", " ".repeat(depth)));
        let indent = " ".repeat(mode.len());
        let text = command.text.iter().chain(&command.body);
        let text = text.map(|line| format!("{indent}{line}"));
        CommandBlock {
            lines: steps.chain(text).collect(),
            command,
        }
    });
    blocks.collect()
}

/// The lines of all commands.
pub(crate) fn lines(commands: &[CommandRecord]) -> Vec<String> {
    let blocks = blocks(commands).into_iter();
    blocks.flat_map(|block| block.lines).collect()
}
