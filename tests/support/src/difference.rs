//! The difference between configurations, as a device prints them and as a plan shows it.

/// The lines of a text that another lacks, each as often as it is missing. Without the lines that
/// only end a block.
pub fn missing_lines(from: &str, text: &str) -> Vec<String> {
    // A banner is printed between its marks; a plan shows its lines.
    let (from, text) = (&from.replace("^C", "\n"), &text.replace("^C", "\n"));
    let mut left: Vec<&str> = from.lines().map(str::trim).collect();
    let mut missing: Vec<String> = Vec::new();
    for line in text.lines().map(str::trim) {
        match left.iter().position(|other| *other == line) {
            Some(index) => drop(left.swap_remove(index)),
            None => missing.push(line.to_owned()),
        }
    }
    missing.retain(|line| !["", "!", "exit", "exit-address-family"].contains(&line.as_str()));
    missing.sort();
    missing
}

/// The lines that a plan adds and removes, without those that only move; `None` if it does not show
/// all.
pub fn planned_lines(plan: &str) -> Option<(Vec<String>, Vec<String>)> {
    if plan.contains("no difference shown") {
        return None;
    }
    let difference = plan
        .lines()
        .skip_while(|line| !line.contains("configuration difference:"));
    let difference: Vec<&str> = difference
        .skip(1)
        .take_while(|line| !line.is_empty())
        .map(str::trim_start)
        .collect();
    let lines = |sign: char| {
        let lines = difference.iter().filter_map(|line| line.strip_prefix(sign));
        lines.collect::<Vec<_>>().join("\n")
    };
    let (added, removed) = (lines('+'), lines('-'));
    Some((
        missing_lines(&removed, &added),
        missing_lines(&added, &removed),
    ))
}
