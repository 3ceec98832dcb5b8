//! Title patterns of the Resource API as title forms of models.

/// The title form of a pattern: `^(?<a>.+)/(?<b>.+)$` is `{a}/{b}`. The content of groups is
/// dropped.
pub(super) fn title_form(pattern: &str, namevars: &[&str]) -> Option<String> {
    let pattern = pattern
        .strip_prefix('^')
        .or(pattern.strip_prefix("\\A"))
        .unwrap_or(pattern);
    let pattern = pattern
        .strip_suffix('$')
        .or(pattern.strip_suffix("\\z"))
        .or(pattern.strip_suffix("\\Z"))
        .unwrap_or(pattern);
    let mut title = String::new();
    let mut rest = pattern;
    while let Some(character) = rest.chars().next() {
        if let Some(group) = rest.strip_prefix("(?<") {
            let (name, body) = group.split_once('>')?;
            let end = end_of_group(body)?;
            if !namevars.contains(&name) {
                return None;
            }
            title.push_str(&format!("{{{name}}}"));
            rest = &body[end..];
            continue;
        }
        let size = character.len_utf8();
        match character {
            '\\' => {
                let literal = rest[1..].chars().next().filter(|c| !c.is_alphanumeric())?;
                title.push(literal);
                rest = &rest[1 + literal.len_utf8()..];
            }
            '(' | ')' | '[' | ']' | '{' | '}' | '.' | '*' | '+' | '?' | '|' | '^' | '$' => {
                return None;
            }
            literal => {
                title.push(literal);
                rest = &rest[size..];
            }
        }
    }
    Some(title).filter(|title| title.contains('{'))
}

/// The offset after the closing parenthesis of a group whose content starts here.
fn end_of_group(body: &str) -> Option<usize> {
    let (mut depth, mut class, mut escaped) = (1, false, false);
    for (at, character) in body.char_indices() {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '[' => class = true,
            ']' => class = false,
            '(' if !class => depth += 1,
            ')' if !class => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}
