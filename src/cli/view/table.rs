//! Columns of text for the summary at the end.

use crate::terminal_text::TerminalText;

/// Rows under a header, columns as wide as they need; numbers to the right.
pub(crate) fn render(header: &[&str], rows: &[Vec<String>]) -> TerminalText {
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
        .map(|column| !rows.is_empty() && numeric(column))
        .collect();
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let mut text = String::new();
        for (column, cell) in cells.enumerate() {
            let width = widths[column];
            let cell = if right[column] {
                format!("{cell:>width$}")
            } else {
                format!("{cell:width$}")
            };
            text.push_str(&cell);
            text.push_str("  ");
        }
        text
    };
    let mut text = TerminalText::of_line(line(&mut header.iter().copied()).trim_end());
    for row in rows {
        text.line(line(&mut row.iter().map(String::as_str)).trim_end());
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
            super::render(&["Device", "Changed"], &rows).as_str(),
            "Device    Changed\nsw1             7\nswitch10       12\n"
        );
    }
}
