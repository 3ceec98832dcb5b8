//! Renders an error with its causes in one line.

use std::error::Error;

/// The error, then its causes, each after a colon. A cause that the outer message already ends
/// with is skipped.
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
        #[error("cannot write the state")]
        Plain(#[source] std::io::Error),
        #[error("could not connect: {0}")]
        Quoting(#[source] std::io::Error),
    }

    #[test]
    fn chain_names_each_cause_once() {
        let cause = || std::io::Error::new(std::io::ErrorKind::NotFound, "no such file");
        let cases = [
            (
                Outer::Plain(cause()),
                "cannot write the state: no such file",
            ),
            (Outer::Quoting(cause()), "could not connect: no such file"),
        ];
        for (error, expected) in cases {
            assert_eq!(chain(&error), expected);
        }
    }
}
