//! The findings of `validate` in each output format.

use super::checked::CheckedFile;
use super::{ValidateArgs, ValidateFormat, fails};
use crate::cli::exit::{print, print_document, print_json};
use crate::cli::options::global::Global;
use crate::diagnostic::sarif::{self, RuleText};
use crate::diagnostic::terminal::{self, RenderOptions};
use crate::diagnostic::{CheckedFindings, Counts, Diagnostic, github, gitlab, json, junit, limit};
use crate::validate::rule::{RULES, Rule};

pub(super) fn print_findings(
    checked: &[CheckedFile],
    catalogs: usize,
    has_inventory: bool,
    args: &ValidateArgs,
    global: &Global,
) {
    let machines = || checked.iter().map(CheckedFile::for_machines);
    let files = || machines().collect::<Vec<CheckedFindings>>();
    match args.format {
        ValidateFormat::Json => {
            let lines = machines().map(|file| json::lines(&file.findings));
            print_json(&lines.collect::<String>());
        }
        ValidateFormat::Sarif => {
            let findings: Vec<Diagnostic> = machines().flat_map(|file| file.findings).collect();
            let rules: Vec<RuleText> = RULES
                .iter()
                .filter(|rule| findings.iter().any(|found| found.code == rule.code))
                .map(|rule| RuleText {
                    code: rule.code,
                    severity: rule.severity,
                    summary: rule.summary,
                    explanation: rule.explanation,
                })
                .collect();
            print_json(&sarif::render(&findings, &rules));
        }
        ValidateFormat::Junit => print_document(&junit::render(&files(), fails(args))),
        ValidateFormat::Gitlab => print_json(&gitlab::render(&files())),
        ValidateFormat::Github => {
            let lines = machines().map(|file| github::lines(&file.findings));
            print_document(&lines.collect::<String>());
        }
        ValidateFormat::Human => {
            let options = RenderOptions {
                colors: global.is_stdout_colored(),
            };
            let mut counts = Counts::default();
            for one in checked {
                counts += one.counts();
            }
            let all = checked.iter().flat_map(|one| &one.findings);
            let mut limited = limit(all.cloned().collect(), args.limit);
            for (code, more) in checked.iter().flat_map(|one| &one.rest) {
                *limited.rest.entry(code).or_default() += *more;
            }
            let plural = if catalogs == 1 { "" } else { "s" };
            let unknown = checked.iter().filter(|one| one.no_platform).count();
            let mut text = terminal::render(&limited, options);
            match limited.rest.keys().next() {
                Some(code) if Rule::find(code).is_some() => text.line(format_args!(
                    "`switchtender explain {code}` explains it, --limit N shows more"
                )),
                Some(_) => text.line("--limit N shows more"),
                None => &mut text,
            };
            text.line(format_args!("{catalogs} catalog{plural} checked: {counts}"));
            if unknown > 0 {
                let action = if has_inventory {
                    "add the devices to the inventory or use --platform PLATFORM"
                } else {
                    "use --inventory FILE or --platform PLATFORM"
                };
                text.line(format_args!(
                    "{unknown} without a known platform: {action} to check platform rules, too"
                ));
            }
            print(&text);
        }
    }
}
