//! Versions of the program.

use std::fmt;

/// A version in up to three numbers: `0.3` is `0.3.0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version([u32; 3]);

impl Version {
    /// `None`: the text is no version.
    pub fn parse(text: &str) -> Option<Self> {
        let mut numbers = [0; 3];
        for (index, part) in text.split('.').enumerate() {
            *numbers.get_mut(index)? = part.parse().ok()?;
        }
        Some(Self(numbers))
    }
}

/// Without a last zero.
impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self([major, minor, patch]) = self;
        match patch {
            0 => write!(f, "{major}.{minor}"),
            _ => write!(f, "{major}.{minor}.{patch}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_ordered_by_their_numbers() {
        let version = |text| Version::parse(text).unwrap();
        assert!(version("0.9") < version("0.10"));
        assert!(version("0.2.1") > version("0.2"));
        assert_eq!(version("1").to_string(), "1.0");
        assert_eq!(version("0.2.3").to_string(), "0.2.3");
        for text in ["", "a", "1.2.3.4", "1.-2", "1..2"] {
            assert_eq!(Version::parse(text), None, "{text}");
        }
    }
}
