//! What a session visibly uses: the interface that has the address of the session, and the VLAN, VRF,
//! bundle or access list that belongs to this interface or to a login. Purging keeps them.

use std::net::IpAddr;

use crate::document::{At, Item, KeyValue, keys};
use crate::names::TypeName;
use crate::pattern::Pattern;
use crate::read::State;
use crate::read::indent::Node;

/// `[session_use]` of `platform.toml`.
#[derive(Clone, Debug)]
pub(crate) struct SessionUse {
    /// The read with the configuration.
    pub(crate) read: String,
    /// The first line of a block that can have an address.
    block: Pattern,
    /// A line with an address of the device, as the group `address`.
    address: Pattern,
    names: Vec<UsedNames>,
}

/// Names of instances of a type in the lines of blocks.
#[derive(Clone, Debug)]
struct UsedNames {
    type_name: TypeName,
    /// The first line of the blocks; `None`: the blocks with an address of the session.
    block: Option<Pattern>,
    /// A line with a name, as the group `name`.
    line: Pattern,
}

keys! {
    /// How the configuration shows what a session uses.
    pub(super) struct SessionUseKeys {
        /// The read.
        from: String,
        /// Pattern of the first line of a block that can have an address.
        block: Pattern,
        /// Pattern of a line with an address.
        address: At<Pattern>,
        /// Names in lines of such a block.
        names: Vec<UsedNamesKeys>,
    }
}

keys! {
    /// Names that a session uses.
    pub(super) struct UsedNamesKeys {
        /// Type of the name.
        r#type as "type": String,
        /// Pattern with the group `name`.
        pattern: At<Pattern>,
        /// Pattern of the first line of other blocks.
        block: Option<Pattern>,
    }
}

impl SessionUse {
    /// Reads the section `[session_use]`.
    pub(super) fn load(item: &Item<'_>) -> Option<Self> {
        let keys = SessionUseKeys::read(item)?;
        let check = |pattern: At<Pattern>, group: &str| {
            let At { value, span } = pattern;
            if !value.group_names().any(|name| name == group) {
                let message = format!("the pattern has no group `{group}`");
                item.findings.error("pattern", span, message);
            }
            value
        };
        let names = keys.names.into_iter().map(|keys| UsedNames {
            type_name: keys.r#type.into(),
            block: keys.block,
            line: check(keys.pattern, "name"),
        });
        Some(Self {
            read: keys.from,
            block: keys.block,
            names: names.collect(),
            address: check(keys.address, "address"),
        })
    }

    /// The instances of a type that a session to one of these addresses uses.
    pub(crate) fn names(
        &self,
        type_name: &str,
        state: &State,
        addresses: &[IpAddr],
    ) -> Vec<String> {
        let Some(tree) = state.tree(&self.read) else {
            return Vec::new();
        };
        let mut found = Vec::new();
        for node in &tree.nodes {
            let has_address = self.block.is_match(&node.text) && self.has_address(node, addresses);
            let of_block = self.names.iter().filter(|names| {
                let is_block = match &names.block {
                    Some(block) => block.is_match(&node.text),
                    None => has_address,
                };
                is_block && names.type_name == type_name
            });
            let patterns: Vec<&Pattern> = of_block.map(|names| &names.line).collect();
            let children = node.children.nodes.iter().map(|child| &child.text);
            for line in std::iter::once(&node.text).chain(children) {
                let names = patterns.iter().filter_map(|pattern| pattern.captures(line));
                found.extend(names.map(|name| name["name"].to_owned()));
            }
        }
        found
    }

    fn has_address(&self, node: &Node, addresses: &[IpAddr]) -> bool {
        node.children.nodes.iter().any(|line| {
            let found = self.address.captures(&line.text);
            let found = found.and_then(|found| found["address"].parse::<IpAddr>().ok());
            found.is_some_and(|address| addresses.contains(&address))
        })
    }
}
