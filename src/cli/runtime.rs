//! The asynchronous part of a command.

use super::exit::CommandError;

/// Runs a command's asynchronous part.
pub(crate) fn block_on<T>(
    work: impl Future<Output = Result<T, CommandError>>,
) -> Result<T, CommandError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    let runtime = runtime.map_err(|error| CommandError::new("cannot start").with_source(error))?;
    let result = runtime.block_on(work);
    // What counts has been waited for; its threads end with the process, without tidying up first.
    runtime.shutdown_background();
    result
}
