//! `switchtender explain`: the documentation of a rule.

use super::Global;
use super::exit::{CommandError, Exit, print};
use crate::diagnostic::{nearest, severity_word};
use crate::validate::rule::{RULES, Rule};

/// Explain a finding by its code, or list all codes
///
/// Example: switchtender explain host-resource
#[derive(Debug, clap::Args)]
pub(crate) struct ExplainArgs {
    /// Code in the brackets of a finding: error[CODE]
    #[arg(value_name = "CODE")]
    code: Option<String>,
}

pub(crate) fn run(args: &ExplainArgs, global: &Global) -> Result<Exit, CommandError> {
    let (bold, reset) = match global.colored_stdout() {
        true => ("\x1b[1m", "\x1b[0m"),
        false => ("", ""),
    };
    let Some(code) = &args.code else {
        let width = RULES.iter().map(|rule| rule.code.len()).max().unwrap_or(0);
        let lines = RULES.iter().map(|rule| {
            let severity = severity_word(rule.severity);
            format!(
                "{bold}{:width$}{reset}  {severity:7}  {}\n",
                rule.code, rule.summary
            )
        });
        print(&lines.collect::<String>());
        return Ok(Exit::SUCCESS);
    };
    let Some(rule) = Rule::find(code) else {
        let hint = match nearest(code, RULES.iter().map(|rule| rule.code)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "list the codes with `switchtender explain`".to_owned(),
        };
        return Err(CommandError::new(format!("unknown code `{code}`")).hint(hint));
    };
    let mut text = format!(
        "{bold}{}{reset} ({}): {}\n\n{}\n",
        rule.code,
        severity_word(rule.severity),
        rule.summary,
        rule.explanation
    );
    if !rule.bad.is_empty() {
        for (title, example) in [("Wrong:", rule.bad), ("Right:", rule.good)] {
            text.push_str(&format!("\n{bold}{title}{reset}\n"));
            for line in Rule::render_example(example).lines() {
                text.push_str(&format!("    {line}\n"));
            }
        }
    }
    print(&text);
    Ok(Exit::SUCCESS)
}
