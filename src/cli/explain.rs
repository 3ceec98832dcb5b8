//! `switchtender explain`: the documentation of a rule.

use super::Global;
use super::exit::{CommandError, Exit, print};
use crate::diagnostic::{severity_word, suggest};
use crate::terminal_text::TerminalText;
use crate::validate::rule::{RULES, Rule};

/// Explain a finding by its code, or list all codes
///
/// It explains the rules for catalogs and inventories, not errors of syntax, files and connections.
///
/// Example: switchtender explain host-resource
#[derive(Debug, clap::Args)]
pub(crate) struct ExplainArgs {
    /// Code in the brackets of a finding: error[CODE]
    #[arg(value_name = "CODE")]
    code: Option<String>,
}

pub(crate) fn run(args: &ExplainArgs, global: &Global) -> Result<Exit, CommandError> {
    const BOLD: &str = "1";
    let mut text = TerminalText::with_colors(global.is_stdout_colored());
    let Some(code) = &args.code else {
        let width = RULES.iter().map(|rule| rule.code.len()).max().unwrap_or(0);
        for rule in RULES {
            let severity = severity_word(rule.severity);
            text.paint(BOLD, format_args!("{:width$}", rule.code))
                .line(format_args!("  {severity:7}  {}", rule.summary));
        }
        print(&text);
        return Ok(Exit::SUCCESS);
    };
    let Some(rule) = Rule::find(code) else {
        let codes = RULES.iter().map(|rule| rule.code);
        let scope =
            "`switchtender explain` lists the rules; the text of any other finding is complete";
        let hint = suggest(code, codes, scope);
        return Err(CommandError::new(format!("no rule has the code `{code}`")).hint(hint));
    };
    let severity = severity_word(rule.severity);
    text.paint(BOLD, rule.code)
        .line(format_args!(" ({severity}): {}", rule.summary))
        .end_line()
        .block("", rule.explanation);
    if !rule.bad.is_empty() {
        for (title, example) in [("Wrong:", rule.bad), ("Right:", rule.good)] {
            text.end_line().paint(BOLD, title).end_line();
            text.block("    ", &Rule::render_example(example));
        }
    }
    print(&text);
    Ok(Exit::SUCCESS)
}
