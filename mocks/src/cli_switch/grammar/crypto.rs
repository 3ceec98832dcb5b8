//! Lines of IKE and IPsec.
//!
//! Cisco IOS Security Command Reference: Commands A to C, "crypto ...", and the lines of its submodes; recordings i0803 and i0831
//! for the forms that are printed. `encryption` is printed as `encr`, and a key without the digit of its form if it is 0.

use super::block_kind::BlockKind;
use super::{Rule, rule};
use crate::cli_switch::configure::{Command, ConfigSession, end, exit};
use crate::cli_switch::effect::{Effect, Reply};

/// `(config)#`
pub(crate) const GLOBAL: &[Rule] = &[
    // Cisco IOS Security Command Reference, "crypto ..."; recording i0803 for the order.
    rule("crypto logging session", Effect::Store),
    rule(
        "crypto ikev2 proposal <word>",
        Effect::Enter(BlockKind::Ikev2Proposal),
    ),
    rule(
        "crypto ikev2 policy <word>",
        Effect::Enter(BlockKind::Ikev2Policy),
    ),
    rule(
        "crypto ikev2 keyring <word>",
        Effect::Enter(BlockKind::Ikev2Keyring),
    ),
    rule(
        "crypto ikev2 profile <word>",
        Effect::Enter(BlockKind::Ikev2Profile),
    ),
    rule(
        "crypto ikev2 dpd ! <10-3600> <2-60> (on-demand | periodic)",
        Effect::Store,
    ),
    rule("crypto ikev2 fragmentation mtu ! <96-1500>", Effect::Store),
    rule(
        "crypto keyring <word> ! [vrf <word>]",
        Effect::Enter(BlockKind::CryptoKeyring),
    ),
    rule(
        "crypto isakmp policy <1-10000>",
        Effect::Enter(BlockKind::IsakmpPolicy),
    ),
    rule(
        "crypto isakmp key [0 | 6] <word> (address <ipv4> [<mask>] | hostname <hostname>) [no-xauth]",
        Effect::Run(isakmp_key),
    ),
    rule("crypto isakmp enable", Effect::OnByDefault),
    rule("crypto isakmp invalid-spi-recovery", Effect::Store),
    rule(
        "crypto isakmp keepalive ! <10-3600> [<2-60>] [on-demand | periodic]",
        Effect::Run(keepalive),
    ),
    rule("crypto isakmp nat keepalive ! <5-3600>", Effect::Store),
    rule(
        "crypto isakmp identity ! (address | dn | hostname)",
        Effect::Unless("crypto isakmp identity address"),
    ),
    rule("crypto isakmp aggressive-mode disable", Effect::Store),
    rule(
        "crypto isakmp profile <word>",
        Effect::Enter(BlockKind::IsakmpProfile),
    ),
    rule(
        "crypto ipsec security-association lifetime kilobytes ! (<2560-4294967295> | disable)",
        Effect::Unless("crypto ipsec security-association lifetime kilobytes 4608000"),
    ),
    rule(
        "crypto ipsec security-association lifetime seconds ! <120-2592000>",
        Effect::Unless("crypto ipsec security-association lifetime seconds 3600"),
    ),
    rule(
        "crypto ipsec security-association idle-time ! <60-86400>",
        Effect::Store,
    ),
    rule(
        "crypto ipsec security-association replay window-size ! (64 | 128 | 256 | 512 | 1024)",
        Effect::Unless("crypto ipsec security-association replay window-size 64"),
    ),
    rule(
        "crypto ipsec security-association replay disable",
        Effect::Store,
    ),
    rule(
        "crypto ipsec transform-set <word> ! (ah-md5-hmac | ah-sha-hmac | ah-sha256-hmac | ah-sha384-hmac | ah-sha512-hmac | comp-lzs | esp-3des | esp-aes [128 | 192 | 256] | esp-des | esp-gcm [128 | 192 | 256] | esp-gmac [128 | 192 | 256] | esp-md5-hmac | esp-null | esp-seal | esp-sha-hmac | esp-sha256-hmac | esp-sha384-hmac | esp-sha512-hmac)*",
        Effect::Enter(BlockKind::TransformSet),
    ),
    rule(
        "crypto ipsec df-bit ! (clear | copy | set)",
        Effect::Unless("crypto ipsec df-bit copy"),
    ),
    rule(
        "crypto ipsec fragmentation ! (after-encryption | before-encryption)",
        Effect::Unless("crypto ipsec fragmentation before-encryption"),
    ),
    rule(
        "crypto ipsec nat-transparency udp-encapsulation",
        Effect::OnByDefault,
    ),
    rule(
        "crypto ipsec profile <word>",
        Effect::Enter(BlockKind::IpsecProfile),
    ),
    rule(
        "crypto dynamic-map <word> <1-65535>",
        Effect::Enter(BlockKind::CryptoMap),
    ),
    rule(
        "crypto map <word> <1-65535> ! (ipsec-isakmp [dynamic <word>] | gdoi | ipsec-manual)",
        Effect::Enter(BlockKind::CryptoMap),
    ),
];

