//! Interface names: abbreviations, the standard spelling, the short one that `show` uses, and their order.

use std::fmt;

/// Types in the order of the running configuration: standard name, short name, whether virtual.
const TYPES: &[(&str, &str, bool)] = &[
    ("Loopback", "Lo", true),
    ("Tunnel", "Tu", true),
    ("Port-channel", "Po", true),
    ("Multilink", "Mu", true),
    ("Dialer", "Di", true),
    ("Virtual-Template", "Vt", true),
    ("VirtualPortGroup", "VP", true),
    ("BVI", "BV", true),
    ("BDI", "BD", true),
    ("nve", "nv", true),
    ("ATM", "AT", false),
    ("Async", "As", false),
    ("BRI", "BR", false),
    ("Cellular", "Ce", false),
    ("Dot11Radio", "Do", false),
    ("Embedded-Service-Engine", "EmSv", false),
    ("POS", "PO", false),
    ("FastEthernet", "Fa", false),
    ("GigabitEthernet", "Gi", false),
    ("TwoGigabitEthernet", "Tw", false),
    ("FiveGigabitEthernet", "Fi", false),
    ("TenGigabitEthernet", "Te", false),
    ("TwentyFiveGigE", "Twe", false),
    ("FortyGigabitEthernet", "Fo", false),
    ("FiftyGigE", "Fif", false),
    ("HundredGigE", "Hu", false),
    ("FourHundredGigE", "Fou", false),
    ("AppGigabitEthernet", "Ap", false),
    ("Ethernet", "Et", false),
    ("Serial", "Se", false),
    ("Vlan", "Vl", true),
];

/// The name of an interface: type and numbers.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct InterfaceName {
    kind: usize,
    numbers: Vec<u32>,
    /// Channel of a serial controller: `Serial0/0/0:0`.
    channel: Option<u32>,
    subinterface: Option<u32>,
}

impl InterfaceName {
    /// Parses `Gi1/0/1`, `gigabitethernet 1/0/1`, `Po10`. The type can be abbreviated while it is unambiguous; the
    /// usual short names (`Te`, `Fi`, `Tw`) have precedence.
    pub(super) fn parse(text: &str) -> Option<Self> {
        // The name of a type may have digits itself.
        let named = TYPES.iter().find(|(name, ..)| {
            let start = text.get(..name.len());
            start.is_some_and(|start| start.eq_ignore_ascii_case(name))
        });
        let split = match named {
            Some((name, ..)) => name.len(),
            None => text.find(|character: char| character.is_ascii_digit())?,
        };
        let (kind, numbers) = text.split_at(split);
        let numbers = numbers.trim_start();
        let kind = Self::kind(kind.trim_end())?;
        let (numbers, subinterface) = match numbers.split_once('.') {
            Some((numbers, sub)) => (numbers, Some(sub.parse().ok()?)),
            None => (numbers, None),
        };
        let (numbers, channel) = match numbers.split_once(':') {
            Some((numbers, channel)) => (numbers, Some(channel.parse().ok()?)),
            None => (numbers, None),
        };
        let numbers: Vec<u32> = numbers
            .split('/')
            .map(|number| number.parse().ok())
            .collect::<Option<_>>()?;
        (numbers.len() <= 4).then_some(InterfaceName {
            kind,
            numbers,
            channel,
            subinterface,
        })
    }

    /// Whether the word alone can be the type of an interface whose number follows as the next word.
    pub(super) fn is_type(word: &str) -> bool {
        Self::kind(word).is_some()
    }

    fn kind(word: &str) -> Option<usize> {
        if word.is_empty() {
            return None;
        }
        if let Some(kind) = TYPES
            .iter()
            .position(|(_, short, _)| short.eq_ignore_ascii_case(word))
        {
            return Some(kind);
        }
        let begins = |name: &str| {
            let start = name.get(..word.len());
            start.is_some_and(|start| start.eq_ignore_ascii_case(word))
        };
        let mut found = TYPES
            .iter()
            .enumerate()
            .filter(|(_, (name, ..))| begins(name));
        let (kind, _) = found.next()?;
        found.next().is_none().then_some(kind)
    }

