//! Which keys of a section have an effect, by what the section describes.
//!
//! A key without an effect is an error. The reference is generated from the
//! same data.

use std::fmt::Write as _;

use crate::document::Table;

/// The keys of a section, and the forms of the section in which each has an effect.
#[derive(Debug)]
pub(crate) struct KeyTable<F: 'static> {
    /// All forms, each with the keys that select it.
    pub(crate) forms: &'static [(F, &'static str)],
    pub(crate) keys: &'static [(&'static str, &'static [F])],
}

impl<F: Copy + PartialEq> KeyTable<F> {
    /// Reports keys of a section of this form that have no effect.
    pub(crate) fn check(&self, form: F, table: &Table<'_>) {
        let names = |forms: &[F]| -> Vec<&str> {
            let named = self.forms.iter();
            let named = named.filter(|(one, _)| forms.contains(one));
            named.map(|(_, name)| *name).collect()
        };
        for (key, forms) in self.keys {
            if let Some(item) = table.get(key).filter(|_| !forms.contains(&form)) {
                let own = names(&[form]).concat();
                let message = format!("`{key}` has no effect with {own}");
                let help = format!("remove it; it belongs to {}", names(forms).join("; "));
                table
                    .findings
                    .error_with_help("no-effect", item.span.clone(), message, help);
            }
        }
    }

    /// The table in Markdown.
    pub(crate) fn markdown(&self) -> String {
        let mut text = "| key |".to_owned();
        for (_, name) in self.forms {
            let _ = write!(text, " {name} |");
        }
        text.push_str("\n|---|");
        text.push_str(&"---|".repeat(self.forms.len()));
        text.push('\n');
        for (key, forms) in self.keys {
            let _ = write!(text, "| `{key}` |");
            for (form, _) in self.forms {
                text.push_str(if forms.contains(form) {
                    " yes |"
                } else {
                    "  |"
                });
            }
            text.push('\n');
        }
        text
    }
}
