//! Tables with a header line.
//!
//! If a dashed line is below the header, it gives the column widths (`show vlan brief`). Otherwise
//! a word belongs to the column whose header it overlaps, or else to the nearest column that starts
//! left of it (`show interfaces status`, which aligns numbers to the right).

use std::sync::Arc;

use super::row::Row;

/// A table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Columns {
    pub rows: Vec<Row>,
}

/// A column: its name (shared by all rows), its start, and the end of its header, in characters.
struct Column {
    name: Arc<str>,
    start: usize,
    end: usize,
}

impl Columns {
    /// Reads the first table whose header begins with the column `first`. Rows whose first column
    /// is empty continue the row above and are ignored. The table ends at an empty line.
    pub(crate) fn parse(text: &str, first: Option<&str>) -> Self {
        let mut rows = Vec::new();
        let mut lines = text.lines().peekable();
        let header = lines.by_ref().find(|line| match first {
            Some(first) => line.split_whitespace().next() == Some(first),
            None => !line.trim().is_empty(),
        });
        let Some(header) = header else {
            return Self::default();
        };
        let dashes = lines
            .peek()
            .filter(|line| line.contains("--") && line.chars().all(|c| c == '-' || c == ' '))
            .map(|line| (*line).to_owned());
        let columns = match &dashes {
            Some(dashes) => by_dashes(header, dashes),
            None => by_header(header),
        };
        if dashes.is_some() {
            lines.next();
        }
        for line in lines {
            if line.trim().is_empty() {
                break;
            }
            let row = match dashes {
                Some(_) => cut(line, &columns),
                None => assign(line, &columns),
            };
            if row.first().is_some_and(|cell| !cell.is_empty()) {
                rows.push(row);
            }
        }
        Self { rows }
    }
}

fn by_dashes(header: &str, dashes: &str) -> Vec<Column> {
    let header: Vec<char> = header.chars().collect();
    let spans = words(dashes);
    let mut columns: Vec<Column> = Vec::new();
    for (index, (start, end)) in spans.iter().enumerate() {
        let limit = spans.get(index + 1).map_or(header.len(), |next| next.0);
        let name: String = header
            .iter()
            .skip(*start)
            .take(limit.saturating_sub(*start))
            .collect();
        columns.push(Column {
            name: name.trim().into(),
            start: *start,
            end: *end,
        });
    }
    columns
}

fn by_header(header: &str) -> Vec<Column> {
    let characters: Vec<char> = header.chars().collect();
    words(header)
        .into_iter()
        .map(|(start, end)| Column {
            name: characters[start..end].iter().collect::<String>().into(),
            start,
            end,
        })
        .collect()
}

/// Start and end of each word, in characters.
fn words(line: &str) -> Vec<(usize, usize)> {
    let mut spans = Vec::new();
    let mut start = None;
    let mut at = 0;
    for character in line.chars() {
        match (start, character.is_whitespace()) {
            (None, false) => start = Some(at),
            (Some(from), true) => {
                spans.push((from, at));
                start = None;
            }
            _ => {}
        }
        at += 1;
    }
    spans.extend(start.map(|from| (from, at)));
    spans
}

fn cut(line: &str, columns: &[Column]) -> Row {
    let ends = columns.iter().skip(1).map(|next| next.start);
    let cells = columns.iter().zip(ends.chain([usize::MAX]));
    cells
        .map(|(column, end)| {
            let cell = characters(line, column.start, end);
            (Arc::clone(&column.name), cell.trim().to_owned())
        })
        .collect()
}

fn assign(line: &str, columns: &[Column]) -> Row {
    let mut cells = vec![String::new(); columns.len()];
    for (start, end) in words(line) {
        let overlapped = columns
            .iter()
            .position(|column| start < column.end && end > column.start);
        let left = columns.iter().rposition(|column| column.start <= start);
        let Some(column) = overlapped.or(left) else {
            continue;
        };
        let cell = &mut cells[column];
        if !cell.is_empty() {
            cell.push(' ');
        }
        cell.push_str(characters(line, start, end));
    }
    let names = columns.iter().map(|column| Arc::clone(&column.name));
    names.zip(cells).collect()
}

/// A part of a line, by character positions.
fn characters(line: &str, start: usize, end: usize) -> &str {
    if line.is_ascii() {
        let end = end.min(line.len());
        return &line[start.min(end)..end];
    }
    let byte_offset = |number: usize| {
        let mut offsets = line.char_indices().skip(number);
        offsets
            .next()
            .map_or(line.len(), |(byte_offset, _)| byte_offset)
    };
    let end = byte_offset(end);
    &line[byte_offset(start).min(end)..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(table: &Columns, names: &[&str]) -> Vec<Vec<String>> {
        table
            .rows
            .iter()
            .map(|row| {
                names
                    .iter()
                    .map(|name| row.text(name).into_owned())
                    .collect()
            })
            .collect()
    }

    #[test]
    fn columns_have_the_widths_of_the_dashes() {
        let text = "\nVLAN Name                             Status    Ports\n---- -------------------------------- --------- ------\n1    default                          active    Gi1/0/1\n                                                Gi1/0/2\n20   printers and others              act/lshut\n\nVLAN Type  SAID\n---- ----- ----\n1    enet  100001\n";
        let table = Columns::parse(text, Some("VLAN"));
        assert_eq!(
            cells(&table, &["VLAN", "Name", "Status"]),
            [
                ["1", "default", "active"],
                ["20", "printers and others", "act/lshut"]
            ]
        );
    }

    #[test]
    fn columns_without_dashes_follow_the_headers() {
        let text = "Port      Name               Status       Vlan       Duplex  Speed Type\nGi1/0/1                      notconnect   1            auto   auto 10/100/1000BaseTX\nGi1/0/6   Spaced Example     connected    8          a-full a-1000 Not Present\n";
        let table = Columns::parse(text, Some("Port"));
        assert_eq!(
            cells(&table, &["Port", "Name", "Duplex", "Speed", "Type"]),
            [
                ["Gi1/0/1", "", "auto", "auto", "10/100/1000BaseTX"],
                [
                    "Gi1/0/6",
                    "Spaced Example",
                    "a-full",
                    "a-1000",
                    "Not Present"
                ]
            ]
        );
    }

    #[test]
    fn columns_without_a_header_are_empty() {
        assert_eq!(
            Columns::parse("% Invalid input detected\n", Some("VLAN")),
            Columns::default()
        );
    }
}
