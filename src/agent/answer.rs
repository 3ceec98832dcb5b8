//! What a server said when it refused: JSON from one side of it, plain text from another.

/// The longest text that goes into a message, in characters.
const LONGEST: usize = 2048;

/// The words in the body of a refusal, in one line.
pub fn message(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let said = serde_json::from_slice::<serde_json::Value>(body)
        .ok()
        .and_then(|value| Some(value.get("message")?.as_str()?.to_owned()))
        .unwrap_or_else(|| text.trim().to_owned());
    let said = if said.starts_with('<') {
        // A proxy on the way, or a page for people.
        "a page of HTML".to_owned()
    } else {
        said
    };
    let mut words = said.split_whitespace().collect::<Vec<_>>().join(" ");
    words.retain(|character| !character.is_control());
    if words.chars().count() > LONGEST {
        words = words.chars().take(LONGEST).collect::<String>() + " …";
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_of_refusal_is_understood() {
        let recorded = include_str!("../../tests/fixtures/puppetserver/errors/broken1.json");
        assert!(message(recorded.as_bytes()).starts_with(
            "Server Error: no parameter named 'colour' (file: /etc/puppetlabs/code/environments/production/manifests/site.pp, line: 235)"
        ));
        for (body, expected) in [
            (
                "Forbidden request: /x (method :get).\n",
                "Forbidden request: /x (method :get).",
            ),
            (
                "{\n\"message\":\"Not Found\",\n\"url\":\"/x\",\n\"status\":\"404\"\n}",
                "Not Found",
            ),
            ("{\"error\": 1}", "{\"error\": 1}"),
            ("<html><h1>502</h1></html>", "a page of HTML"),
            ("a\u{1b}[31m\nb", "a[31m b"),
            ("", ""),
        ] {
            assert_eq!(message(body.as_bytes()), expected);
        }
        assert_eq!(message("x".repeat(5000).as_bytes()).chars().count(), 2050);
    }
}
