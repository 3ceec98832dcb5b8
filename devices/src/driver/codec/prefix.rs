//! Abbreviated names, such as interface names (`docs/reference/devices/cisco_ios.md`, section 4).

use std::borrow::Cow;

/// The full name for an abbreviation; `None` if the table has none.
pub(crate) fn full_name(table: &[(String, String)], text: &str) -> Option<String> {
    let compact = if text.contains(char::is_whitespace) {
        Cow::Owned(text.split_whitespace().collect::<String>())
    } else {
        Cow::Borrowed(text)
    };
    let end = compact
        .find(|c: char| c.is_ascii_digit())
        .unwrap_or(compact.len());
    let (name, number) = compact.split_at(end);
    // The longest matching abbreviation is used: `Twe` before `Tw`.
    let best = table
        .iter()
        .filter(|(short, full)| begins(name, short) && begins(full, name))
        .max_by_key(|(short, _)| short.len());
    best.map(|(_, full)| [full, number].concat())
}

/// Whether a name ends in an integer, with nothing but letters before it:
/// `Port-channel1`, not `Port-channel1.10`.
pub(crate) fn is_numbered(name: &str) -> bool {
    let number = name.trim_start_matches(|c: char| !c.is_ascii_digit());
    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a text begins with another, ignoring case. Called for every line of a configuration and
/// every entry of a table.
fn begins(text: &str, start: &str) -> bool {
    let (text, start) = (text.as_bytes(), start.as_bytes());
    let first = |bytes: &[u8]| bytes.first().map(u8::to_ascii_lowercase);
    // Most texts differ in the first letter.
    first(text) == first(start)
        && text
            .get(..start.len())
            .is_some_and(|text| text.eq_ignore_ascii_case(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefix_expands_short_names() {
        let table: Vec<(String, String)> = [
            ("Twe", "TwentyFiveGigE"),
            ("Tw", "TwoGigabitEthernet"),
            ("Te", "TenGigabitEthernet"),
            ("Gi", "GigabitEthernet"),
            ("Po", "Port-channel"),
        ]
        .map(|(short, full)| (short.to_owned(), full.to_owned()))
        .to_vec();
        let cases = [
            ("gi 0/1", Some("GigabitEthernet0/1")),
            ("Gi1/0/1.100", Some("GigabitEthernet1/0/1.100")),
            ("twenty1/0/1", Some("TwentyFiveGigE1/0/1")),
            ("Two1/0/1", Some("TwoGigabitEthernet1/0/1")),
            ("Port-Channel41", Some("Port-channel41")),
            ("port-channel 41", Some("Port-channel41")),
            ("ae[0]", None),
            ("a => b", None),
        ];
        for (text, expected) in cases {
            assert_eq!(full_name(&table, text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn prefix_excludes_subinterfaces_of_numbered_interfaces() {
        assert!(is_numbered("Port-channel41"));
        for name in ["Port-channel1.10", "Port-channel", "GigabitEthernet1/0/1"] {
            assert!(!is_numbered(name), "{name}");
        }
    }
}
