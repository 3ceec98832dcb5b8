//! The lines of a configuration, each with the types that read it.
//!
//! A type claims the lines that its instances and attributes are read from, and the removal forms of such lines. Of a device
//! without a configuration, each object and each field is a line.
//! What a claim means for a user, who declares some types and not others, is decided elsewhere.

use std::sync::Arc;

use foldhash::HashMap;

use super::Driver;
use super::claim::Claim;
use super::read_rule::{ParseRule, ReadRule};
use super::surveyed_object::SurveyedObject;
use crate::map::IndexMap;
use crate::model::TypeModel;
use crate::names::TypeName;
use crate::not_understood::NotUnderstood;
use crate::read::indent::Tree;
use crate::read::{CONFIG, Parsed, ReadRequest, Reads, State};
use crate::secret::MASK;
use crate::secret_text::SecretText;
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
            let own = implementation.claims(state).into_iter();
            claims.extend(own.map(|claim| self.titled(claim)));
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

    /// Whether the lines are objects and fields: the platform has no configuration with lines.
    pub fn surveys_objects(&self) -> bool {
        self.config_read().is_none()
    }

    fn config_read(&self) -> Option<&ReadRule> {
        let config = self.platform.reads.get(CONFIG);
        config.filter(|rule| matches!(rule.parse, ParseRule::Indent(_)))
    }

    /// The reads for [`Driver::surveyed_lines`]: the configuration, or of a device without one all objects.
    pub fn survey_reads(&self) -> Vec<ReadRequest> {
        match self.config_read() {
            Some(rule) => vec![rule.request.clone()],
            None => {
                let models = self.platform.type_drivers();
                let models: Vec<&Arc<TypeModel>> =
                    models.map(|definition| &definition.model).collect();
                self.reads(&models)
            }
        }
    }

    /// The lines of the configuration with the types that read them. The state has the parsed answers. Lines without a
    /// letter or digit are left out.
    pub fn surveyed_lines(&self, reads: &Reads, state: &State) -> Vec<SurveyedLine> {
        let models = self.platform.type_drivers();
        let models: Vec<&Arc<TypeModel>> = models.map(|definition| &definition.model).collect();
        let (Some(text), Some(tree)) = (reads.get(CONFIG), state.tree(CONFIG)) else {
            return self.surveyed_objects(&models, state);
        };
        let masked = self.masked_text(text);
        let lines: Vec<&str> = masked.lines().collect();
        let positions = LinePositions::new(tree);
        let state = self.state_in_config(tree);
        let known = state
            .iter()
            .map(|(name, _)| (name.to_owned(), String::new()));
        // The configuration has lines of types that other answers show.
        let driver = self.clone().with_saved(Some(&known.collect()));
        let mut claims: HashMap<u32, Vec<Claim>> = HashMap::default();
        for claim in driver.claims(&models, &state) {
            claims.entry(claim.line).or_default().push(claim);
        }
        let not_understood = driver.lines_not_understood(&models, &state);
        let survey = |(line, text): (u32, &&str)| {
            let own = positions.owner(line);
            let headers = own.map_or_else(Vec::new, |own| positions.blocks(own));
            let header = |line: u32| lines.get(line as usize - 1).map(|text| text.trim());
            let blocks: Vec<&str> = headers.into_iter().filter_map(header).collect();
            let of_node = own.and_then(header).unwrap_or_default();
            let types = own.and_then(|own| not_understood.get(&own)).cloned();
            let types = types.unwrap_or_default();
            let claimed = own.and_then(|own| claims.get(&own)).into_iter().flatten();
            let path: Vec<&str> = blocks.iter().copied().chain([of_node]).collect();
            let is_generated = self.platform.coverage.is_generated(&path);
            SurveyedLine {
                line,
                text: (*text).to_owned(),
                is_generated: own.is_none() || is_generated,
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

impl Driver {
    /// The configuration, and the answers to other reads as far as it has their lines.
    fn state_in_config(&self, tree: &Tree) -> State {
        let mut state = State::default();
        state.insert(CONFIG, Parsed::Tree(tree.clone()));
        for (name, rule) in &self.platform.reads {
            let offline = rule.offline.as_ref();
            if let Some(offline) = offline.filter(|offline| offline.has_lines()) {
                state.insert(name, Parsed::Tree(offline.tree(tree)));
            }
        }
        state
    }

    /// The types that recognize lines and do not understand them.
    fn lines_not_understood(
        &self,
        models: &[&Arc<TypeModel>],
        state: &State,
    ) -> HashMap<u32, Vec<TypeName>> {
        let texts = NotUnderstoodTexts::new(self.not_understood(models, state));
        let mut lines = HashMap::default();
        if !texts.0.is_empty() {
            let secrets = self.platform.protocol().secrets();
            let trees = state.iter().filter_map(|(name, _)| state.tree(name));
            trees.for_each(|tree| texts.find(tree, &mut Vec::new(), secrets, &mut lines));
        }
        lines
    }

    /// The objects of the device and their fields as lines. An object of several types is there once. Collections
    /// that no type reads are unknown.
    fn surveyed_objects(&self, models: &[&Arc<TypeModel>], state: &State) -> Vec<SurveyedLine> {
        let not_understood = NotUnderstoodTexts::new(self.not_understood(models, state));
        let mut objects: IndexMap<String, Vec<SurveyedObject>> = IndexMap::default();
        for model in models {
            let Some(implementation) = self.supported(model) else {
                continue;
            };
            for object in implementation.surveyed_objects(state) {
                let known = objects.entry(object.title.clone()).or_default();
                known.push(object);
            }
        }
        let mut lines = Vec::new();
        let mut add = |(key, blocks): (&str, Vec<String>), text: String, claims: Vec<Claim>| {
            let line = u32::try_from(lines.len() + 1).unwrap_or(u32::MAX);
            let own = text.trim();
            let types = not_understood.types_of(&[key.to_owned()], own);
            let is_understood = |claim: &Claim| !types.contains(&claim.type_name);
            let claims = claims.into_iter().filter(is_understood);
            let claims = claims.map(|claim| Claim {
                line,
                ..self.titled(claim)
            });
            let path: Vec<&str> = blocks.iter().map(String::as_str).chain([own]).collect();
            lines.push(SurveyedLine {
                line,
                keywords: keywords_of_field(own),
                is_generated: self.platform.coverage.is_generated(&path),
                claims: claims.collect(),
                not_understood: types,
                blocks,
                text,
            });
        };
        for (title, objects) in objects {
            let title = self.masked_text(&title);
            let Some(first) = objects.first() else {
                continue;
            };
            let own = objects.iter().filter_map(|object| object.claim.clone());
            add((&first.key, Vec::new()), title.clone(), own.collect());
            for (index, field) in first.fields.iter().enumerate() {
                let text = self.masked_text(&format!(" {}: {}", field.name, field.value));
                let same = objects.iter().filter_map(|object| object.fields.get(index));
                let claims = same.filter_map(|field| field.claim.clone());
                add((&first.key, vec![title.clone()]), text, claims.collect());
            }
        }
        lines
    }

    /// The claim with the title of its resource.
    fn titled(&self, claim: Claim) -> Claim {
        let model = self.platform.type_driver(&claim.type_name);
        let title = model.and_then(|definition| self.title_of(&definition.model, &claim.names));
        Claim { title, ..claim }
    }
}

/// The collection of an object without its name, or the name of a field.
fn keywords_of_field(text: &str) -> String {
    let end = text.find([' ', ':']).unwrap_or(text.len());
    text[..end].to_owned()
}

/// Where each line of a text stands in its tree.
#[derive(Default)]
struct LinePositions {
    /// By line of a node: the line of the block around it.
    parents: HashMap<u32, Option<u32>>,
    /// By line of a text that is part of another line: that line.
    parts: HashMap<u32, u32>,
}

impl LinePositions {
    fn new(tree: &Tree) -> Self {
        let mut positions = Self::default();
        positions.add(tree, None);
        positions
    }

    fn add(&mut self, tree: &Tree, parent: Option<u32>) {
        for repeated in tree.repeated() {
            self.parts.insert(repeated.line, repeated.of);
        }
        for node in tree.nodes.iter().chain(tree.inactive()) {
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

    /// Adds the lines of a tree that types do not understand. `path` has the headers around it.
    fn find(
        &self,
        tree: &Tree,
        path: &mut Vec<String>,
        secrets: &SecretText,
        found: &mut HashMap<u32, Vec<TypeName>>,
    ) {
        for node in tree.nodes.iter().chain(tree.inactive()) {
            if self.0.contains_key(path) {
                let blocks = path.iter().map(String::as_str);
                let types = self.types_of(path, &secrets.apply_below(blocks, &node.text));
                if !types.is_empty() {
                    found.entry(node.line).or_default().extend(types);
                }
            }
            if !node.children.nodes.is_empty() {
                path.push(secrets.apply(&node.text));
                self.find(&node.children, path, secrets, found);
                path.pop();
            }
        }
    }

    /// The types that do not understand a line in these blocks.
    fn types_of(&self, blocks: &[String], line: &str) -> Vec<TypeName> {
        let texts = self.0.get(blocks).into_iter().flatten();
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
