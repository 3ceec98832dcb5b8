//! Options of every command.

use std::io::IsTerminal;

use clap::ValueEnum;

/// Options of every command.
#[derive(Debug, clap::Args)]
pub(crate) struct Global {
    /// When to color the output; NO_COLOR disables colors in `auto`
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, help_heading = "Output")]
    pub(crate) color: Color,

    /// Increase verbosity (-v info, -vv decisions, -vvv device I/O with secrets masked)
    ///
    /// Messages about resources go to standard output. Diagnostics of the program go to standard
    /// error, each line with its device. `device` requires one more -v for decisions and device I/O.
    #[arg(short, long, global = true, action = clap::ArgAction::Count, help_heading = "Output")]
    pub(crate) verbose: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}

impl Global {
    /// Whether standard output is colored.
    pub(crate) fn is_stdout_colored(&self) -> bool {
        self.is_colored(std::io::stdout().is_terminal())
    }

    /// Whether standard error is colored.
    pub(crate) fn is_stderr_colored(&self) -> bool {
        self.is_colored(std::io::stderr().is_terminal())
    }

    fn is_colored(&self, terminal: bool) -> bool {
        match self.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => {
                terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
            }
        }
    }
}
