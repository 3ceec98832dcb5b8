//! Sensitive attributes stand where the mask of all texts finds them.

use crate::document::Table;
use crate::driver::cli::CliType;
use crate::driver::cli::template::Vocabulary;
use crate::driver::context::Context;
use crate::driver::read_rule::ParseRule;

/// Reports secrets in columns of a table and in texts of several lines: nothing announces them in a
/// backup or a transcript.
pub(super) fn check_secrets(context: &Context<'_>, cli: &CliType, root: &Table<'_>) {
    let is_table = |read: &str| {
        let parse = context.reads.get(read).map(|rule| &rule.parse);
        matches!(parse, Some(ParseRule::Columns { .. } | ParseRule::Csv(_)))
    };
    let rules = cli.attributes.values();
    for rule in rules.filter(|rule| rule.is_applied() && cli.is_secret(&rule.name)) {
        let read = rule.cell().map(|_| &cli.instance.from);
        let read = read.or(rule.default_cell.as_ref().map(|other| &other.read));
        let is_in_table = read.is_some_and(|read| is_table(read));
        let position = match rule.body() {
            _ if is_in_table => "the column of a table",
            Some(_) => "a text of several lines",
            None => continue,
        };
        root.findings.error_with_help(
            "secret",
            rule.span.clone(),
            format!("`{}` is a secret, and {position} is not masked", rule.name),
            "read it from lines or fields, or write `write_only = true` with `line`",
        );
    }
}
