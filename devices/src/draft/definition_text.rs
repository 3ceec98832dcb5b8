//! The texts of drafted definitions.

use std::fmt::Write as _;

use super::lines::{AttributeDraft, LineForm};
use super::resource_type::TypeOutline;
use super::toml_text::quoted;
use crate::driver::Platform;
use crate::read::CONFIG;

/// The text of a drafted model.
pub(super) fn model(name: &str, outline: &TypeOutline) -> String {
    let mut out = format!(
        "# A draft. Check names and values with the documentation of the device.\n\
         schema = 1\ntype   = {}\ndoc    = \"CHECK: what an instance is.\"\n",
        quoted(name)
    );
    if outline.location.0 != "singleton" {
        out.push_str("ensurable      = true\nensure_default = \"present\"\n");
    }
    if outline.namevars.len() > 1 {
        let title: Vec<String> = outline
            .namevars
            .iter()
            .map(|name| format!("{{{name}}}"))
            .collect();
        let _ = writeln!(out, "title          = {}", quoted(&title.join(" ")));
    }
    let own = outline.lines.iter().map(|(_, draft)| draft);
    let drafts = || own.clone().chain(&outline.inner);
    if let Some(word) = drafts().find_map(|draft| draft.default_word.as_deref()) {
        let _ = writeln!(out, "default_word   = {}", quoted(word));
    }
    for name in &outline.namevars {
        let _ = write!(
            out,
            "\n[attr.{name}]\nrole   = \"namevar\"\ndoc    = \"CHECK\"\nvalues = [{{ name = \"word\", pattern = '\\S+' }}]\n"
        );
        if let Some((_, absent)) = outline.optional.iter().find(|(own, _)| own == name) {
            let _ = writeln!(out, "default = {}    # CHECK", quoted(absent));
        }
    }
    for draft in drafts() {
        let _ = write!(out, "\n[attr.{}]\n", draft.name);
        if draft.many {
            out.push_str("array  = \"set\"\n");
        }
        if draft.is_secret() {
            out.push_str("sensitive = true    # CHECK: a secret; its values are masked\n");
        }
        let _ = write!(out, "doc    = \"CHECK\"\nvalues = {}\n", values(draft));
    }
    out
}

/// The values of an attribute: booleans, numbers, or texts.
fn values(draft: &AttributeDraft) -> String {
    let is_number = |text: &String| text.parse::<i64>().is_ok();
    let word = draft.default_word.as_deref().map(quoted);
    let (kind, note) = match draft.form {
        LineForm::Flag | LineForm::Negative => {
            let word = word.map(|word| format!(", {word}"));
            return format!("[true, false{}]", word.unwrap_or_default());
        }
        LineForm::Elements(count) => {
            let words = vec!["\"word\""; count].join(", ");
            (
                &*format!("{{ name = \"elements\", tuple = [{words}] }}"),
                "",
            )
        }
        LineForm::Rest | LineForm::Quoted => ("{ name = \"text\", pattern = '.+' }", ""),
        LineForm::Word if draft.values.iter().all(is_number) => (
            "{ name = \"number\", integer = [0, 4294967295] }",
            "    # CHECK: limits",
        ),
        LineForm::Word => ("{ name = \"word\", pattern = '\\S+' }", ""),
    };
    let word = word.map(|word| format!("{word}, "));
    format!("[{}{kind}]{note}", word.unwrap_or_default())
}

/// The text of a drafted type on a platform.
pub(super) fn implementation(platform: &Platform, name: &str, outline: &TypeOutline) -> String {
    let (key, templates) = &outline.location;
    let templates: Vec<String> = templates.iter().map(|template| quoted(template)).collect();
    let template = match templates.as_slice() {
        [one] => one.clone(),
        several => format!("[{}]", several.join(", ")),
    };
    let mut out = format!(
        "# A draft from lines or a reference of commands.\nschema   = 1\nplatform = {}\ntype     = {}\n",
        quoted(&platform.name),
        quoted(name)
    );
    if let Some(rank) = platform.ranks.keys().next() {
        let _ = writeln!(
            out,
            "rank     = {}    # CHECK: position among the changes",
            quoted(rank)
        );
    }
    let _ = write!(
        out,
        "\n[instance]\nfrom = \"{CONFIG}\"\n{key} = {template}\n"
    );
    for (name, absent) in &outline.optional {
        let absent = quoted(absent);
        let _ = write!(
            out,
            "\n[attr.{name}]\nabsent = {absent}    # CHECK: the name without its block\n"
        );
    }
    for (words, draft) in &outline.lines {
        let _ = write!(out, "\n[attr.{}]\n", draft.name);
        let line = match draft.form {
            LineForm::Flag | LineForm::Negative => words.clone(),
            LineForm::Word => format!("{words} {{{}}}", draft.name),
            LineForm::Rest => format!("{words} {{{}:rest}}", draft.name),
            LineForm::Quoted => format!("{words} {{{}:quoted}}", draft.name),
            LineForm::Elements(_) => words.clone(),
        };
        let line = [&line, &*draft.end].join(if draft.end.is_empty() { "" } else { " " });
        if !draft.sub.is_empty() {
            let _ = writeln!(out, "sub = {}", quoted(&draft.sub));
        }
        let _ = writeln!(out, "line = {}", quoted(&line));
        match draft.form {
            LineForm::Flag => {}
            LineForm::Negative => out.push_str("absent = true\n"),
            LineForm::Word | LineForm::Rest | LineForm::Quoted | LineForm::Elements(_) => {
                if draft.many {
                    out.push_str("many = true\n");
                }
                let _ = match (&draft.absent, &draft.default_word) {
                    (Some(value), _) => {
                        writeln!(out, "absent = {value}    # CHECK: the value without a line")
                    }
                    (None, Some(word)) => writeln!(
                        out,
                        "absent = {}    # CHECK: the value without a line",
                        quoted(word)
                    ),
                    (None, None) => writeln!(out, "# absent = CHECK: the value without a line"),
                };
            }
        }
    }
    for name in &outline.missing {
        let _ = write!(
            out,
            "\n[attr.{name}]\nunsupported = \"CHECK: the sample has no line for it\"\n"
        );
    }
    for note in &outline.notes {
        let _ = write!(out, "\n# CHECK: {note}\n");
    }
    out
}
