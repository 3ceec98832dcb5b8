//! Durations in text, with units, such as `30s`, `500ms`, `2m`, `1h30m`.

use std::time::Duration;

use jiff::SignedDuration;
use jiff::fmt::friendly::{Spacing, SpanPrinter};

/// Parses a duration. Every number needs its unit, and the duration is not negative.
pub fn parse(text: &str) -> Option<Duration> {
    let duration: SignedDuration = text.trim().parse().ok()?;
    Duration::try_from(duration).ok()
}

/// The duration in the same form, without blanks.
pub fn render(duration: Duration) -> String {
    const PRINTER: SpanPrinter = SpanPrinter::new().spacing(Spacing::None);
    PRINTER.unsigned_duration_to_string(&duration)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parse_needs_units() {
        let cases = [
            ("30s", Some(30_000)),
            ("500ms", Some(500)),
            ("2m", Some(120_000)),
            ("1h30m", Some(5_400_000)),
            ("1m 30s", Some(90_000)),
            (" 2m ", Some(120_000)),
            ("30", None),
            ("", None),
            ("s", None),
            ("-3s", None),
            ("3 weeks", None),
            ("99999999999999999999s", None),
        ];
        for (text, milliseconds) in cases {
            let expected = milliseconds.map(Duration::from_millis);
            assert_eq!(parse(text), expected, "{text}");
        }
    }

    #[test]
    fn render_is_short() {
        for text in ["30s", "500ms", "2m", "1h30m", "1s500ms", "0s"] {
            assert_eq!(render(parse(text).unwrap()), text);
        }
    }
}
