//! HTML pages that need no other file, no script and no network.
//!
//! All values are escaped by the template engine, after characters that are not printable, and a content security
//! policy in each template forbids scripts.

use minijinja::value::Value;
use minijinja::{AutoEscape, Environment, escape_formatter};
use switchtender_devices::printable::escape;

/// A template with values.
pub(super) fn render(template: &'static str, values: Value) -> String {
    const NAME: &str = "page.html";
    let mut environment = Environment::new();
    environment.set_trim_blocks(true);
    environment.set_lstrip_blocks(true);
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.set_formatter(|out, state, value| match value.as_str() {
        Some(text) if !value.is_safe() => {
            let lines: Vec<_> = text.split('\n').map(escape).collect();
            escape_formatter(out, state, &Value::from(lines.join("\n")))
        }
        _ => escape_formatter(out, state, value),
    });
    let template = environment
        .add_template(NAME, template)
        .and_then(|()| environment.get_template(NAME));
    let rendered = template.and_then(|template| template.render(values));
    rendered.expect("the template uses only fields of the page")
}