/// `(config-isakmp)#`
pub(crate) const POLICY: &[Rule] = &[
    rule(
        "encryption ! (des | 3des | aes [128 | 192 | 256])",
        Effect::Run(encryption),
    ),
    rule(
        "hash ! (md5 | sha | sha256 | sha384 | sha512)",
        Effect::Unless("hash sha"),
    ),
    rule(
        "authentication ! (ecdsa-sig | pre-share | rsa-encr | rsa-sig)",
        Effect::Unless("authentication rsa-sig"),
    ),
    rule(
        "group ! (1 | 2 | 5 | 14 | 15 | 16 | 19 | 20 | 21 | 24)",
        Effect::Unless("group 1"),
    ),
    rule("lifetime ! <60-86400>", Effect::Unless("lifetime 86400")),
    rule("exit", Effect::Run(exit)),
    rule("end", Effect::Run(end)),
];

/// `(conf-keyring)#`
pub(crate) const KEYRING: &[Rule] = &[
    rule("description ! <line>", Effect::Store),
    rule(
        "local-address ! (<ipv4> [<word>] | <interface>)",
        Effect::Store,
    ),
    rule(
        "pre-shared-key address <ipv4> [<mask>] key ! [0 | 6] <word>",
        Effect::Run(key),
    ),
    rule(
        "pre-shared-key hostname <hostname> key ! [0 | 6] <word>",
        Effect::Run(key),
    ),
    rule("exit", Effect::Run(exit)),
    rule("end", Effect::Run(end)),
];

/// `(conf-isa-prof)#`
pub(crate) const ISAKMP_PROFILE: &[Rule] = &[
    rule("description ! <line>", Effect::Store),
    rule("vrf ! <word>", Effect::Store),
    rule("keyring ! <word>", Effect::Store),
    rule(
        "self-identity ! (address [ipv6] | fqdn [<word>] | user-fqdn <word>)",
        Effect::Store,
    ),
    rule("ca trust-point ! <word>", Effect::Store),
    rule(
        "match identity (address <ipv4> [<mask>] [<word>] | group <word> | host [domain] <word> | user [domain] <word>)",
        Effect::Store,
    ),
    rule("keepalive ! <10-3600> retry <2-60>", Effect::Store),
    rule("virtual-template ! <1-4096>", Effect::Store),
    rule("initiate mode aggressive", Effect::Store),
    rule(
        "local-address ! (<ipv4> [<word>] | <interface>)",
        Effect::Store,
    ),
    rule("exit", Effect::Run(exit)),
    rule("end", Effect::Run(end)),
];

/// `(cfg-crypto-trans)#`
pub(crate) const TRANSFORM_SET: &[Rule] = &[
    // The default is printed, too (recording i0803).
    rule("mode ! (transport | tunnel)", Effect::Store),
    rule("exit", Effect::Run(exit)),
    rule("end", Effect::Run(end)),
];

/// `(ipsec-profile)#`
pub(crate) const IPSEC_PROFILE: &[Rule] = &[
    rule("description ! <line>", Effect::Store),
    rule(
        "set security-association lifetime kilobytes ! (<2560-4294967295> | disable)",
        Effect::Store,
    ),
    rule(
        "set security-association lifetime seconds ! <120-2592000>",
        Effect::Store,
    ),
    rule("set transform-set ! <word> (<word>)*", Effect::Store),
    rule(
        "set pfs ! (group1 | group2 | group5 | group14 | group15 | group16 | group19 | group20 | group21 | group24)",
        Effect::Store,
    ),
    rule("set isakmp-profile ! <word>", Effect::Store),
    rule("set ikev2-profile ! <word>", Effect::Store),
    rule("responder-only", Effect::Store),
    rule("exit", Effect::Run(exit)),
    rule("end", Effect::Run(end)),
];

