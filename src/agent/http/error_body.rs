//! The message in the body of an error response: JSON from Puppet code, plain text from others.

/// Maximum length of the message in characters.
const MAX_LENGTH: usize = 2048;

/// The message of an error response, in one line.
pub(crate) fn message(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let message = serde_json::from_slice::<serde_json::Value>(body)
        .ok()
        .and_then(|value| Some(value.get("message")?.as_str()?.to_owned()))
        .unwrap_or_else(|| text.trim().to_owned());
    let message = if message.starts_with('<') {
        // From a proxy, usually.
        "an HTML page".to_owned()
    } else {
        message
    };
    let mut line = message.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() > MAX_LENGTH {
        line = line.chars().take(MAX_LENGTH).collect::<String>() + " …";
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_reads_every_shape_of_body() {
        let recorded = include_str!("../../../tests/fixtures/puppetserver/errors/broken1.json");
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
            ("<html><h1>502</h1></html>", "an HTML page"),
            ("a\n\tb ", "a b"),
            ("", ""),
        ] {
            assert_eq!(message(body.as_bytes()), expected);
        }
        assert_eq!(message("x".repeat(5000).as_bytes()).chars().count(), 2050);
    }
}
