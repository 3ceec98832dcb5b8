//! An error with its causes in one line, for people.

use std::error::Error;

/// The error, then its causes, each after a colon. What an error has quoted of its cause is not
/// told again.
pub fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let part = error.to_string();
        if !text.ends_with(&part) {
            text.push_str(": ");
            text.push_str(&part);
        }
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    enum Outer {
        #[error("cannot keep the state")]
        Plain(#[source] std::io::Error),
        #[error("could not connect: {0}")]
        Quoting(#[source] std::io::Error),
    }

    #[test]
    fn each_cause_is_told_once() {
        let cause = || std::io::Error::new(std::io::ErrorKind::NotFound, "nobody is there");
        let cases = [
            (
                Outer::Plain(cause()),
                "cannot keep the state: nobody is there",
            ),
            (
                Outer::Quoting(cause()),
                "could not connect: nobody is there",
            ),
        ];
        for (error, expected) in cases {
            assert_eq!(chain(&error), expected);
        }
    }
}