/// `(config-crypto-map)#`
pub(crate) const MAP: &[Rule] = &[
    rule("description ! <line>", Effect::Store),
    rule("set peer <host> ! [default | dynamic]", Effect::Store),
    rule(
        "set security-association lifetime kilobytes ! (<2560-4294967295> | disable)",
        Effect::Store,
    ),
    rule(
        "set security-association lifetime seconds ! <120-2592000>",
        Effect::Store,
    ),
    rule("set transform-set ! <word> (<word>)*", Effect::Store),
    rule(
        "set pfs ! (group1 | group2 | group5 | group14 | group15 | group16 | group19 | group20 | group21 | group24)",
        Effect::Store,
    ),
    rule("set isakmp-profile ! <word>", Effect::Store),
    rule("set ikev2-profile ! <word>", Effect::Store),
    rule("match address ! <word>", Effect::Store),
    rule("reverse-route ! [static]", Effect::Store),
    rule("qos pre-classify", Effect::Store),
    rule("exit", Effect::Run(exit)),
    rule("end", Effect::Run(end)),
];

/// `(config-ikev2-proposal)#`
pub(crate) const IKEV2_PROPOSAL: &[Rule] = &[
    rule(
        "encryption ! (des | 3des | aes-cbc-128 | aes-cbc-192 | aes-cbc-256 | aes-gcm-128 | aes-gcm-256) (des | 3des | aes-cbc-128 | aes-cbc-192 | aes-cbc-256 | aes-gcm-128 | aes-gcm-256)*",
        Effect::Store,
    ),
    rule(
        "integrity ! (md5 | sha1 | sha256 | sha384 | sha512) (md5 | sha1 | sha256 | sha384 | sha512)*",
        Effect::Store,
    ),
    rule(
        "prf ! (md5 | sha1 | sha256 | sha384 | sha512) (md5 | sha1 | sha256 | sha384 | sha512)*",
        Effect::Store,
    ),
    rule(
        "group ! (1 | 2 | 5 | 14 | 15 | 16 | 19 | 20 | 21 | 24) (1 | 2 | 5 | 14 | 15 | 16 | 19 | 20 | 21 | 24)*",
        Effect::Store,
    ),
    rule("exit", Effect::Run(exit)),
    rule("end", Effect::Run(end)),
];

/// `(config-ikev2-policy)#`
pub(crate) const IKEV2_POLICY: &[Rule] = &[
    rule("match fvrf ! <word>", Effect::Store),
    rule("match address local (<ipv4> | <ipv6>)", Effect::Store),
    rule("proposal <word>", Effect::Store),
    rule("exit", Effect::Run(exit)),
    rule("end", Effect::Run(end)),
];

/// `(config-ikev2-keyring)#`
pub(crate) const IKEV2_KEYRING: &[Rule] = &[
    rule("peer <word>", Effect::Enter(BlockKind::Ikev2Peer)),
    rule("exit", Effect::Run(exit)),
    rule("end", Effect::Run(end)),
];

/// `(config-ikev2-keyring-peer)#`
pub(crate) const IKEV2_PEER: &[Rule] = &[
    rule("description ! <line>", Effect::Store),
    rule("hostname ! <word>", Effect::Store),
    rule("address ! (<ipv4> [<ipv4>] | <ipv6>)", Effect::Store),
    rule(
        "identity ! (address (<ipv4> | <ipv6>) | email <word> | fqdn <word> | key-id <word>)",
        Effect::Store,
    ),
    rule("pre-shared-key local ! [0 | 6] <word>", Effect::Run(key)),
    rule("pre-shared-key remote ! [0 | 6] <word>", Effect::Run(key)),
    rule("pre-shared-key ! [0 | 6] <word>", Effect::Run(key)),
    rule("exit", Effect::Run(exit)),
    rule("end", Effect::Run(end)),
];

