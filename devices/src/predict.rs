//! The configuration of a device as one tree, as it was read or as it is predicted.

pub(crate) mod changed_lines;
pub(crate) mod tree_difference;

use crate::map::IndexMap;
use crate::read::indent::{Node, Tree};
use crate::read::nested_rows::NestedRows;
use crate::read::{Parsed, State, json_text};

/// The configuration in the answers of a state: configuration lines, and a line for each field of
/// the objects of a REST device. Tables and other answers are not configuration. `rows` has the
/// lists of objects in the answers, `documents` the reads whose answers are complete documents.
pub(crate) fn configuration(
    state: &State,
    rows: &IndexMap<String, NestedRows>,
    documents: &[&str],
) -> Tree {
    let mut nodes = Vec::new();
    for (name, parsed) in state.iter() {
        match parsed {
            Parsed::Tree(tree) => {
                nodes.extend(tree.nodes.iter().chain(tree.inactive()).cloned());
            }
            Parsed::Json(json) if documents.contains(&name) => {
                nodes.push(Node::block(name, json_text::values(json)));
            }
            // Answers to requests; their reads are named by method and path.
            Parsed::Json(json) if name.contains(' ') => {
                nodes.extend(json_text::objects(name, json, rows.get(name)));
            }
            Parsed::Columns(_) | Parsed::Rows(_) | Parsed::Json(_) | Parsed::Text(_) => {}
        }
    }
    Tree {
        nodes,
        ..Tree::default()
    }
}
