//! A user's pattern of the host name in prompts, which replaces the one of the platform.

use std::fmt;

use regex_syntax::ast::{self, Ast};

use crate::pattern::Pattern;

/// The host name of a device as its prompts show it, with what stands before or after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostnamePattern(Pattern);

impl HostnamePattern {
    /// # Errors
    /// The pattern is invalid, or cannot stand within that of a prompt.
    pub fn parse(text: &str) -> Result<Self, String> {
        let reason = |error: regex::Error| {
            let reason = error.to_string();
            let last = reason.lines().last().unwrap_or_default();
            last.trim().trim_start_matches("error: ").to_owned()
        };
        let pattern = Pattern::new(text).map_err(reason)?;
        if pattern.group_count() > 0 {
            return Err("it has a group; write `(?:…)`, and `\\(` for a parenthesis".to_owned());
        }
        if pattern.is_match("") {
            return Err("it matches an empty name".to_owned());
        }
        // A comment of `(?x)` would continue in the rest of the prompt.
        Pattern::new(&format!("({text})")).map_err(reason)?;
        Ok(Self(pattern))
    }

    /// The source text.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// A prompt with this pattern in its group `name`; `None` without such a group.
    pub(super) fn insert_into(&self, prompt: &str) -> Option<String> {
        let parsed = ast::parse::Parser::new().parse(prompt).ok()?;
        let group = named_group(&parsed, "name")?;
        let span = group.ast.span();
        let (head, tail) = (&prompt[..span.start.offset], &prompt[span.end.offset..]);
        Some(format!("{head}{self}{tail}"))
    }
}

/// The source text.
impl fmt::Display for HostnamePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

fn named_group<'a>(part: &'a Ast, name: &str) -> Option<&'a ast::Group> {
    match part {
        Ast::Group(group) => match &group.kind {
            ast::GroupKind::CaptureName { name: found, .. } if found.name == name => Some(group),
            _ => named_group(&group.ast, name),
        },
        Ast::Repetition(repetition) => named_group(&repetition.ast, name),
        Ast::Concat(parts) => parts.asts.iter().find_map(|part| named_group(part, name)),
        Ast::Alternation(parts) => parts.asts.iter().find_map(|part| named_group(part, name)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostname_pattern_replaces_the_group_of_the_name() {
        let pattern = HostnamePattern::parse(r"\[core\] r1|r2 ").expect("valid");
        let cases = [
            (r"(?<name>[\w.\-)]+)#", Some(r"(?<name>\[core\] r1|r2 )#")),
            (
                r"(?:\w+@)?(?<name>a)(b)?",
                Some(r"(?:\w+@)?(?<name>\[core\] r1|r2 )(b)?"),
            ),
            (r"\$ ", None),
        ];
        for (prompt, expected) in cases {
            assert_eq!(pattern.insert_into(prompt).as_deref(), expected, "{prompt}");
        }
    }

    #[test]
    fn hostname_pattern_that_cannot_be_in_a_prompt_is_refused() {
        for text in ["(", "core(lab)", "(?<name>a)", "", "a*", "(?x) a # b"] {
            assert!(HostnamePattern::parse(text).is_err(), "{text}");
        }
        for text in [r"core\(lab\)", "(?:a|b)+", r"\[\S+\] r1 "] {
            assert!(HostnamePattern::parse(text).is_ok(), "{text}");
        }
    }
}
