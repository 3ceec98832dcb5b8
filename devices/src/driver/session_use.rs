//! What a session visibly uses: the interface that has the address of the session, and the VLAN, VRF,
//! bundle or access list that belongs to this interface or to a login. Purging keeps them.

use std::net::IpAddr;

use crate::document::Table;
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

impl SessionUse {
    pub(super) fn load(table: &Table<'_>) -> Option<Self> {
        let read = table.required_string("from");
        let line = |table: &Table<'_>, key: &str, group: &str| {
            let item = table.required(key)?;
            let found = item.pattern()?;
            if !group.is_empty() && !found.group_names().any(|name| name == group) {
                item.error("pattern", format!("the pattern has no group `{group}`"));
            }
            Some(found)
        };
        let block = line(table, "block", "");
        let address = line(table, "address", "address");
        let names = table.get("names").and_then(|item| item.list());
        let names = names
            .iter()
            .flatten()
            .filter_map(|item| {
                let entry = item.table()?;
                let type_name = entry.required_string("type");
                let found = line(&entry, "pattern", "name");
                let block = entry.get("block").and_then(|item| item.pattern());
                entry.finish();
                Some(UsedNames {
                    type_name: type_name?.into(),
                    block,
                    line: found?,
                })
            })
            .collect();
        table.finish();
        Some(Self {
            read: read?,
            block: block?,
            address: address?,
            names,
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
