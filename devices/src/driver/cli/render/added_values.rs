//! Leaves out the removal of what another line of the same change sets.
//!
//! Two values that differ for the definition can be one for the device: it then removes what was just
//! added. Canonical forms prevent it; this is the guard behind them.

use std::net::IpAddr;

use crate::driver::negation::Negation;
use crate::model::address::canonical_address;
use crate::operation::Operation;
use crate::secret::Text;

/// A line in its mode, with addresses in one spelling.
#[derive(PartialEq)]
struct Meaning(Vec<String>, String);

/// Removes operations whose line takes back a line of another operation: one that stands before it, or
/// one after it that is only spelled otherwise. An element that is removed and sent again, with the same
/// words, changes its place.
pub(super) fn without_removals_of_added(operations: &mut Vec<Operation>, negation: &Negation) {
    let lines: Vec<Option<(bool, String, Meaning)>> = operations
        .iter()
        .map(|operation| line(operation, negation))
        .collect();
    let takes_back = |index: usize| {
        let Some((true, text, meaning)) = &lines[index] else {
            return false;
        };
        let mut others = lines.iter().enumerate();
        others.any(|(other, line)| {
            matches!(line, Some((false, added, same))
                if same == meaning && (other < index || added != text))
        })
    };
    let retained: Vec<bool> = (0..operations.len())
        .map(|index| !takes_back(index))
        .collect();
    let mut retained = retained.into_iter();
    operations.retain(|_| retained.next().unwrap_or(true));
}

/// Whether an operation removes, its line without the negation, and what that means.
fn line(operation: &Operation, negation: &Negation) -> Option<(bool, String, Meaning)> {
    let line = operation.line()?;
    let text = line.text.as_ref()?.reveal();
    let (removes, text) = match negation.positive(&text) {
        Some(positive) => (true, positive.into_owned()),
        None => (false, text),
    };
    let mode = line.mode.iter().map(Text::reveal).collect();
    let words = text.split_whitespace().map(one_spelling);
    let meaning = Meaning(mode, words.collect::<Vec<_>>().join(" "));
    Some((removes, text, meaning))
}

/// An IPv6 address or prefix in the form of RFC 5952; other words as they are.
fn one_spelling(word: &str) -> String {
    let address = word.split('/').next().unwrap_or(word);
    match address.parse::<IpAddr>() {
        Ok(_) => canonical_address(word).unwrap_or_else(|| word.to_owned()),
        Err(_) => word.to_owned(),
    }
}
