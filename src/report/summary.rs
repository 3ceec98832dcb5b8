//! `last_run_summary.yaml`: the numbers of a run, for monitoring (`docs/transaction.md`, section
//! 17).

use std::fmt::Write;

use super::{Number, Report};
use crate::catalog::Version;

impl Report {
    /// The text of the file.
    pub fn summary_yaml(&self) -> String {
        let mut out = String::from("---\nversion:\n");
        let config = match &self.configuration_version {
            None => String::new(),
            Some(Version::Number(number)) => format!(" {number}"),
            Some(Version::Text(text)) => format!(" {}", quoted(text)),
        };
        let environment = |name: &Option<String>| match name {
            Some(name) => format!(" {}", quoted(name)),
            None => String::new(),
        };
        write!(
            out,
            "  config:{config}\n  puppet: {}\napplication:\n  run_mode: agent\n  \
             initial_environment:{}\n  converged_environment:{}\n",
            quoted(&self.context.puppet_version),
            environment(&self.context.environment),
            environment(&self.environment),
        )
        .expect("a string takes all text");
        for metric in self.metrics() {
            writeln!(out, "{}:", metric.name).expect("as above");
            for (name, value) in &metric.values {
                match value {
                    Number::Count(count) => writeln!(out, "  {name}: {count}"),
                    Number::Seconds(seconds) => writeln!(out, "  {name}: {seconds:?}"),
                }
                .expect("as above");
            }
            if metric.name == "time" {
                let last_run = self.ended.unwrap_or(self.context.time).as_second();
                writeln!(out, "  last_run: {last_run}").expect("as above");
            }
        }
        out
    }
}

/// A text that YAML reads as a text.
fn quoted(text: &str) -> String {
    let plain = text
        .chars()
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic())
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "_-./".contains(c))
        && !matches!(
            text.to_ascii_lowercase().as_str(),
            "true" | "false" | "yes" | "no" | "on" | "off" | "null" | "y" | "n"
        );
    if plain {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "''"))
    }
}
