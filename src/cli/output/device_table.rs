//! Values of many devices as columns of text or as CSV.

use switchtender_devices::printable::escape;

use crate::cli::exit::{print, print_document};
use crate::cli::output::view::table;

/// A table whose first column has devices.
pub(crate) struct DeviceTable {
    pub(crate) header: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
}

impl DeviceTable {
    /// Leaves out columns after the first `fixed` ones that are empty in all rows.
    pub(crate) fn without_empty_columns(mut self, fixed: usize) -> Self {
        let has_value = |column: usize| self.rows.iter().any(|row| !row[column].is_empty());
        let columns: Vec<usize> = (0..self.header.len())
            .filter(|column| *column < fixed || has_value(*column))
            .collect();
        let chosen =
            |row: &Vec<String>| columns.iter().map(|column| row[*column].clone()).collect();
        self.rows = self.rows.iter().map(chosen).collect();
        self.header = chosen(&self.header);
        self
    }

    /// Prints columns of text.
    pub(crate) fn print_text(&self, is_colored: bool) {
        let header: Vec<&str> = self.header.iter().map(String::as_str).collect();
        let escaped =
            |row: &Vec<String>| row.iter().map(|cell| escape(cell).into_owned()).collect();
        let rows: Vec<Vec<String>> = self.rows.iter().map(escaped).collect();
        print(&table::render(&header, &rows, is_colored));
    }

    /// Prints CSV with a header, as RFC 4180 has it, with the line ends of this system.
    pub(crate) fn print_csv(&self) {
        print_document(&self.csv());
    }

    fn csv(&self) -> String {
        let mut writer = csv::Writer::from_writer(Vec::new());
        let rows = std::iter::once(&self.header).chain(&self.rows);
        for row in rows {
            // A device controls no terminal; line feeds are a part of the format.
            let lines = |cell: &String| {
                let lines: Vec<_> = cell.split('\n').map(escape).collect();
                lines.join("\n")
            };
            writer
                .write_record(row.iter().map(lines))
                .expect("all rows have equal lengths, and memory has space");
        }
        let bytes = writer.into_inner().expect("memory has space");
        String::from_utf8(bytes).expect("cells are text")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn csv_has_quotation_marks_where_they_are_needed() {
        let table = DeviceTable {
            header: ["device", "note", "none", "ports"]
                .map(str::to_owned)
                .to_vec(),
            rows: vec![
                ["sw1", "a \"b\", c", "", "1"].map(str::to_owned).to_vec(),
                ["sw2", "two\nlines\u{1b}", "", ""]
                    .map(str::to_owned)
                    .to_vec(),
            ],
        };
        let csv = table.without_empty_columns(1).csv();
        assert_eq!(
            csv,
            "device,note,ports\nsw1,\"a \"\"b\"\", c\",1\nsw2,\"two\nlines\\u{1b}\",\n"
        );
    }
}
