//! Configurations whose statements stand in braces, as lines with complete paths: `interfaces { ge-0/0/0 {
//! mtu 9000; } }` is `set interfaces ge-0/0/0 mtu 9000`.

/// The mark of a statement that the device does not use, and the word of the line for it.
const INACTIVE: (&str, &str) = ("inactive:", "deactivate");
/// Marks of statements that have no line.
const MARKS: [&str; 3] = ["protect:", "replace:", "active:"];

/// An open block: the length of the path before it, and whether it has statements.
struct OpenBrace {
    before: usize,
    is_empty: bool,
}

/// The lines, each beginning with `word`. `None`: the text has no block in braces.
pub(super) fn lines(text: &str, word: &str) -> Option<String> {
    if !text.lines().any(|line| line.trim_end().ends_with('{')) {
        return None;
    }
    let mut lines = String::new();
    let mut path: Vec<String> = Vec::new();
    let mut open: Vec<OpenBrace> = Vec::new();
    let mut statement = Vec::new();
    for token in tokens(text) {
        match token.as_str() {
            "{" => {
                take_marks(&mut lines, &path, &mut statement);
                if let Some(block) = open.last_mut() {
                    block.is_empty = false;
                }
                open.push(OpenBrace {
                    before: path.len(),
                    is_empty: true,
                });
                path.append(&mut statement);
            }
            "}" => {
                if let Some(block) = open.pop() {
                    if block.is_empty {
                        push(&mut lines, word, &path, &[]);
                    }
                    path.truncate(block.before);
                }
                statement.clear();
            }
            ";" => {
                take_marks(&mut lines, &path, &mut statement);
                if let Some(block) = open.last_mut() {
                    block.is_empty = false;
                }
                for one in elements(&std::mem::take(&mut statement)) {
                    push(&mut lines, word, &path, &one);
                }
            }
            _ => statement.push(token),
        }
    }
    Some(lines)
}

/// Removes the marks of a statement, and adds the line for one that is inactive.
fn take_marks(lines: &mut String, path: &[String], statement: &mut Vec<String>) {
    let is_inactive = statement.iter().any(|token| token == INACTIVE.0);
    statement.retain(|token| token != INACTIVE.0 && !MARKS.contains(&token.as_str()));
    if is_inactive {
        push(lines, INACTIVE.1, path, statement);
    }
}

fn push(lines: &mut String, word: &str, path: &[String], statement: &[String]) {
    let words = path.iter().chain(statement).map(String::as_str);
    let words: Vec<&str> = std::iter::once(word).chain(words).collect();
    lines.push_str(&words.join(" "));
    lines.push('\n');
}

/// One statement for each element of a list, `members [ a b ]`.
fn elements(statement: &[String]) -> Vec<Vec<String>> {
    let position = |word: &str| statement.iter().position(|token| token == word);
    let (Some(from), Some(to)) = (position("["), position("]")) else {
        return vec![statement.to_vec()];
    };
    let list = statement.get(from + 1..to).unwrap_or_default();
    let one = |element: &String| [&statement[..from], std::slice::from_ref(element)].concat();
    list.iter().map(one).collect()
}

/// Words, texts in quotes, and the signs between them; without comments.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut word = String::new();
    let mut rest = text.chars().peekable();
    let mut is_quoted = false;
    while let Some(sign) = rest.next() {
        if is_quoted {
            word.push(sign);
            match sign {
                '\\' => word.extend(rest.next()),
                '"' => is_quoted = false,
                _ => {}
            }
            continue;
        }
        if word.is_empty() && sign == '#' {
            while rest.next_if(|next| *next != '\n').is_some() {}
            continue;
        }
        if word.is_empty() && sign == '/' && rest.next_if_eq(&'*').is_some() {
            let mut last = ' ';
            for next in rest.by_ref() {
                if last == '*' && next == '/' {
                    break;
                }
                last = next;
            }
            continue;
        }
        match sign {
            '"' => {
                is_quoted = true;
                word.push(sign);
            }
            '{' | '}' | ';' | '[' | ']' => {
                if !word.is_empty() {
                    tokens.push(std::mem::take(&mut word));
                }
                tokens.push(sign.to_string());
            }
            _ if sign.is_whitespace() => {
                if !word.is_empty() {
                    tokens.push(std::mem::take(&mut word));
                }
            }
            _ => word.push(sign),
        }
    }
    if !word.is_empty() {
        tokens.push(word);
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::lines;

    #[test]
    fn statements_in_braces_are_lines() {
        let text = r#"## Last commit: today
version 21.1R1;
system {
    host-name r1; ## SECRET-DATA
    services {
        ssh;
        netconf { }
    }
}
interfaces {
    /* to the core */
    ge-0/0/0 {
        description "a; b { c";
        inactive: mtu 9000;
    }
    inactive: ge-0/0/1 {
        unit 0 {
            family ethernet-switching {
                vlan {
                    members [ users voice ];
                }
            }
        }
    }
}
"#;
        assert_eq!(
            lines(text, "set").expect("braces"),
            "set version 21.1R1\nset system host-name r1\nset system services ssh\nset system services netconf\n\
             set interfaces ge-0/0/0 description \"a; b { c\"\n\
             deactivate interfaces ge-0/0/0 mtu 9000\nset interfaces ge-0/0/0 mtu 9000\n\
             deactivate interfaces ge-0/0/1\n\
             set interfaces ge-0/0/1 unit 0 family ethernet-switching vlan members users\n\
             set interfaces ge-0/0/1 unit 0 family ethernet-switching vlan members voice\n"
        );
        assert_eq!(lines("set version 21.1R1\n", "set"), None);
    }
}
