//! The `switchtender` binary.

use std::process::ExitCode;

fn main() -> ExitCode {
    switchtender::cli::main()
}
