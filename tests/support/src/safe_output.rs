//! What must be true of every sequence of bytes that is taken for a catalog: it is loaded and
//! checked without a panic, and all that is found can be shown.

use switchtender::catalog::{Loading, load, source};
use switchtender::diagnostic::terminal::{RenderOptions, render_all};
use switchtender::diagnostic::{Diagnostic, json, sarif};
use switchtender::validate::{Policy, RuleContext, TargetResolver, check};
use switchtender_devices::driver::Registry;
use switchtender_devices::printable::is_printable;

/// Everything that is found in these bytes, rendered in every way.
pub fn findings(bytes: Vec<u8>, registry: &Registry) -> Vec<Diagnostic> {
    let loaded = source("c.json", bytes).and_then(|source| load(&source, &Loading::default()));
    let (mut found, readable) = match loaded {
        Ok(catalog) => (Vec::new(), Some((catalog, Default::default()))),
        Err(error) => {
            assert!(!error.diagnostics.is_empty(), "{}", error.message);
            let readable = error.readable;
            let readable = readable.map(|readable| (readable.catalog, readable.damaged));
            (error.diagnostics, readable)
        }
    };
    if let Some((catalog, damaged)) = readable {
        let resolver = TargetResolver {
            platform: Some("cisco_ios"),
            ..TargetResolver::default()
        };
        let target = resolver.resolve(&catalog, registry, &Default::default());
        let policy = Policy::default();
        let context = RuleContext::new(&catalog, registry, &policy, &target).without(damaged);
        context.mask(&mut found);
        found.extend(check(&context));
    }
    let rendered = render_all(&found, RenderOptions::PLAIN);
    let rendered = rendered.as_str();
    let is_expected = |character| character == '\n' || is_printable(character);
    assert!(rendered.chars().all(is_expected), "a terminal would obey");
    let longest = rendered.lines().map(str::len).max().unwrap_or(0);
    assert!(longest < 10_000, "a line of {longest} bytes");
    json::lines(&found);
    sarif::render(&found, &[]);
    found
}
