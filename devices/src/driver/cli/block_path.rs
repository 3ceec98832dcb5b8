//! Blocks in blocks: `router bgp {asn} / [vrf {vrf}] / neighbor {name}`.

use super::template::{Bindings, LineTemplate, Vocabulary};
use crate::driver::template_error::TemplateError;
use crate::read::indent::Node;
use crate::secret::Text;
use crate::value::Value;

const SEPARATOR: &str = " / ";

/// The headers of nested blocks, outermost first. Without levels: the top level.
#[derive(Clone, Debug, Default)]
pub(crate) struct BlockPath {
    /// As the author wrote it.
    pub(crate) text: String,
    levels: Vec<BlockLevel>,
}

/// A block of a path.
#[derive(Clone, Debug)]
pub(crate) struct BlockLevel {
    pub(crate) header: LineTemplate,
    /// The block is left out while its attributes have no value.
    pub(crate) is_optional: bool,
}

/// A block of the device to which a path leads.
#[derive(Debug)]
pub(crate) struct LocatedBlock<'t> {
    /// Positions in the tree, outermost first.
    pub(crate) position: Vec<usize>,
    /// Its header below those of its blocks.
    pub(crate) headers: Vec<String>,
    pub(crate) bindings: Bindings,
    /// The index of the path.
    pub(crate) spelling: usize,
    pub(crate) nodes: &'t [Node],
}

impl BlockPath {
    /// Parses headers that are separated by ` / `.
    ///
    /// # Errors
    /// A header is no template.
    pub(crate) fn parse(text: &str) -> Result<Self, TemplateError> {
        let level = |step: &str| {
            let optional = step
                .strip_prefix('[')
                .and_then(|rest| rest.strip_suffix(']'));
            Ok(BlockLevel {
                header: LineTemplate::parse(optional.unwrap_or(step))?,
                is_optional: optional.is_some(),
            })
        };
        if text.is_empty() {
            return Ok(Self::default());
        }
        Ok(Self {
            text: text.to_owned(),
            levels: text
                .split(SEPARATOR)
                .map(|step| level(step.trim()))
                .collect::<Result<_, TemplateError>>()?,
        })
    }

    /// The path to a block of the top level.
    pub(crate) fn of(header: LineTemplate) -> Self {
        Self {
            text: header.text.clone(),
            levels: vec![BlockLevel {
                header,
                is_optional: false,
            }],
        }
    }

    pub(crate) fn levels(&self) -> &[BlockLevel] {
        &self.levels
    }

    /// The outermost blocks of the path.
    pub(crate) fn outer(&self, count: usize) -> Self {
        Self {
            text: self.text.clone(),
            levels: self.levels[..count].to_vec(),
        }
    }

    /// The path up to the last block with such a header.
    pub(crate) fn up_to_last(&self, is_last: impl Fn(&LineTemplate) -> bool) -> Self {
        let last = self.levels.iter().rposition(|level| is_last(&level.header));
        self.outer(last.map_or(0, |last| last + 1))
    }

    pub(crate) fn is_top_level(&self) -> bool {
        self.levels.is_empty()
    }

    pub(crate) fn ends_optional(&self) -> bool {
        self.levels.last().is_some_and(|level| level.is_optional)
    }

    pub(crate) fn templates(&self) -> impl Iterator<Item = &LineTemplate> {
        self.levels.iter().map(|level| &level.header)
    }

    /// Its text, for messages.
    pub(crate) fn quoted(&self) -> String {
        format!("`{}`", self.text)
    }

    pub(crate) fn has_attribute(&self, name: &str) -> bool {
        self.templates().any(|header| header.has_attribute(name))
    }

    /// The literal words of the headers, to compare places.
    pub(crate) fn head(&self) -> String {
        let required = self.levels.iter().filter(|level| !level.is_optional);
        let heads: Vec<String> = required.map(|level| level.header.head()).collect();
        heads.join(SEPARATOR)
    }

