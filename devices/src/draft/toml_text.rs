//! Texts in TOML.

/// A text of one line as a TOML string.
pub(super) fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}

/// A pattern as a TOML string, without escapes if possible.
pub(super) fn pattern(text: &str) -> String {
    if text.contains(['\'', '\n']) {
        quoted(text)
    } else {
        format!("'{text}'")
    }
}

/// A text of several lines as a TOML string.
pub(super) fn block(text: &str) -> String {
    if text.contains("'''") || text.contains(|c: char| c.is_control() && c != '\n') {
        quoted(text)
    } else {
        format!("'''\n{}\n'''", text.trim_end())
    }
}

/// A text as a pattern, with escapes only where they are required.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for character in text.chars() {
        if r"\.+*?()|[]{}^$".contains(character) {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}
