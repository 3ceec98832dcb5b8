//! A copy of a text with masked values, and the mapping from original to masked positions.

use std::ops::Range;
use std::sync::Arc;

use switchtender_devices::diagnostic::Source;
use switchtender_devices::secret::MASK;

/// A masked text with the original lines and keys.
#[derive(Clone, Debug)]
pub(crate) struct Redacted {
    pub(crate) source: Arc<Source>,
    masks: Vec<Mask>,
}

/// One masked range, in the original and in the copy.
#[derive(Clone, Debug)]
struct Mask {
    original: Range<usize>,
    copy: Range<usize>,
}

impl Redacted {
    /// Masks `values`, byte ranges of `text`. Line ends within a value are preserved, so that line
    /// numbers stay valid.
    pub(crate) fn new(name: &str, text: &str, values: &[Range<usize>]) -> Self {
        let mut values: Vec<_> = values.iter().filter(|range| !range.is_empty()).collect();
        values.sort_by_key(|range| (range.start, range.end));
        let mut copy = String::with_capacity(text.len());
        let mut masks: Vec<Mask> = Vec::with_capacity(values.len());
        let mut at = 0;
        for range in values {
            if range.start < at {
                continue;
            }
            copy.push_str(&text[at..range.start]);
            let start = copy.len();
            copy.push_str(MASK);
            let lines = text[range.clone()].matches('\n').count();
            copy.extend(std::iter::repeat_n('\n', lines));
            masks.push(Mask {
                original: range.clone(),
                copy: start..copy.len(),
            });
            at = range.end;
        }
        copy.push_str(&text[at..]);
        Self {
            source: Source::new(name, copy),
            masks,
        }
    }

    /// The position in the copy of a range of the original. A range that touches a masked value
    /// covers the mask.
    pub(crate) fn span(&self, original: &Range<usize>) -> Range<usize> {
        self.offset(original.start, |mask| mask.start)..self.offset(original.end, |mask| mask.end)
    }

    fn offset(&self, original: usize, within: impl Fn(&Range<usize>) -> usize) -> usize {
        let last = self
            .masks
            .iter()
            .take_while(|mask| mask.original.start < original)
            .last();
        match last {
            None => original,
            Some(mask) if original < mask.original.end => within(&mask.copy),
            Some(mask) => mask.copy.end + (original - mask.original.end),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redacted_text_has_no_values_and_valid_positions() {
        let text = "a: one\nb: t\nwo\nkey: x\n";
        let one = text.find("one").unwrap();
        let two = text.find("t\nwo").unwrap();
        let copy = Redacted::new("f", text, &[one..one + 3, two..two + 4]);
        assert_eq!(copy.source.text, "a: ••••\nb: ••••\n\nkey: x\n");
        let key = text.find("key").unwrap();
        let span = copy.span(&(key..key + 3));
        assert_eq!(&copy.source.text[span.clone()], "key");
        assert_eq!(copy.source.position(span.start), (4, 1));
        assert_eq!(&copy.source.text[copy.span(&(one..one + 3))], "••••");
        assert_eq!(&copy.source.text[copy.span(&(0..1))], "a");
    }
}
