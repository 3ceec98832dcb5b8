//! Durations as people write them: `30s`, `500ms`, `2m`, `1h30m`.

use std::time::Duration;

/// Parses a duration; each number needs its unit.
pub fn parse(text: &str) -> Option<Duration> {
    let mut rest = text.trim();
    if rest.is_empty() {
        return None;
    }
    let mut total = Duration::ZERO;
    while !rest.is_empty() {
        let digits = rest.find(|character: char| !character.is_ascii_digit())?;
        let number: u64 = rest[..digits].parse().ok()?;
        rest = &rest[digits..];
        let letters = rest
            .find(|character: char| !character.is_ascii_alphabetic())
            .unwrap_or(rest.len());
        let milliseconds = match &rest[..letters] {
            "ms" => 1,
            "s" => 1_000,
            "m" => 60_000,
            "h" => 3_600_000,
            _ => return None,
        };
        total = total.checked_add(Duration::from_millis(number.checked_mul(milliseconds)?))?;
        rest = rest[letters..].trim_start();
    }
    Some(total)
}

/// The shortest such text.
pub fn show(duration: Duration) -> String {
    let mut rest = duration.as_millis();
    let mut text = String::new();
    for (unit, size) in [("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)] {
        if rest >= size {
            text.push_str(&format!("{}{unit}", rest / size));
            rest %= size;
        }
    }
    if text.is_empty() {
        text.push_str("0s");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_units() {
        let cases = [
            ("30s", Some(30_000)),
            ("500ms", Some(500)),
            ("2m", Some(120_000)),
            ("1h30m", Some(5_400_000)),
            ("1m 30s", Some(90_000)),
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
    fn shown_durations_are_short() {
        for text in ["30s", "500ms", "2m", "1h30m", "1s500ms", "0s"] {
            assert_eq!(show(parse(text).unwrap()), text);
        }
    }
}
