//! The messages of the compiler on its standard error.

use std::sync::LazyLock;

use regex::Regex;
use switchtender_devices::diagnostic::{Diagnostic, ManifestPosition};

/// `(file: /site.pp, line: 2, column: 3)`
static POSITION: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r" ?\(file: (?<file>[^()]*?)(?:, line: (?<line>\d+))?(?:, column: \d+)?\)")
        .expect("the pattern is a constant")
});

/// The errors of a compilation, each once. Puppet repeats them with the name of its function.
pub(super) fn errors(stderr: &str, node: &str) -> Vec<Diagnostic> {
    let repeated = ["Could not call 'find' on 'catalog': ", "Try 'puppet help"];
    let mut errors: Vec<Diagnostic> = Vec::new();
    for text in lines(stderr, "Error: ") {
        if repeated.iter().any(|start| text.starts_with(start)) {
            continue;
        }
        let found = error(text, node);
        if !errors.contains(&found) {
            errors.push(found);
        }
    }
    errors
}

/// The warnings of a compilation.
pub(super) fn warnings(stderr: &str) -> Vec<String> {
    lines(stderr, "Warning: ").map(str::to_owned).collect()
}

fn lines<'a>(stderr: &'a str, level: &'static str) -> impl Iterator<Item = &'a str> {
    stderr
        .lines()
        .filter_map(move |line| line.strip_prefix(level))
}

fn error(text: &str, node: &str) -> Diagnostic {
    let text = text
        .strip_suffix(&format!(" on node {node}"))
        .unwrap_or(text);
    let position = POSITION.captures(text).and_then(|found| {
        Some(ManifestPosition {
            file: found["file"].into(),
            line: found.name("line")?.as_str().parse().ok()?,
        })
    });
    let message = match position {
        Some(_) => POSITION.replace_all(text, "").into_owned(),
        None => text.to_owned(),
    };
    let found = Diagnostic::error("manifest", message).in_manifest(position);
    if text.contains("Unknown resource type") {
        found.help("correct the name, or name the modules of the site with --modulepath")
    } else {
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As Puppet 7.23 prints them.
    #[test]
    fn errors_have_their_position_once() {
        let unknown = "Evaluation Error: Error while evaluating a Resource Statement, Unknown resource type: \
                       'network_vlann' (file: /s/site.pp, line: 2, column: 3) on node sw1.lab.test";
        let parameter = "no parameter named 'vlan_nam' (file: /s/site.pp, line: 2) on Network_vlan[10] \
                         (file: /s/site.pp, line: 2) on node sw1.lab.test";
        let syntax = "Could not parse for environment production: Syntax error at end of input \
                      (file: /s/site.pp) on node sw1.lab.test";
        let cases = [
            (
                unknown,
                "Evaluation Error: Error while evaluating a Resource Statement, Unknown resource type: 'network_vlann'",
                Some(2),
            ),
            (
                parameter,
                "no parameter named 'vlan_nam' on Network_vlan[10]",
                Some(2),
            ),
            (
                syntax,
                "Could not parse for environment production: Syntax error at end of input (file: /s/site.pp)",
                None,
            ),
        ];
        for (line, message, number) in cases {
            let stderr = format!(
                "Warning: x\nError: {line}\nError: {line}\nError: Could not call 'find' on 'catalog': {line}\n\
                 Error: Try 'puppet help catalog compile' for usage\n"
            );
            let found = errors(&stderr, "sw1.lab.test");
            assert_eq!(found.len(), 1, "{found:?}");
            assert_eq!(found[0].message, message);
            let position = found[0].position.as_ref();
            assert_eq!(position.map(|position| position.line), number);
            assert_eq!(warnings(&stderr), ["x"]);
        }
    }
}
