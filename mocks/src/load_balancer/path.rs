//! Names of objects: full paths, their format in URLs, and addresses with ports.

use percent_encoding::percent_decode_str;

/// The parts of a full path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FullPath {
    /// First folder; empty for objects outside partitions.
    pub partition: String,
    /// Folders between partition and name, joined by `/`.
    pub sub_path: Option<String>,
    /// Last part.
    pub name: String,
}

impl FullPath {
    /// Parses `/Common/app.app/pool1`; a name without path is in `partition`.
    pub(super) fn parse(text: &str, partition: &str) -> Self {
        let Some(rest) = text.strip_prefix('/') else {
            return FullPath {
                partition: partition.to_owned(),
                sub_path: None,
                name: text.to_owned(),
            };
        };
        let parts: Vec<&str> = rest.split('/').collect();
        let (first, last) = (parts[0].to_owned(), parts[parts.len() - 1].to_owned());
        let sub_path = (parts.len() > 2).then(|| parts[1..parts.len() - 1].join("/"));
        FullPath {
            partition: first,
            sub_path,
            name: last,
        }
    }

    /// `/Common/app.app/pool1`, or only the name outside partitions.
    pub(super) fn text(&self) -> String {
        match (&self.partition[..], &self.sub_path) {
            ("", _) => self.name.clone(),
            (partition, None) => format!("/{partition}/{}", self.name),
            (partition, Some(sub)) => format!("/{partition}/{sub}/{}", self.name),
        }
    }
}

/// A part of a URL as a full path: `~Common~web`, percent signs decoded.
pub(super) fn from_url(part: &str) -> String {
    percent_decode_str(part)
        .decode_utf8_lossy()
        .replace('~', "/")
}

/// A full path as a part of a URL.
pub(super) fn to_url(path: &str) -> String {
    path.replace('/', "~")
        .replace('%', "%25")
        .replace(' ', "%20")
}

/// Splits `10.0.0.1:443` or `2001:db8::1.443` (a dot after IPv6) into host and port.
pub(super) fn host_and_port(text: &str) -> Option<(&str, &str)> {
    let colons = text.matches(':').count();
    if colons > 1 {
        text.rsplit_once('.')
    } else {
        text.rsplit_once(':')
    }
}

/// A port by number or name; `any` and `*` are 0.
pub(super) fn port(text: &str) -> Option<u16> {
    match text {
        "any" | "*" => Some(0),
        "http" => Some(80),
        "https" => Some(443),
        "ssh" => Some(22),
        "domain" => Some(53),
        _ => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_is_parsed_from_names_and_urls() {
        for (url, path, parts) in [
            ("~Common~web", "/Common/web", ("Common", None, "web")),
            (
                "~Common~app.app~p",
                "/Common/app.app/p",
                ("Common", Some("app.app"), "p"),
            ),
            ("~Common~n1%252", "/Common/n1%2", ("Common", None, "n1%2")),
        ] {
            assert_eq!(from_url(url), path);
            assert_eq!(to_url(path), url);
            let full = FullPath::parse(path, "Common");
            assert_eq!(
                (
                    full.partition.as_str(),
                    full.sub_path.as_deref(),
                    full.name.as_str()
                ),
                parts
            );
            assert_eq!(full.text(), path);
        }
        assert_eq!(host_and_port("n1:80"), Some(("n1", "80")));
        assert_eq!(
            host_and_port("2001:db8::1.443"),
            Some(("2001:db8::1", "443"))
        );
    }
}
