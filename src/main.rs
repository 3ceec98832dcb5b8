//! The `switchtender` binary.

use std::process::ExitCode;

/// A catalog is many small values: the system's allocator would take half of a large run.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    switchtender::cli::main()
}
