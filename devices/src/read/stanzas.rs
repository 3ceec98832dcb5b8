//! Groups of `Key: value` lines (`show interfaces switchport`).

use super::row::Row;

/// Splits a text into stanzas; each starts with a line `start: …`. Text before the first is
/// ignored. An indented line without a key continues the value above (long VLAN lists).
pub(crate) fn parse(text: &str, start: &str) -> Vec<Row> {
    let mut stanzas: Vec<Row> = Vec::new();
    for line in text.lines() {
        let Some((key, value)) = entry(line) else {
            if line.starts_with([' ', '\t'])
                && !line.trim().is_empty()
                && let Some(stanza) = stanzas.last_mut()
            {
                stanza.continue_last(line.trim());
            }
            continue;
        };
        if key == start {
            stanzas.push(Row::default());
        }
        if let Some(stanza) = stanzas.last_mut() {
            // If a key is repeated, the first is the administrative value.
            stanza.add(key, value);
        }
    }
    stanzas
}

fn entry(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(':')?;
    let key = key.trim();
    let starts_value = value.is_empty() || value.starts_with(' ');
    (starts_value && !key.is_empty()).then(|| (key, value.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stanzas_begin_at_their_key_and_values_can_continue() {
        let text = "% noise\nName: Gi1/0/1\nSwitchport: Enabled\nTrunking VLANs Enabled: 1,5,\n     20-30\nCapture Mode Disabled\n\nName: Po1\nSwitchport: Disabled\nPO: 10.0.0.1:80\n";
        let found = parse(text, "Name");
        let texts = |stanza: &Row| -> Vec<String> {
            let cells = stanza.iter();
            cells
                .map(|(key, text)| format!("{key}={}", text.text()))
                .collect()
        };
        assert_eq!(
            found.iter().map(texts).collect::<Vec<_>>(),
            [
                [
                    "Name=Gi1/0/1",
                    "Switchport=Enabled",
                    "Trunking VLANs Enabled=1,5,20-30"
                ],
                ["Name=Po1", "Switchport=Disabled", "PO=10.0.0.1:80"],
            ]
        );
    }
}
