//! Records of fields under a header line: comma-separated values (RFC 4180), or words.

use std::sync::Arc;

use super::row::Row;

/// The form of the records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CsvRules {
    /// Name of the first column.
    pub(crate) first: String,
    /// Between fields. A blank stands for any number of blanks.
    pub(crate) separator: char,
    /// The sign before the header; lines after the header that begin with it are no records.
    pub(crate) comment: Option<String>,
}

/// Why a text has no records, without a subject.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum InvalidCsv {
    #[error("a quote in line {line} is not closed")]
    OpenQuote { line: usize },
    #[error("line {line} has {fields} fields, the header has {columns}")]
    FieldCount {
        line: usize,
        fields: usize,
        columns: usize,
    },
}

impl CsvRules {
    /// The rows after the first header; a text without a header has none. Records end at an empty
    /// line.
    ///
    /// # Errors
    /// A record does not fit the header.
    pub(crate) fn parse(&self, text: &str) -> Result<Vec<Row>, InvalidCsv> {
        let mut rows = Vec::new();
        let mut lines = text.lines().enumerate();
        let Some((_, header)) = lines.find(|(_, line)| self.is_header(line)) else {
            return Ok(rows);
        };
        let header = self.uncommented(header).unwrap_or(header);
        let columns: Vec<Arc<str>> = self
            .fields(header)
            .unwrap_or_default()
            .into_iter()
            .map(Arc::from)
            .collect();
        while let Some((index, line)) = lines.next() {
            let number = index + 1;
            if line.trim().is_empty() {
                break;
            }
            if self.uncommented(line).is_some() {
                continue;
            }
            let mut record = line.to_owned();
            let fields = loop {
                if let Some(fields) = self.fields(&record) {
                    break fields;
                }
                // A quoted field may contain line ends.
                let (_, next) = lines.next().ok_or(InvalidCsv::OpenQuote { line: number })?;
                record.push('\n');
                record.push_str(next);
            };
            if fields.len() != columns.len() {
                return Err(InvalidCsv::FieldCount {
                    line: number,
                    fields: fields.len(),
                    columns: columns.len(),
                });
            }
            rows.push(columns.iter().cloned().zip(fields).collect());
        }
        Ok(rows)
    }

    /// Whether a line is the header.
    pub(crate) fn is_header(&self, line: &str) -> bool {
        let header = match &self.comment {
            Some(_) => self.uncommented(line),
            None => Some(line),
        };
        let fields = header.and_then(|header| self.fields(header));
        fields.is_some_and(|fields| fields.first() == Some(&self.first))
    }

    /// The line without the sign; `None` without the sign.
    fn uncommented<'l>(&self, line: &'l str) -> Option<&'l str> {
        let rest = line.trim_start().strip_prefix(self.comment.as_deref()?)?;
        Some(rest.trim_start())
    }

    /// The fields of a record; `None` if a quote is not closed.
    fn fields(&self, record: &str) -> Option<Vec<String>> {
        if self.separator == ' ' {
            return Some(record.split_whitespace().map(str::to_owned).collect());
        }
        let mut fields = vec![String::new()];
        let mut characters = record.trim_end_matches('\r').chars().peekable();
        let mut is_quoted = false;
        while let Some(character) = characters.next() {
            let field = fields.last_mut().expect("there is a first field");
            match character {
                '"' if is_quoted && characters.peek() == Some(&'"') => {
                    characters.next();
                    field.push('"');
                }
                '"' if is_quoted => is_quoted = false,
                '"' if field.is_empty() => is_quoted = true,
                separator if separator == self.separator && !is_quoted => {
                    fields.push(String::new());
                }
                other => field.push(other),
            }
        }
        (!is_quoted).then_some(fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(first: &str, separator: char, comment: Option<&str>) -> CsvRules {
        CsvRules {
            first: first.to_owned(),
            separator,
            comment: comment.map(str::to_owned),
        }
    }

    fn cells(rows: &[Row], names: &[&str]) -> Vec<Vec<String>> {
        let of_row = |row: &Row| {
            let texts = names.iter().map(|name| row.text(name).into_owned());
            texts.collect()
        };
        rows.iter().map(of_row).collect()
    }

    #[test]
    fn csv_has_quoted_fields_with_separators_quotes_and_line_ends() {
        let text = "noise\nname,note\na,\"b, c\"\nd,\"say \"\"x\"\"\ntwice\"\n\nother,table\n1,2\n";
        let rows = rules("name", ',', None).parse(text).unwrap();
        assert_eq!(
            cells(&rows, &["name", "note"]),
            [["a", "b, c"], ["d", "say \"x\"\ntwice"]]
        );
    }

    #[test]
    fn csv_header_may_be_a_comment() {
        // HAProxy: `show stat` and `show servers state`.
        let text = "# pxname,svname,status,\nweb,s1,UP,\n# more\nweb,s2,DOWN,\n\n";
        let rows = rules("pxname", ',', Some("#")).parse(text).unwrap();
        assert_eq!(
            cells(&rows, &["svname", "status"]),
            [["s1", "UP"], ["s2", "DOWN"]]
        );
        let text = "1\n# be_id be_name srv_id\n3 web 1\n3  web 2\n";
        let rows = rules("be_id", ' ', Some("#")).parse(text).unwrap();
        assert_eq!(cells(&rows, &["srv_id"]), [["1"], ["2"]]);
        assert!(rules("x", ',', None).parse(text).unwrap().is_empty());
    }

    #[test]
    fn csv_records_must_fit_the_header() {
        let rules = rules("a", ',', None);
        let reason = |text: &str| rules.parse(text).unwrap_err().to_string();
        assert_eq!(reason("a,b\n1\n"), "line 2 has 1 fields, the header has 2");
        assert_eq!(reason("a,b\n1,\"2\n3"), "a quote in line 2 is not closed");
    }
}