/// `(config-ikev2-profile)#`
pub(crate) const IKEV2_PROFILE: &[Rule] = &[
    rule("description ! <line>", Effect::Store),
    rule("match fvrf ! <word>", Effect::Store),
    rule(
        "match address local ! (<ipv4> | <ipv6> | interface <interface>)",
        Effect::Store,
    ),
    rule(
        "match identity remote (address <ipv4> [<mask>] | any | email [domain] <word> | fqdn [domain] <word> | key-id <word>)",
        Effect::Store,
    ),
    rule("match certificate ! <word>", Effect::Store),
    rule(
        "identity local ! (address (<ipv4> | <ipv6>) | dn | email <word> | fqdn <word> | key-id <word>)",
        Effect::Store,
    ),
    rule(
        "authentication remote ! (ecdsa-sig | pre-share | rsa-sig)",
        Effect::Store,
    ),
    rule(
        "authentication local ! (eap | ecdsa-sig | pre-share | rsa-sig)",
        Effect::Store,
    ),
    rule("keyring local ! <word>", Effect::Store),
    rule("pki trustpoint ! <word>", Effect::Store),
    rule("lifetime ! <120-86400>", Effect::Unless("lifetime 86400")),
    rule(
        "dpd ! <10-3600> <2-60> (on-demand | periodic)",
        Effect::Store,
    ),
    rule("nat keepalive ! <5-3600>", Effect::Store),
    rule("ivrf ! <word>", Effect::Store),
    rule("virtual-template ! <1-4096>", Effect::Store),
    rule("exit", Effect::Run(exit)),
    rule("end", Effect::Run(end)),
];

/// The word is printed in its short form, and the default not at all.
fn encryption(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let identity = command.identity_text();
    if !command.is_set() || command.word(1) == "des" {
        session.block().remove(&identity);
        return Reply::Silent;
    }
    let words = command.words[1..].join(" ");
    let words = words.strip_suffix(" 128").unwrap_or(&words);
    session.block().set(command.entry(format!("encr {words}")));
    Reply::Silent
}

/// The words of a line with a key, as they are printed: form 0 is none.
fn printed(command: &Command, key: usize) -> String {
    let mut words = command.words.clone();
    if words.get(key).is_some_and(|word| word == "0") && words.len() > key + 1 {
        words.remove(key);
    }
    words.join(" ")
}

/// A key of a keyring. One peer has one.
fn key(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let identity = command.identity_text();
    if !command.is_set() {
        session.block().remove(&identity);
        return Reply::Silent;
    }
    let text = printed(command, command.identity);
    let is_keyring = command.words.iter().any(|word| word == "key");
    let other = session.block().find(&identity);
    if is_keyring && other.is_some_and(|other| other.text != text) {
        return Reply::Text(exists(command.word(2)));
    }
    session.block().set(command.entry(text));
    Reply::Silent
}

fn exists(peer: &str) -> String {
    format!("A pre-shared key for address mask {peer} 255.255.255.255 already exists!")
}

/// A key outside of keyrings. The line ends with the peer, which identifies it.
fn isakmp_key(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    let Some(kind) =
        (command.words.iter()).position(|word| word == "address" || word == "hostname")
    else {
        return Reply::Incomplete;
    };
    let peer = command.word(kind + 1);
    let identity = format!("crypto isakmp key {peer}");
    if !command.is_set() {
        session.device.edit().root.remove(&identity);
        return Reply::Silent;
    }
    let text = printed(command, 3);
    let other = session.device.configuration.root.find(&identity);
    if other.is_some_and(|other| other.text != text) {
        return Reply::Text(exists(peer));
    }
    let mut entry = command.entry(text);
    entry.identity = identity;
    session.set(entry)
}

/// The parts of the line that have their defaults are not printed.
fn keepalive(session: &mut ConfigSession<'_>, command: &Command) -> Reply {
    if !command.is_set() {
        return session.remove(command);
    }
    let words = command.words.iter().filter(|word| *word != "on-demand");
    let mut words: Vec<&str> = words.map(String::as_str).collect();
    if words.len() == 5 && words[4] == "2" {
        words.truncate(4);
    }
    session.set(command.entry(words.join(" ")))
}
