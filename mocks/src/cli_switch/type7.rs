//! The reversible obfuscation that `service password-encryption` applies to keys (type 7).

const PAD: &[u8] = b"dsfd;kfoA,.iyewrkldJKDHSUBsgvca69834ncxv9873254k;fg87";

/// Obfuscates a text. The offset in the key depends on the text, so the result is always the same.
pub(super) fn encode(text: &str) -> String {
    let start = text.bytes().map(usize::from).sum::<usize>() % 16;
    let hidden = text
        .bytes()
        .enumerate()
        .map(|(index, byte)| byte ^ PAD[(start + index) % PAD.len()]);
    let digits: String = hidden.map(|byte| format!("{byte:02X}")).collect();
    format!("{start:02}{digits}")
}

/// Decodes an obfuscated text.
pub(super) fn decode(hidden: &str) -> Option<String> {
    let start: usize = hidden.get(..2)?.parse().ok()?;
    let digits = hidden.get(2..)?;
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    let bytes: Option<Vec<u8>> = (0..digits.len() / 2)
        .map(|index| {
            let byte = u8::from_str_radix(digits.get(index * 2..index * 2 + 2)?, 16).ok()?;
            Some(byte ^ PAD[(start + index) % PAD.len()])
        })
        .collect();
    String::from_utf8(bytes?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn type7_decodes_a_published_text_and_round_trips() {
        // A published pair.
        assert_eq!(decode("0822455D0A16").as_deref(), Some("cisco"));
        assert_eq!(decode(&encode("s3cret key")).as_deref(), Some("s3cret key"));
    }
}
