//! Words with text around their placeholders: `tag={tag}`, `{backend}/{server}`.

use super::Vocabulary;
use super::part::{Hole, HoleKind, Piece};

/// The texts of the placeholders in a word. The text between two placeholders is searched from the
/// left; a quotation is one text.
pub(super) fn split<'p, 'w>(
    pieces: &'p [Piece],
    word: &'w str,
    vocabulary: &dyn Vocabulary,
) -> Option<Vec<(&'p Hole, &'w str)>> {
    let mut texts = Vec::new();
    let mut rest = word;
    for (index, piece) in pieces.iter().enumerate() {
        let end = match (piece, pieces.get(index + 1)) {
            (Piece::Text(text), _) => {
                let start = rest.get(..text.len())?;
                if !start.eq_ignore_ascii_case(text) {
                    return None;
                }
                text.len()
            }
            (Piece::Hole(hole), next) => {
                let quoting = vocabulary
                    .quoting()
                    .filter(|_| hole.kind == HoleKind::Quoted);
                let quoted = quoting.and_then(|quoting| quoting.quoted_length(rest));
                let is_last = index + 2 == pieces.len();
                let end = match (quoted, next) {
                    (Some(end), _) => end,
                    (None, Some(Piece::Text(text))) if is_last => {
                        rest.len().checked_sub(text.len())?
                    }
                    (None, Some(Piece::Text(text))) => rest.find(text.as_str())?,
                    (None, _) => rest.len(),
                };
                let text = rest.get(..end).filter(|text| !text.is_empty())?;
                texts.push((hole, text));
                end
            }
        };
        rest = &rest[end..];
    }
    rest.is_empty().then_some(texts)
}
