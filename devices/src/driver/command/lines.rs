//! The lines of a command: text nested by indentation.

use crate::operation::{Action, ConfigLine};
use crate::read::indent::{IndentRules, Node, Tree};
use crate::secret::Text;

/// The lines of a command, each with the lines of its blocks before it.
pub(super) struct CommandLines {
    paths: Vec<Vec<Text>>,
}

impl CommandLines {
    /// The lines of a text. A line that is indented deeper than the one above is one of its block.
    pub(super) fn parse(command: &Text) -> Self {
        let is_secret = command.secrets().next().is_some();
        let line = |text: &str| {
            if is_secret {
                Text::secret(text)
            } else {
                Text::plain(text)
            }
        };
        let tree = Tree::parse(&command.reveal(), &IndentRules::default());
        let mut paths = Vec::new();
        add(&tree.nodes, &mut Vec::new(), &line, &mut paths);
        Self { paths }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    /// All texts that are sent.
    pub(super) fn texts(&self) -> impl Iterator<Item = &Text> {
        self.paths.iter().flatten()
    }

    /// The lines that the device does not have.
    pub(super) fn actions(
        self,
        has: impl Fn(&[String]) -> bool,
        warning: Option<String>,
    ) -> Vec<Action> {
        let missing = self.paths.into_iter().filter(|path| {
            let path: Vec<String> = path.iter().map(Text::reveal).collect();
            !has(&path)
        });
        let lines = missing.filter_map(|mut path| {
            let text = path.pop()?;
            Some(Action::Line(ConfigLine {
                text: Some(text),
                may_prompt: true,
                warning: warning.clone(),
                ..ConfigLine::enter_mode(&path)
            }))
        });
        lines.collect()
    }
}

/// Adds the paths of the lines without lines below them.
fn add(
    nodes: &[Node],
    blocks: &mut Vec<Text>,
    line: &impl Fn(&str) -> Text,
    paths: &mut Vec<Vec<Text>>,
) {
    for node in nodes {
        blocks.push(line(&node.text));
        match node.children.nodes.as_slice() {
            [] => paths.push(blocks.clone()),
            children => add(children, blocks, line, paths),
        }
        blocks.pop();
    }
}
