//! The block of the device around a new instance, if its header has values that the catalog does not
//! know: `router bgp {asn}` around a neighbor without the number.

use std::borrow::Cow;

use super::CliType;
use super::block_path::BlockPath;
use super::found::FoundInstance;
use super::template::LineTemplate;
use crate::driver::implementation::RenderError;
use crate::read::State;
use crate::value::Attributes;

impl CliType {
    /// Adds the read-only values in the headers of the block that lines are sent to: the device has
    /// the block, and the catalog does not know them. Before the first answer, any value does.
    ///
    /// # Errors
    /// The device has several such blocks.
    pub(super) fn with_values_of_block<'w>(
        &self,
        mut values: Cow<'w, Attributes>,
        state: &State,
    ) -> Result<Cow<'w, Attributes>, RenderError> {
        let parents = self.parents();
        let templates = parents.iter().flat_map(BlockPath::templates);
        let names = templates.flat_map(LineTemplate::attributes);
        let unknown: Vec<&str> = names
            .filter(|name| self.is_read_only(name) && !values.contains_key(name))
            .collect();
        let Some(first) = unknown.first() else {
            return Ok(values);
        };
        let Some(tree) = state.tree(&self.instance.from) else {
            let any = unknown
                .iter()
                .filter_map(|name| Some(((*name).to_owned(), self.example(name, 0)?)));
            values.to_mut().extend(any);
            return Ok(values);
        };
        let located = BlockPath::locate(&parents, &tree.nodes, self).into_iter();
        let mut blocks: Vec<FoundInstance> = located.map(|block| self.in_block(block)).collect();
        blocks.retain(|block| self.has_names_of(block, &parents, &values));
        let known = |block: &FoundInstance| {
            let values = unknown.iter();
            let values = values.map(|name| block.attributes.get(name).cloned());
            values.collect::<Vec<_>>()
        };
        blocks.dedup_by_key(|block| known(block));
        if blocks.len() > 1 {
            let headers = blocks.iter().map(|block| block.block.join(" / "));
            let headers: Vec<String> = headers.map(|text| format!("`{text}`")).collect();
            let message = format!(
                "the device has several blocks for it: {}",
                headers.join(", ")
            );
            return Err(RenderError::new(*first, message));
        }
        let known = blocks.into_iter().flat_map(|block| block.attributes);
        let known = known.filter(|(name, _)| unknown.contains(&name.as_str()));
        values.to_mut().extend(known);
        Ok(values)
    }

    /// The blocks around the instances, up to the last with a read-only value.
    fn parents(&self) -> Vec<BlockPath> {
        let kind = &self.instance.kind;
        // The last header of an instance that is a block is its own.
        let own = usize::from(kind.blocks().is_some());
        let is_known_to_device = |header: &LineTemplate| {
            let mut names = header.attributes().into_iter();
            names.any(|name| self.is_read_only(name))
        };
        let paths = kind.paths().iter();
        let parents = paths.map(|path| {
            let outer = path.levels().len().saturating_sub(own);
            path.outer(outer).up_to_last(is_known_to_device)
        });
        parents.collect()
    }

    /// Whether a block has the names of an instance, as far as its headers have names.
    fn has_names_of(
        &self,
        block: &FoundInstance,
        parents: &[BlockPath],
        values: &Attributes,
    ) -> bool {
        let has_name = |name: &str| parents[block.spelling].has_attribute(name);
        let mut names = self.model.namevars().filter(|name| has_name(name));
        names.all(|name| {
            let own = block
                .attributes
                .get(name)
                .or_else(|| self.absent_name(name));
            own == values.get(name)
        })
    }
}
