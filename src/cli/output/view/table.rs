//! Columns of text for the summary at the end.

use crate::terminal_text::{Style, TerminalText};

/// The column whose values have colors.
const STATUS: &str = "Status";

/// The color of a status: green without failures, yellow for changes that were not made, red for failures.
pub(super) fn color(status: &str) -> Style {
    match status {
        "unchanged" | "changed" => Style::Green,
        "pending" => Style::Yellow,
        _ => Style::Red,
    }
}

/// Rows under a header, columns as wide as they need; numbers to the right. The first column has names.
pub(crate) fn render(header: &[&str], rows: &[Vec<String>], colored: bool) -> TerminalText {
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells
            .chain([header[column].chars().count()])
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..header.len()).map(width).collect();
    let numeric = |column: usize| {
        rows.iter()
            .all(|row| row[column].starts_with(|c: char| c.is_ascii_digit() || c == '-'))
    };
    let right: Vec<bool> = (0..header.len())
        .map(|column| column > 0 && !rows.is_empty() && numeric(column))
        .collect();
    let mut text = TerminalText::with_colors(colored);
    let head: Vec<String> = header.iter().map(ToString::to_string).collect();
    for (index, cells) in std::iter::once(&head).chain(rows).enumerate() {
        for (column, cell) in cells.iter().enumerate() {
            let blanks = " ".repeat(widths[column] - cell.chars().count());
            let is_status = index > 0 && header[column] == STATUS;
            if right[column] {
                text.add(&blanks);
            }
            if is_status {
                text.paint(color(cell), cell)
            } else {
                text.add(cell)
            };
            if column + 1 < cells.len() {
                text.add(if right[column] { "" } else { &blanks }).add("  ");
            }
        }
        text.end_line();
    }
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn table_columns_fit_and_numbers_are_right_aligned() {
        let rows = [
            vec!["sw1".to_owned(), "7".to_owned()],
            vec!["switch10".to_owned(), "12".to_owned()],
        ];
        assert_eq!(
            super::render(&["Device", "Changed"], &rows, false).as_str(),
            "Device    Changed\nsw1             7\nswitch10       12\n"
        );
        let rows = [vec!["192.0.2.1".to_owned(), "7".to_owned()]];
        assert_eq!(
            super::render(&["Device", "Changed"], &rows, false).as_str(),
            "Device     Changed\n192.0.2.1        7\n"
        );
    }

    #[test]
    fn only_the_words_of_statuses_have_colors() {
        let rows = [
            vec!["failed".to_owned(), "unchanged".to_owned(), "1".to_owned()],
            vec!["sw2".to_owned(), "not run".to_owned(), "-".to_owned()],
        ];
        assert_eq!(
            super::render(&["Device", "Status", "Failed"], &rows, true).as_str(),
            "Device  Status     Failed\n\
             failed  \u{1b}[32munchanged\u{1b}[0m       1\n\
             sw2     \u{1b}[31mnot run\u{1b}[0m         -\n"
        );
    }
}
