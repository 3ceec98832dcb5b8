//! Checks that the lines of a new instance can be written: words without an attribute are only in
//! lines that the device has.

use crate::document::Table;
use crate::driver::cli::CliType;
use crate::driver::cli::block_path::BlockPath;
use crate::driver::cli::template::{CAPTURE_MARK, LineTemplate};

/// Reports lines of a new instance with words that nothing fills.
pub(super) fn check_creation(cli: &CliType, root: &Table<'_>) {
    let kind = &cli.instance.kind;
    let paths = match &cli.instance.mode {
        Some(mode) => std::slice::from_ref(mode),
        None => kind.paths(),
    };
    let of_paths: Vec<&LineTemplate> = paths.iter().filter_map(unfilled_header).collect();
    let of_paths = of_paths.first().filter(|_| of_paths.len() == paths.len());
    let own = kind.lines().first().into_iter();
    let own = own.chain(kind.prefix()).chain(kind.enter());
    let own = own.chain(&cli.instance.create);
    let own = own.filter(|line| unfilled_word(line).is_some());
    for line in of_paths.into_iter().copied().chain(own) {
        let word = unfilled_word(line).unwrap_or_default();
        root.findings.error_with_help(
            "template",
            cli.instance.span.clone(),
            format!(
                "`{}` cannot be sent for a new instance: nothing fills `{{{word}}}`",
                line.text
            ),
            "put `[…]` around it if it is optional. If it names a block of the device, make it an \
             attribute with `role = \"read_only\"`",
        );
    }
}

/// A header of a path that no new block can have.
fn unfilled_header(path: &BlockPath) -> Option<&LineTemplate> {
    let levels = path.levels().iter().filter(|level| !level.is_optional);
    let mut headers = levels.map(|level| &level.header);
    headers.find(|header| unfilled_word(header).is_some())
}

/// A word without an attribute that a line must have.
fn unfilled_word(line: &LineTemplate) -> Option<&str> {
    let mut names = line.required().into_iter();
    names.find(|name| name.starts_with(CAPTURE_MARK))
}