    /// The blocks of a device to which the first matching path leads, in the device's order.
    pub(crate) fn locate<'t>(
        paths: &[BlockPath],
        nodes: &'t [Node],
        vocabulary: &dyn Vocabulary,
    ) -> Vec<LocatedBlock<'t>> {
        let top = [BlockPath::default()];
        let paths = if paths.is_empty() { &top } else { paths };
        let routes = paths.iter().enumerate().map(|(spelling, path)| Route {
            spelling,
            levels: path.levels(),
            bindings: Bindings::new(),
        });
        let top = Descent {
            routes: routes.collect(),
            position: Vec::new(),
            headers: Vec::new(),
        };
        let mut located = Vec::new();
        top.descend(nodes, vocabulary, &mut located);
        located
    }

    /// The values in the headers of a block; `None` if the path does not lead to it.
    pub(crate) fn read(
        &self,
        headers: &[impl AsRef<str>],
        vocabulary: &dyn Vocabulary,
    ) -> Option<Bindings> {
        let (bindings, rest) = read_levels(&self.levels, headers, vocabulary)?;
        is_complete(rest).then_some(bindings)
    }

    /// The headers for values.
    ///
    /// # Errors
    /// The template of a header without a value.
    pub(crate) fn write<'v>(
        &self,
        values: &dyn Fn(&str) -> Option<&'v Value>,
        vocabulary: &dyn Vocabulary,
    ) -> Result<Vec<Text>, &LineTemplate> {
        let mut headers = Vec::new();
        for BlockLevel {
            header,
            is_optional,
        } in &self.levels
        {
            let has_value = |name: &&str| values(name).is_some();
            if *is_optional && !header.attributes().iter().any(has_value) {
                continue;
            }
            headers.push(header.write(values, vocabulary).ok_or(header)?);
        }
        Ok(headers)
    }
}

/// The levels after those that read a header: the first that reads it, past optional ones.
pub(super) fn enter<'l>(
    levels: &'l [BlockLevel],
    header: &str,
    vocabulary: &dyn Vocabulary,
) -> Option<(Bindings, &'l [BlockLevel])> {
    for (index, level) in levels.iter().enumerate() {
        if let Some(bindings) = level.header.read(header, vocabulary) {
            return Some((bindings, &levels[index + 1..]));
        }
        if !level.is_optional {
            return None;
        }
    }
    None
}

/// Whether a path can end before these levels.
pub(super) fn is_complete(levels: &[BlockLevel]) -> bool {
    levels.iter().all(|level| level.is_optional)
}

fn read_levels<'l>(
    mut levels: &'l [BlockLevel],
    headers: &[impl AsRef<str>],
    vocabulary: &dyn Vocabulary,
) -> Option<(Bindings, &'l [BlockLevel])> {
    let mut all = Bindings::new();
    for header in headers {
        let (bindings, rest) = enter(levels, header.as_ref(), vocabulary)?;
        all.extend(bindings);
        levels = rest;
    }
    Some((all, levels))
}

/// A path up to a block of the device.
struct Route<'l> {
    spelling: usize,
    /// The levels below the block.
    levels: &'l [BlockLevel],
    /// The values in the headers so far.
    bindings: Bindings,
}

/// A block of the device, and the paths that lead to it or through it.
struct Descent<'l> {
    routes: Vec<Route<'l>>,
    position: Vec<usize>,
    headers: Vec<String>,
}

impl Descent<'_> {
    fn descend<'t>(
        self,
        nodes: &'t [Node],
        vocabulary: &dyn Vocabulary,
        located: &mut Vec<LocatedBlock<'t>>,
    ) {
        let end = self.routes.iter().find(|route| is_complete(route.levels));
        if let Some(route) = end {
            located.push(LocatedBlock {
                position: self.position.clone(),
                headers: self.headers.clone(),
                bindings: route.bindings.clone(),
                spelling: route.spelling,
                nodes,
            });
        }
        if self.routes.iter().all(|route| route.levels.is_empty()) {
            return;
        }
        for (index, node) in nodes.iter().enumerate() {
            let below = self.routes.iter().filter_map(|route| {
                let (bindings, levels) = enter(route.levels, &node.text, vocabulary)?;
                Some(Route {
                    spelling: route.spelling,
                    levels,
                    bindings: [route.bindings.as_slice(), &bindings].concat(),
                })
            });
            let routes: Vec<Route<'_>> = below.collect();
            if !routes.is_empty() {
                let inner = Descent {
                    routes,
                    position: [self.position.as_slice(), &[index]].concat(),
                    headers: [self.headers.as_slice(), std::slice::from_ref(&node.text)].concat(),
                };
                inner.descend(&node.children.nodes, vocabulary, located);
            }
        }
    }
}
