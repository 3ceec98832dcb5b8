//! The classes of all lines of a text, in a short form: `2g12m-1a` are 2 generated lines, 12 managed ones, one that does
//! not count, and an available one.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::LineClass;
use super::classification::CoveredLine;
use super::counts::ClassCounts;

/// The letter of a line without letters and digits.
const NOT_COUNTED: char = '-';

/// The class of each line of a text; `None`: it does not count.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub(crate) struct LineClasses(Vec<Option<LineClass>>);

impl LineClasses {
    /// The classes of a text with this number of lines.
    pub(crate) fn new(count: usize, lines: &[CoveredLine]) -> Self {
        let mut classes = vec![None; count];
        for line in lines {
            if let Some(class) = classes.get_mut(line.line as usize - 1) {
                *class = Some(line.class);
            }
        }
        Self(classes)
    }

    /// Reads the short form. Of an unknown text, nothing is known.
    pub(crate) fn parse(text: &str) -> Self {
        let mut classes = Vec::new();
        let mut count = 0;
        for character in text.chars() {
            match character.to_digit(10) {
                Some(digit) => count = count * 10 + digit as usize,
                None => {
                    let mut all = LineClass::ALL.iter().copied();
                    let class = all.find(|class| letter(*class) == character);
                    classes.extend(std::iter::repeat_n(class, count.clamp(1, MAX_LINES)));
                    count = 0;
                }
            }
        }
        Self(classes)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The class of a line, from 0.
    pub(crate) fn get(&self, index: usize) -> Option<LineClass> {
        self.0.get(index).copied().flatten()
    }

    pub(crate) fn counts(&self) -> ClassCounts {
        self.0.iter().flatten().copied().collect()
    }
}

/// More lines than a configuration has.
const MAX_LINES: usize = 10_000_000;

impl From<String> for LineClasses {
    fn from(text: String) -> Self {
        Self::parse(&text)
    }
}

impl From<LineClasses> for String {
    fn from(classes: LineClasses) -> Self {
        classes.to_string()
    }
}

/// The short form.
impl fmt::Display for LineClasses {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for equal in self.0.chunk_by(|a, b| a == b) {
            if equal.len() > 1 {
                write!(formatter, "{}", equal.len())?;
            }
            write!(formatter, "{}", equal[0].map_or(NOT_COUNTED, letter))?;
        }
        Ok(())
    }
}

fn letter(class: LineClass) -> char {
    match class {
        LineClass::Managed => 'm',
        LineClass::Available => 'a',
        LineClass::Default => 'd',
        LineClass::Generated => 'g',
        LineClass::Excluded => 'e',
        LineClass::NotUnderstood => 'u',
        LineClass::NotCovered => 'n',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_form_of_classes_is_read_again() {
        let classes = LineClasses(
            [None, Some(LineClass::Generated)]
                .into_iter()
                .chain(LineClass::ALL.iter().copied().map(Some))
                .chain([Some(LineClass::NotCovered); 11])
                .collect(),
        );
        let text = classes.to_string();
        assert_eq!(text, "-gmadgeu12n");
        assert_eq!(LineClasses::parse(&text), classes);
        assert_eq!(classes.counts().count(LineClass::NotCovered), 12);
        assert_eq!(classes.counts().total(), classes.len() - 1);
        assert_eq!(classes.get(1), Some(LineClass::Generated));
    }
}
