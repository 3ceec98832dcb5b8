//! Renders an error with its causes in one line.

use std::error::Error;

/// The error, then its causes, each after a colon. The text of an error never repeats its cause.
pub fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("cannot write the state")]
    struct Outer(#[source] std::io::Error);

    #[test]
    fn chain_names_each_cause_once() {
        let cause = std::io::Error::new(std::io::ErrorKind::NotFound, "no such file");
        assert_eq!(chain(&Outer(cause)), "cannot write the state: no such file");
    }
}
