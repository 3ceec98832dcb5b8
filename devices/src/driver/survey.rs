//! The lines of a configuration, each with the types that read it.
//!
//! A type claims the lines that its instances and attributes are read from, and the removal forms of such lines.
//! What a claim means for a user, who declares some types and not others, is decided elsewhere.

use std::sync::Arc;

use foldhash::HashMap;

use super::Driver;
use super::claim::Claim;
use crate::model::TypeModel;
use crate::names::TypeName;
use crate::not_understood::NotUnderstood;
use crate::read::indent::Tree;
use crate::read::{CONFIG, ReadRequest, Reads, State};
use crate::secret::MASK;
use crate::value::{Attributes, Name, Value};

/// A line of a configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct SurveyedLine {
    /// Its number, from 1.
    pub line: u32,
    /// With indentation. Secrets are masked.
    pub text: String,
    /// The headers of the blocks around it, outermost first. Secrets are masked.
    pub blocks: Vec<String>,
    /// The keywords at its beginning, without the word that negates a line.
    pub keywords: String,
    /// The device makes the line by itself, or it only separates others.
    pub is_generated: bool,
    /// Of each type that reads the line.
    pub claims: Vec<Claim>,
    /// The types that recognize the line and do not understand it.
    pub not_understood: Vec<TypeName>,
}

impl Driver {
    /// The lines that these types read in the configuration.
    pub fn claims(&self, models: &[&Arc<TypeModel>], state: &State) -> Vec<Claim> {
        let mut claims = Vec::new();
        for model in models {
            let Some(implementation) = self.supported(model) else {
                continue;
            };
            claims.extend(implementation.claims(state).into_iter().map(|claim| Claim {
                title: self.title_of(model, &claim.names),
                ..claim
            }));
        }
        claims.sort_by_key(|claim| claim.line);
        claims
    }

    /// The title of a resource with these names; `None` if some are missing.
    fn title_of(&self, model: &TypeModel, names: &Attributes) -> Option<String> {
        let is_named = |name: &str| names.contains_key(name);
        if self.is_singleton(model) || !model.namevars().all(is_named) {
            return None;
        }
        let secrets = self.platform.protocol.secrets();
        let is_secret = |(name, value): (&Name, &Value)| {
            let attribute = model.attributes.get(name);
            attribute.is_some_and(|one| one.sensitive)
                || secrets.marked(value.clone()).contains_secret()
        };
        if names.iter().any(is_secret) {
            return Some(MASK.to_owned());
        }
        let joined = || {
            let values = model.namevars().filter_map(|name| names.get(name));
            values.map(Value::ruby_to_s).collect::<Vec<_>>().join(" ")
        };
        Some(model.title_of(names).unwrap_or_else(joined))
    }

    /// The reads for [`Driver::surveyed_lines`].
    pub fn survey_reads(&self) -> Vec<ReadRequest> {
        let config = self.platform.reads.get(CONFIG);
        config
            .map(|rule| rule.request.clone())
            .into_iter()
            .collect()
    }

