//! The styles of texts on a terminal.

/// A color of the terminal's palette, or bold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    Bold,
    Red,
    Green,
    Yellow,
    Cyan,
    BoldRed,
    BoldGreen,
    BoldYellow,
    BoldCyan,
}

impl Style {
    /// The sequence that ends every style.
    pub(super) const END: &str = "\x1b[0m";

    /// The SGR sequence that begins the style (ECMA-48, section 8.3.117).
    pub(super) fn begin(self) -> &'static str {
        match self {
            Style::Bold => "\x1b[1m",
            Style::Red => "\x1b[31m",
            Style::Green => "\x1b[32m",
            Style::Yellow => "\x1b[33m",
            Style::Cyan => "\x1b[36m",
            Style::BoldRed => "\x1b[1;31m",
            Style::BoldGreen => "\x1b[1;32m",
            Style::BoldYellow => "\x1b[1;33m",
            Style::BoldCyan => "\x1b[1;36m",
        }
    }
}
