//! Kinds of blocks that are data alone: the text in the prompt, and the lines.

use std::sync::LazyLock;

use super::{Grammar, block, crypto, policy, routing_block};

macro_rules! block_kinds {
    ($($name:ident $tag:literal $rules:path;)*) => {
        /// A kind of block.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum BlockKind {
            $(
                #[doc = concat!("`(", $tag, ")#`")]
                $name,
            )*
        }

        impl BlockKind {
            /// The text in the prompt's parentheses.
            pub(crate) fn tag(self) -> &'static str {
                match self {
                    $(BlockKind::$name => $tag,)*
                }
            }

            /// The lines of the block.
            pub(crate) fn grammar(self) -> &'static Grammar {
                match self {
                    $(BlockKind::$name => {
                        static GRAMMAR: LazyLock<Grammar> = LazyLock::new(|| Grammar::new($rules));
                        &GRAMMAR
                    })*
                }
            }
        }
    };
}

block_kinds! {
    Archive "config-archive" block::ARCHIVE;
    ArchiveLog "config-archive-log-cfg" block::ARCHIVE_LOG;
    DeviceTracking "config-device-tracking" block::DEVICE_TRACKING;
    DhcpPool "dhcp-config" block::DHCP_POOL;
    ClassMap "config-cmap" policy::CLASS_MAP;
    PolicyMap "config-pmap" policy::POLICY_MAP;
    PolicyClass "config-pmap-c" policy::POLICY_CLASS;
    Track "config-track" policy::TRACK;
    Applet "config-applet" policy::APPLET;
    Trustpoint "ca-trustpoint" block::TRUSTPOINT;
    IsakmpPolicy "config-isakmp" crypto::POLICY;
    CryptoKeyring "conf-keyring" crypto::KEYRING;
    IsakmpProfile "conf-isa-prof" crypto::ISAKMP_PROFILE;
    TransformSet "cfg-crypto-trans" crypto::TRANSFORM_SET;
    IpsecProfile "ipsec-profile" crypto::IPSEC_PROFILE;
    CryptoMap "config-crypto-map" crypto::MAP;
    Ikev2Proposal "config-ikev2-proposal" crypto::IKEV2_PROPOSAL;
    Ikev2Policy "config-ikev2-policy" crypto::IKEV2_POLICY;
    Ikev2Keyring "config-ikev2-keyring" crypto::IKEV2_KEYRING;
    Ikev2Peer "config-ikev2-keyring-peer" crypto::IKEV2_PEER;
    Ikev2Profile "config-ikev2-profile" crypto::IKEV2_PROFILE;
    Isis "config-router" routing_block::ISIS;
    IsisFamily "config-router-af" routing_block::ISIS_FAMILY;
    EigrpNamed "config-router" routing_block::EIGRP_NAMED;
    EigrpFamily "config-router-af" routing_block::EIGRP_FAMILY;
    EigrpFamilyInterface "config-router-af-interface" routing_block::EIGRP_FAMILY_INTERFACE;
    EigrpTopology "config-router-af-topology" routing_block::EIGRP_TOPOLOGY;
    Rip "config-router" routing_block::RIP;
    ExplicitPath "cfg-ip-expl-path" routing_block::EXPLICIT_PATH;
}