    /// The lines of the configuration with the types that read them. The state has the parsed answers. Lines without a
    /// letter or digit are left out.
    pub fn surveyed_lines(&self, reads: &Reads, state: &State) -> Vec<SurveyedLine> {
        let (Some(text), Some(tree)) = (reads.get(CONFIG), state.tree(CONFIG)) else {
            return Vec::new();
        };
        let models = self.platform.type_drivers();
        let models: Vec<&Arc<TypeModel>> = models.map(|definition| &definition.model).collect();
        let masked = self.masked_text(text);
        let lines: Vec<&str> = masked.lines().collect();
        let places = Places::new(tree);
        let mut claims: HashMap<u32, Vec<Claim>> = HashMap::default();
        for claim in self.claims(&models, state) {
            claims.entry(claim.line).or_default().push(claim);
        }
        let not_understood = NotUnderstoodTexts::new(self.not_understood(&models, state));
        let survey = |(line, text): (u32, &&str)| {
            let own = places.owner(line);
            let headers = own.map_or_else(Vec::new, |own| places.blocks(own));
            let header = |line: u32| lines.get(line as usize - 1).map(|text| text.trim());
            let blocks: Vec<&str> = headers.into_iter().filter_map(header).collect();
            let of_node = own.and_then(header).unwrap_or_default();
            let types = not_understood.types_of(&blocks, of_node);
            let claimed = own.and_then(|own| claims.get(&own)).into_iter().flatten();
            let mut patterns = blocks.iter().copied().chain([of_node, text.trim()]);
            SurveyedLine {
                line,
                text: (*text).to_owned(),
                is_generated: own.is_none()
                    || patterns.any(|text| self.platform.coverage.is_generated(text)),
                claims: claimed
                    .filter(|claim| !types.contains(&claim.type_name))
                    .cloned()
                    .collect(),
                not_understood: types,
                // The lines of a text belong to the line that it begins with.
                keywords: self.platform.negation.keywords(of_node),
                blocks: blocks.into_iter().map(str::to_owned).collect(),
            }
        };
        let counted = (1..).zip(&lines);
        let counted = counted.filter(|(_, text)| text.contains(char::is_alphanumeric));
        counted.map(survey).collect()
    }
}

/// Where each line of a text stands in its tree.
#[derive(Default)]
struct Places {
    /// By line of a node: the line of the block around it.
    parents: HashMap<u32, Option<u32>>,
    /// By line of a text that is part of another line: that line.
    parts: HashMap<u32, u32>,
}

impl Places {
    fn new(tree: &Tree) -> Self {
        let mut places = Self::default();
        places.add(tree, None);
        places
    }

    fn add(&mut self, tree: &Tree, parent: Option<u32>) {
        for repeated in &tree.repeated {
            self.parts.insert(repeated.line, repeated.of);
        }
        for node in tree.nodes.iter().chain(&tree.inactive) {
            self.parents.entry(node.line).or_insert(parent);
            self.add(&node.children, Some(node.line));
            let body = node.body.iter().flat_map(|body| body.match_indices('\n'));
            let further = (node.line + 1..).zip(body);
            self.parts
                .extend(further.map(|(line, _)| (line, node.line)));
        }
    }

    /// The line of the node that a line belongs to.
    fn owner(&self, line: u32) -> Option<u32> {
        let own = self.parts.get(&line).copied().unwrap_or(line);
        self.parents.contains_key(&own).then_some(own)
    }

    /// The lines of the headers around a line, outermost first.
    fn blocks(&self, line: u32) -> Vec<u32> {
        let parent = |line: &u32| self.parents.get(line).copied().flatten();
        let mut blocks: Vec<u32> = std::iter::successors(parent(&line), parent).collect();
        blocks.reverse();
        blocks
    }
}

/// The texts that types do not understand, by the blocks around them.
struct NotUnderstoodTexts(HashMap<Vec<String>, Vec<NotUnderstood>>);

impl NotUnderstoodTexts {
    fn new(all: Vec<NotUnderstood>) -> Self {
        let mut by_blocks: HashMap<Vec<String>, Vec<NotUnderstood>> = HashMap::default();
        for text in all {
            by_blocks.entry(text.path.clone()).or_default().push(text);
        }
        Self(by_blocks)
    }

    /// The types that do not understand a line in these blocks.
    fn types_of(&self, blocks: &[&str], line: &str) -> Vec<TypeName> {
        let blocks: Vec<String> = blocks.iter().map(|block| (*block).to_owned()).collect();
        let texts = self.0.get(&blocks).into_iter().flatten();
        let mut types: Vec<TypeName> = Vec::new();
        for text in texts.filter(|text| is_text_of(&text.text, line)) {
            if !types.contains(&text.type_name) {
                types.push(text.type_name.clone());
            }
        }
        types
    }
}

/// Whether a text is that of a line. It can be without the words from the first secret on.
fn is_text_of(text: &str, line: &str) -> bool {
    let text = text.strip_prefix("inactive: ").unwrap_or(text);
    text == line
        || text
            .strip_suffix(MASK)
            .is_some_and(|head| line.starts_with(head))
}
