//! The words of command lines that decide whether a secret stands behind a word.

use std::collections::BTreeSet;
use std::sync::LazyLock;

/// A set of words in lower case.
pub(super) type Words = LazyLock<BTreeSet<&'static str>>;

/// Forms of a secret: the next word is the secret, or another form.
pub(super) static FORMS: Words = LazyLock::new(|| {
    words(
        "encrypted clear clear-text cleartext plain plain-text plaintext cipher irreversible-cipher
    ciphertext hash hashed text ascii ascii-text hex hexadecimal scrypt pbkdf2 enc encoded simple
    unencrypted value string local remote inbound outbound set-key fallback read write ro rw
    password-encrypt password-encryption newpass permanent",
    )
});

/// Forms that have a value of their own.
pub(super) static FORMS_WITH_VALUE: Words =
    LazyLock::new(|| words("level type peer encryption ah esp esp-null algorithm-type"));

/// Words of sentences and of commands that stand behind the name of a secret in its position.
pub(super) static NO_SECRETS: Words = LazyLock::new(|| {
    words(
        "is are was were be not no none never set unset required optional must may should shall will can
    cannot could for has have had of in on to and or if with without by at from as that this expired
    expires incorrect invalid mismatch mismatched wrong bad failed failure fail too does do did already
    supplied provided changed change missing found entered given prompt prompting encryption policy
    policies strength recovery aging history length min-length minimum maximum lifetime rollover chain
    chains key-chain keychain keyring management restriction logging algorithm attempts attempt retries
    check complexity reset update authentication authenticated protection inheritance storage
    hash-algorithm strength-check list format exchange differs differ matches means see here",
    )
});

/// Words that stand behind `key` and are no secrets.
pub(super) static NO_KEYS: Words = LazyLock::new(|| {
    words(
        "generate zeroize import export encrypt decrypt lock unlock param move pubkey-chain mypubkey rsa ec
    dsa ed25519 name label size type id identifier config-key derivation renegotiation rotation index
    number usage file path pair modulus exists address hostname server default duration hold-time
    interval source agreement event",
    )
});

/// Words that continue a command behind a secret.
pub(super) static CONTINUATIONS: Words = LazyLock::new(|| {
    words(
        "timeout realm level-1 level-2 level-1-2 address hostname access view ro rw no-xauth port udp-port
    vrf encrypted hidden secret proxy-reply transmit-key username user role privilege alias receiver
    hash hash2 auth-port acct-port context shutdown priority group ipv4 ipv6 acl use-acl use-vrf
    source-interface send-only localizedkey engineid prefer iburst single-connection pac domain
    idle-time user-identity send-lifetime accept-lifetime option retransmit test peer nopassword enable
    traps informs version hash-algorithm key-id spi exit interface level authenticate authorization
    method dead-time weight trustpoint mode url host",
    )
});

/// Words that stand behind `authentication` and are no secrets.
pub(super) static METHODS: Words = LazyLock::new(|| {
    words(
        "login enable ppp dot1x default message-digest mode key-chain keychain local aaa open network-eap
    key-management port-control order priority host-mode periodic event timer violation
    control-direction linksec fallback command pre-share pre-shared-key pre-shared-keys psk rsa-sig
    rsa-encr ecdsa-sig eap remote null simple chap pap ms-chap ms-chap-v2 mschap ipsec ah type challenge
    window-size list method methods attempts retries server radius tacacs tacacs+ ldap group line krb5
    username user key key-id key-string password secret send-only bind-first compare display mac-move
    mac-auth critical unauthenticated convert-to level-1 level-2 mac web webauth none on off true false
    text header certificate certificates public-key publickey keyboard-interactive keyboard hmac trap
    traps linkup linkdown coldstart warmstart profile policy protocol rekey mypubkey crypto-profile
    algorithm basic digest ntlm kerberos saml oauth rsa-signature rsa-key ike suppress scheme check any
    two-factor required optional disable disabled enabled auto peap tls ttls mab token session
    statistics failure-trap virtual-link interface area unset plain reauthentication",
    )
});

/// Sizes of keys, which stand before them.
pub(super) static SIZES: Words =
    LazyLock::new(|| words("40 56 64 104 112 128 168 192 256 384 512"));

/// Lines of free text: words in them name a secret only if nothing else can be meant.
pub(super) static FREE_TEXT: Words = LazyLock::new(|| {
    words(
        "description descr remark banner title location contact comment name alias message hostname // /* * !
    # rem",
    )
});

/// First words of lines in which a number behind `key` is that of a key.
pub(super) static NUMBERED: Words = LazyLock::new(|| {
    words(
        "ntp sntp tunnel encryption server pool peer broadcast multicast show keys trustedkey area isis",
    )
});

fn words(text: &'static str) -> BTreeSet<&'static str> {
    text.split_whitespace().collect()
}
