//! Names of port numbers and code points.

/// Port, name, valid for TCP, valid for UDP, only on newer images.
const PORTS: &[(u16, &str, bool, bool, bool)] = &[
    (7, "echo", true, true, false),
    (9, "discard", true, true, false),
    (13, "daytime", true, false, false),
    (19, "chargen", true, false, false),
    (20, "ftp-data", true, false, false),
    (21, "ftp", true, false, false),
    (22, "ssh", true, false, true),
    (23, "telnet", true, false, false),
    (25, "smtp", true, false, false),
    (37, "time", true, true, false),
    (43, "whois", true, false, false),
    (49, "tacacs", true, true, false),
    (53, "domain", true, true, false),
    (67, "bootps", false, true, false),
    (68, "bootpc", false, true, false),
    (69, "tftp", false, true, false),
    (70, "gopher", true, false, false),
    (79, "finger", true, false, false),
    (80, "www", true, false, false),
    (109, "pop2", true, false, false),
    (110, "pop3", true, false, false),
    (111, "sunrpc", true, true, false),
    (113, "ident", true, false, false),
    (119, "nntp", true, false, false),
    (123, "ntp", false, true, false),
    (137, "netbios-ns", false, true, false),
    (138, "netbios-dgm", false, true, false),
    (139, "netbios-ss", false, true, false),
    (161, "snmp", false, true, false),
    (162, "snmptrap", false, true, false),
    (177, "xdmcp", false, true, false),
    (179, "bgp", true, false, false),
    (194, "irc", true, false, false),
    (496, "pim-auto-rp", true, true, false),
    (500, "isakmp", false, true, false),
    (512, "biff", false, true, false),
    (512, "exec", true, false, false),
    (513, "login", true, false, false),
    (513, "who", false, true, false),
    (514, "cmd", true, false, false),
    (514, "syslog", false, true, false),
    (515, "lpd", true, false, false),
    (517, "talk", true, true, false),
    (520, "rip", false, true, false),
    (540, "uucp", true, false, false),
    (543, "klogin", true, false, false),
    (544, "kshell", true, false, false),
    (4500, "non500-isakmp", false, true, false),
];

/// Whether any protocol has a port of this name.
pub(super) fn is_name(name: &str) -> bool {
    PORTS.iter().any(|(_, port, ..)| *port == name)
}

/// The text of a port in a line about a protocol; `None` if the protocol has no such name.
pub(super) fn printed(port: &str, tcp: bool, newer: bool) -> Option<String> {
    let is_valid = |&&(_, _, for_tcp, for_udp, only_newer): &&(u16, &str, bool, bool, bool)| {
        (if tcp { for_tcp } else { for_udp }) && (newer || !only_newer)
    };
    if let Ok(number) = port.parse::<u16>() {
        let name = PORTS
            .iter()
            .filter(is_valid)
            .find(|(candidate, ..)| *candidate == number);
        return Some(name.map_or_else(|| number.to_string(), |(_, name, ..)| (*name).to_owned()));
    }
    PORTS
        .iter()
        .filter(is_valid)
        .find(|(_, name, ..)| *name == port)
        .map(|(_, name, ..)| (*name).to_owned())
}

/// The name of a code point; numbers without a name remain numbers.
pub(super) fn dscp(word: &str) -> Option<String> {
    let word = word.to_ascii_lowercase();
    let number = match word.as_str() {
        "default" => 0,
        "ef" => 46,
        _ if word.starts_with("af") => {
            let (class, drop) = (
                word.get(2..3)?.parse::<u8>().ok()?,
                word.get(3..)?.parse::<u8>().ok()?,
            );
            if !(1..=4).contains(&class) || !(1..=3).contains(&drop) {
                return None;
            }
            8 * class + 2 * drop
        }
        _ if word.starts_with("cs") => {
            8 * word
                .get(2..)?
                .parse::<u8>()
                .ok()
                .filter(|class| (1..=7).contains(class))?
        }
        _ => word.parse::<u8>().ok().filter(|number| *number < 64)?,
    };
    Some(match number {
        0 => "default".to_owned(),
        46 => "ef".to_owned(),
        number if number % 8 == 0 => format!("cs{}", number / 8),
        number if number % 2 == 0 && (1..=4).contains(&(number / 8)) && number % 8 <= 6 => {
            format!("af{}{}", number / 8, number % 8 / 2)
        }
        number => number.to_string(),
    })
}
