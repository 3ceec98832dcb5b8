//! The reversible obfuscation of IOS, type 7 (`docs/reference/devices/cisco_ios.md`, section 4).

/// The XOR key; the same in every device.
const KEY: &[u8] = b"dsfd;kfoA,.iyewrkldJKDHSUBsgvca69834ncxv9873254k;fg87";

/// The plain text; `None` if the input is not type 7.
pub(crate) fn decode(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    if bytes.len() < 4 || !bytes.len().is_multiple_of(2) || !text.is_ascii() {
        return None;
    }
    let seed: usize = text[..2].parse().ok()?;
    let bytes_of_text: Option<Vec<u8>> = (2..bytes.len())
        .step_by(2)
        .enumerate()
        .map(|(index, at)| {
            let byte = u8::from_str_radix(&text[at..at + 2], 16).ok()?;
            Some(byte ^ KEY[(seed + index) % KEY.len()])
        })
        .collect();
    String::from_utf8(bytes_of_text?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn type7_decodes_published_examples() {
        for text in ["094F471A1A0A", "0822455D0A16", "070C285F4D06"] {
            assert_eq!(decode(text).as_deref(), Some("cisco"), "{text}");
        }
        for text in ["", "cisco", "09", "0G4F", "xx4F471A"] {
            assert_eq!(decode(text), None, "{text}");
        }
    }
}
