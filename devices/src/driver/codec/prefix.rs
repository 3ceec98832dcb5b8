//! Names that people shorten: interface names (`docs/devices/cisco_ios.md`, section 4).

/// The full name for a shortened one; what the table does not know stays as it is.
pub fn full_name(table: &[(String, String)], text: &str) -> String {
    let compact: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let end = compact
        .find(|c: char| c.is_ascii_digit())
        .unwrap_or(compact.len());
    let (name, number) = compact.split_at(end);
    let name = name.to_lowercase();
    // The longest of the short forms decides: `Twe` before `Tw`.
    let best = table
        .iter()
        .filter(|(short, full)| {
            name.starts_with(&short.to_lowercase()) && full.to_lowercase().starts_with(&name)
        })
        .max_by_key(|(short, _)| short.len());
    match best {
        Some((_, full)) => format!("{full}{number}"),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_names_become_the_devices_own() {
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
            ("gi 0/1", "GigabitEthernet0/1"),
            ("Gi1/0/1.100", "GigabitEthernet1/0/1.100"),
            ("twenty1/0/1", "TwentyFiveGigE1/0/1"),
            ("Two1/0/1", "TwoGigabitEthernet1/0/1"),
            ("Port-Channel41", "Port-channel41"),
            ("port-channel 41", "Port-channel41"),
            ("ae[0]", "ae[0]"),
            ("a => b", "a => b"),
        ];
        for (text, expected) in cases {
            assert_eq!(full_name(&table, text), expected);
        }
    }
}