    /// `Gi1/0/1`.
    pub(super) fn short(&self) -> String {
        self.with_type(TYPES[self.kind].1)
    }

    /// `GigabitEthernet`.
    pub(super) fn type_name(&self) -> &'static str {
        TYPES[self.kind].0
    }

    /// Whether configuring a missing interface of this type creates it.
    pub(super) fn is_virtual(&self) -> bool {
        TYPES[self.kind].2 || self.subinterface.is_some()
    }

    /// Whether the port can switch frames: a physical port or a port channel.
    pub(super) fn is_switchable(&self) -> bool {
        let is_ethernet =
            self.type_name().ends_with("Ethernet") || self.type_name().ends_with("GigE");
        self.subinterface.is_none() && (is_ethernet || self.is_port_channel())
    }

    /// A part of an Ethernet port or port channel, which belongs to a VLAN by its encapsulation.
    pub(super) fn is_lan_subinterface(&self) -> bool {
        let port = Self {
            subinterface: None,
            ..self.clone()
        };
        self.subinterface.is_some() && port.is_switchable()
    }

    /// `TunnelN`.
    pub(super) fn is_tunnel(&self) -> bool {
        self.type_name() == "Tunnel"
    }

    /// `Port-channelN`.
    pub(super) fn is_port_channel(&self) -> bool {
        self.type_name() == "Port-channel" && self.subinterface.is_none()
    }

    /// `VlanN`.
    pub(super) fn is_vlan(&self) -> bool {
        self.type_name() == "Vlan"
    }

    /// The last number of the name.
    pub(super) fn number(&self) -> u32 {
        self.numbers.last().copied().unwrap_or_default()
    }

    /// Order among interfaces: by type, then by each number.
    pub(super) fn sort_key(&self) -> Vec<u32> {
        let mut key = vec![u32::try_from(self.kind).unwrap_or(u32::MAX)];
        key.extend(&self.numbers);
        key.push(self.channel.map_or(0, |channel| channel + 1));
        key.push(self.subinterface.map_or(0, |sub| sub + 1));
        key
    }

    fn with_type(&self, kind: &str) -> String {
        let numbers: Vec<String> = self.numbers.iter().map(u32::to_string).collect();
        let part = |mark: char, number: Option<u32>| {
            number.map_or_else(String::new, |number| format!("{mark}{number}"))
        };
        let (channel, sub) = (part(':', self.channel), part('.', self.subinterface));
        format!("{kind}{}{channel}{sub}", numbers.join("/"))
    }
}

impl fmt::Display for InterfaceName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.with_type(self.type_name()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interface_name_abbreviations_are_expanded() {
        for (text, full, short) in [
            ("Gi1/0/1", "GigabitEthernet1/0/1", "Gi1/0/1"),
            ("gigabitethernet 1/0/1", "GigabitEthernet1/0/1", "Gi1/0/1"),
            ("Te1/1/4", "TenGigabitEthernet1/1/4", "Te1/1/4"),
            ("Twe1/0/1", "TwentyFiveGigE1/0/1", "Twe1/0/1"),
            ("po41", "Port-channel41", "Po41"),
            ("Port-Channel 41", "Port-channel41", "Po41"),
            ("vlan0010", "Vlan10", "Vl10"),
            ("fa0/1", "FastEthernet0/1", "Fa0/1"),
            ("gi0/0/0.100", "GigabitEthernet0/0/0.100", "Gi0/0/0.100"),
            ("Serial0/1/0:0", "Serial0/1/0:0", "Se0/1/0:0"),
            ("Serial0/0:3.101", "Serial0/0:3.101", "Se0/0:3.101"),
            ("Dot11Radio0", "Dot11Radio0", "Do0"),
            ("Virtual-Template1", "Virtual-Template1", "Vt1"),
        ] {
            let name = InterfaceName::parse(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(
                (name.to_string().as_str(), name.short().as_str()),
                (full, short)
            );
        }
        for text in ["ae[0]", "Zürich", "GigabitEthernet", "t1/0/1", "Gi1/a", ""] {
            assert_eq!(InterfaceName::parse(text), None, "{text}");
        }
    }
}
