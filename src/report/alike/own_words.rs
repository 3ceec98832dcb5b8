//! The words that name a device: texts of many devices are equal without them.

/// The name of a device, its certname and its address, with the placeholders of each.
#[derive(Clone, Debug, Default)]
pub(crate) struct OwnWords(Vec<(String, &'static str)>);

impl OwnWords {
    /// Words with their placeholders. The first placeholder of a word counts.
    pub(crate) fn new(words: impl IntoIterator<Item = (String, &'static str)>) -> Self {
        let mut own: Vec<(String, &'static str)> = Vec::new();
        for (word, placeholder) in words {
            if !word.is_empty() && !own.iter().any(|(known, _)| *known == word) {
                own.push((word, placeholder));
            }
        }
        // `sw1.lab.test` before `sw1`.
        own.sort_by_key(|(word, _)| std::cmp::Reverse(word.len()));
        Self(own)
    }

    /// The words of a device of which only the name is known.
    pub(crate) fn of_name(name: &str) -> Self {
        Self::new([(name.to_owned(), "{device}")])
    }

    /// A text with placeholders in place of the words.
    pub(crate) fn template(&self, text: &str) -> String {
        let words = self.0.iter();
        replaced(text, words.map(|(word, name)| (word.as_str(), *name)))
    }
}

/// A text with other texts in place of words. What was inserted is not replaced again.
pub(super) fn replaced<'a>(
    text: &str,
    words: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> String {
    /// The first character for private use: no message has it.
    const MARK: u32 = 0xF0000;
    let (mut marked, mut inserted) = (text.to_owned(), Vec::new());
    for ((word, insertion), mark) in words.into_iter().zip(MARK..) {
        let mark = char::from_u32(mark).expect("it is in the range for private use");
        if let Some(found) = marked_word(&marked, word, mark) {
            marked = found;
            inserted.push((mark, insertion));
        }
    }
    for (mark, insertion) in inserted {
        marked = marked.replace(mark, insertion);
    }
    marked
}

/// A text with a mark in place of a word; `None`: it does not have the word. Parts of words remain.
fn marked_word(text: &str, word: &str, mark: char) -> Option<String> {
    let is_part = |character: Option<char>| character.is_some_and(char::is_alphanumeric);
    let mut marked: Option<String> = None;
    let mut at = 0;
    for (start, found) in text.match_indices(word) {
        let end = start + found.len();
        if !is_part(text[..start].chars().next_back()) && !is_part(text[end..].chars().next()) {
            let marked = marked.get_or_insert_default();
            marked.push_str(&text[at..start]);
            marked.push(mark);
            at = end;
        }
    }
    marked.map(|marked| marked + &text[at..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_words_are_placeholders_and_parts_of_words_remain() {
        let own = OwnWords::new([
            ("sw1".to_owned(), "{device}"),
            ("sw1.lab".to_owned(), "{certname}"),
            ("sw1".to_owned(), "{other}"),
            ("device".to_owned(), "{x}"),
        ]);
        assert_eq!(
            own.template("sw10: sw1 is sw1.lab, a device: sw1.json"),
            "sw10: {device} is {certname}, a {x}: {device}.json"
        );
    }
}
