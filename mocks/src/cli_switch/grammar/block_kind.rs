//! Kinds of blocks that are data alone: the text in the prompt, and the lines.

use std::sync::LazyLock;

use super::{Grammar, block};

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
    DhcpPool "dhcp-config" block::DHCP_POOL;
    Trustpoint "ca-trustpoint" block::TRUSTPOINT;
    Keyring "conf-keyring" block::KEYRING;
}
