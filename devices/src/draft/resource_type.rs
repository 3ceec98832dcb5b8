//! A draft of a type and its model from sample lines.

use std::fmt::Write as _;
use std::sync::Arc;

use super::definition_text::{implementation, model};
use super::lines::{AttributeDraft, attributes, ends_block, header, is_value, options};
use super::toml_text::{block, quoted};
use super::{Draft, DraftError};
use crate::definitions::DefinitionFile;
use crate::diagnostic::{Label, Severity};
use crate::driver::{Driver, Facts, Platform, Registry};
use crate::map::IndexMap;
use crate::model::TypeModel;
use crate::read::indent::{Node, Tree};
use crate::read::{CONFIG, Reads};
use crate::value::{Attributes, Name, Value};

/// What the sample shows: where instances are, and their attributes.
#[derive(Default)]
pub(super) struct TypeOutline {
    /// The key of `[instance]` and its template.
    pub(super) location: (&'static str, Vec<String>),
    pub(super) namevars: Vec<String>,
    /// Attributes with lines of their own, with the literal words of the lines.
    pub(super) lines: Vec<(String, AttributeDraft)>,
    /// Names in an optional block, and the name without it.
    pub(super) optional: Vec<(String, Name)>,
    /// Attributes in the line of the instance.
    pub(super) inner: Vec<AttributeDraft>,
    /// Attributes of the model without lines in the sample.
    pub(super) missing: Vec<String>,
    /// What the author must decide about lines.
    pub(super) notes: Vec<String>,
}

/// Drafts `PLATFORM/NAME.toml`, and `models/NAME.toml` unless the type exists. `own` are the
/// definitions of the user.
///
/// # Errors
/// The sample has no lines with a common beginning, or not the names of the existing type.
pub fn draft_type(
    own: &[DefinitionFile],
    platform: &Arc<Platform>,
    name: &str,
    existing: Option<&TypeModel>,
    sample: &str,
) -> Result<Draft, DraftError> {
    let reads = Reads::from_iter([(CONFIG.to_owned(), sample.to_owned())]);
    let state = platform.parse(&reads).map_err(|_| DraftError::Empty)?;
    let tree = &content(state.tree(CONFIG).ok_or(DraftError::Empty)?);
    if tree.nodes.is_empty() {
        return Err(DraftError::Empty);
    }
    let negate = platform.negation.word();
    let outline = blocks(tree, negate).or_else(|| single_lines(tree, negate));
    let mut outline = outline.ok_or(DraftError::NoPattern)?;
    if let Some(quoting) = &platform.quoting {
        let lines = outline.lines.iter_mut().map(|(_, draft)| draft);
        lines.for_each(|draft| draft.unquote(quoting));
    }
    let path = format!("{}/{name}.toml", platform.name);
    let mut guesses = vec![
        format!("{path}: the templates, `absent`, and lines that are no attribute"),
        "tests with a change, a creation and a removal, from the documentation of the device"
            .to_owned(),
    ];
    let inner = tree.nodes.iter().flat_map(|node| &node.children.nodes);
    if let Some(inner) = inner
        .into_iter()
        .find(|node| !node.children.nodes.is_empty())
    {
        guesses.push(format!(
            "{path}: the lines of inner blocks such as `{}`: add attributes with `sub`",
            inner.text
        ));
    }
    if let Some(existing) = existing {
        outline.assign(existing)?;
    } else {
        guesses.insert(
            0,
            format!("models/{name}.toml: names, values and `doc` of the attributes"),
        );
    }
    let lines = SampleLines {
        own,
        platform,
        name,
        has_model: existing.is_some(),
        text: sample,
    };
    let files = lines.drafted(&mut outline)?;
    guesses.extend(outline.notes.iter().map(|note| format!("{path}: {note}")));
    Ok(Draft {
        files,
        guesses,
        ..Draft::default()
    })
}

/// The lines without comments and without those that only end a block.
fn content(tree: &Tree) -> Tree {
    let nodes = tree.nodes.iter().filter(|node| !ends_block(&node.text));
    let nodes = nodes.map(|node| Node {
        children: content(&node.children),
        ..node.clone()
    });
    Tree {
        nodes: nodes.collect(),
        ..Tree::default()
    }
}

/// The lines of a device, and the type that they are a sample of.
pub(super) struct SampleLines<'a> {
    pub(super) own: &'a [DefinitionFile],
    pub(super) platform: &'a Platform,
    pub(super) name: &'a str,
    /// The type exists, so that no model is drafted.
    pub(super) has_model: bool,
    pub(super) text: &'a str,
}

/// A draft has an error or does not pass its tests, because of the lines of an attribute if one is known.
struct Contradiction {
    attribute: Option<String>,
}

impl SampleLines<'_> {
    /// The files of a draft, without the attributes whose lines contradict others.
    ///
    /// # Errors
    /// Without attributes the draft does not pass its tests either.
    pub(super) fn drafted(
        &self,
        outline: &mut TypeOutline,
    ) -> Result<Vec<DefinitionFile>, DraftError> {
        loop {
            match self.tested_files(outline) {
                Ok(files) => return Ok(files),
                Err(Contradiction { attribute }) => {
                    let left_out = outline.leave_out(attribute.as_deref());
                    let (words, draft) = left_out.ok_or(DraftError::Contradiction)?;
                    let note = format!("the lines `{words} …`, which contradict others");
                    if self.has_model {
                        outline.missing.push(draft.name);
                    }
                    outline.notes.push(note);
                }
            }
        }
    }

    /// The files of a draft, which passes its tests: one reads the sample, and one sends nothing.
    fn tested_files(&self, outline: &TypeOutline) -> Result<Vec<DefinitionFile>, Contradiction> {
        let unknown = || Contradiction { attribute: None };
        let mut files = Vec::new();
        if !self.has_model {
            let path = format!("models/{}.toml", self.name);
            files.push(DefinitionFile::new(path, model(self.name, outline)));
        }
        let path = format!("{}/{}.toml", self.platform.name, self.name);
        let text = implementation(self.platform, self.name, outline);
        let untested = DefinitionFile::new(&*path, &*text);
        let registry = self.load(&[files.as_slice(), &[untested]].concat())?;
        let reading = self.reading(&registry).ok_or_else(unknown)?;
        let tests = tests(self.text, &reading);
        files.push(DefinitionFile::new(path, text + &tests));
        let results = self.load(&files)?.test(Some(self.name));
        let mut own = results.iter().filter(|result| result.own);
        if own.any(|result| result.failure.is_some()) {
            return Err(unknown());
        }
        Ok(files)
    }

    /// The definitions with those of the draft, if it has no error.
    fn load(&self, files: &[DefinitionFile]) -> Result<Registry, Contradiction> {
        let (registry, findings) = match Registry::load(&[self.own, files].concat()) {
            Ok(registry) => {
                let findings = registry.check();
                (Some(registry), findings)
            }
            Err(findings) => (None, findings),
        };
        let is_drafted = |label: &Label| files.iter().any(|file| file.path == label.source.name);
        let mut errors = findings.iter().filter(|finding| {
            finding.severity == Severity::Error && finding.labels.iter().any(&is_drafted)
        });
        match (registry, errors.next()) {
            (Some(registry), None) => Ok(registry),
            (_, error) => {
                let labels = error.into_iter().flat_map(|error| &error.labels);
                let attribute = labels.into_iter().find_map(attribute_of);
                Err(Contradiction { attribute })
            }
        }
    }

    /// What the draft reads of the sample.
    fn reading(&self, registry: &Registry) -> Option<SampleReading> {
        let platform = registry.platform(&self.platform.name)?;
        let model = registry.model(self.name)?;
        let reads = Reads::from_iter([(CONFIG.to_owned(), self.text.to_owned())]);
        let state = platform.parse(&reads).ok()?;
        let driver = Driver::new(platform, &Facts::default());
        let instances = driver.instances(model, &state).ok()?.into_iter();
        let tables = instances.map(|found| inline_table(&found.attributes));
        let unknown = driver.not_understood(&[model], &state);
        Some(SampleReading {
            instances: tables.collect(),
            not_understood: unknown.iter().map(ToString::to_string).collect(),
        })
    }
}

/// What a draft reads of a sample: instances as tables, and lines that it does not understand.
struct SampleReading {
    instances: Vec<String>,
    not_understood: Vec<String>,
}

/// The attribute in whose section a label is.
fn attribute_of(label: &Label) -> Option<String> {
    let text = &label.source.text;
    let line_end = text[label.span.start..].find('\n');
    let before = &text[..line_end.map_or(text.len(), |length| label.span.start + length)];
    let (_, section) = before.rsplit_once("\n[")?;
    let name = section.split_once(']')?.0.strip_prefix("attr.")?;
    Some(name.to_owned())
}

impl TypeOutline {
    /// Leaves an attribute out, the last one if it is not known. Returns it with the words of its lines.
    fn leave_out(&mut self, attribute: Option<&str>) -> Option<(String, AttributeDraft)> {
        let named = |name: &str| self.lines.iter().position(|(_, draft)| draft.name == name);
        let index = attribute.and_then(named);
        let index = index.or_else(|| self.lines.len().checked_sub(1))?;
        Some(self.lines.remove(index))
    }
}

/// A test that reads the sample, and one that sends nothing.
fn tests(sample: &str, reading: &SampleReading) -> String {
    let SampleReading {
        instances,
        not_understood,
    } = reading;
    let supplied = block(sample);
    let mut out = format!(
        "\n# CHECK: compare the values with the sample. Add tests of changes: `want` with `commands`.\n\
         [[test]]\nname = \"reads the sample\"\ngiven.{CONFIG} = {supplied}\nexpect = [\n"
    );
    for instance in instances {
        let _ = writeln!(out, "  {instance},");
    }
    out.push_str("]\n");
    if !not_understood.is_empty() {
        let lines = not_understood.iter().map(|line| quoted(line));
        let lines: Vec<String> = lines.collect();
        let _ = writeln!(
            out,
            "not_understood = [{}]    # CHECK: lines for the type?",
            lines.join(", ")
        );
    }
    if let Some(first) = instances.first() {
        let _ = write!(
            out,
            "\n[[test]]\nname = \"sends nothing without a difference\"\ngiven.{CONFIG} = {supplied}\n\
             want = {first}\ncommands = []\n"
        );
    }
    out
}

fn inline_table(attributes: &Attributes) -> String {
    let pairs = attributes.iter().filter(|(name, _)| *name != "ensure");
    let pairs = pairs.map(|(name, value)| format!("{name} = {}", literal(value)));
    let pairs: Vec<String> = pairs.collect();
    format!("{{ {} }}", pairs.join(", "))
}

fn literal(value: &Value) -> String {
    match value.unwrap_sensitive() {
        Value::List(items) => {
            let items: Vec<String> = items.iter().map(literal).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Bool(value) => value.to_string(),
        Value::Integer(value) => value.to_string(),
        other => quoted(&other.ruby_to_s()),
    }
}

/// Instances that are blocks: the most frequent first word of lines with a block.
fn blocks(tree: &Tree, negate: &str) -> Option<TypeOutline> {
    let mut groups: IndexMap<&str, Vec<&Node>> = IndexMap::default();
    for node in &tree.nodes {
        let first = node.words().first().copied().unwrap_or_default();
        groups.entry(first_of(node, first)).or_default().push(node);
    }
    let group = groups.into_values().filter(|group| {
        let mut nodes = group.iter();
        nodes.any(|node| !node.children.nodes.is_empty())
    });
    let group = group.max_by_key(Vec::len)?;
    let headers: Vec<Vec<&str>> = group.iter().map(|node| node.words()).collect();
    let (template, namevars) = header(&headers);
    if namevars.is_empty() {
        return None;
    }
    let bodies: Vec<&[Node]> = group
        .iter()
        .map(|node| node.children.nodes.as_slice())
        .collect();
    let mut lines = attributes(&bodies, negate);
    unique(&mut lines, &namevars);
    Some(TypeOutline {
        location: ("block", vec![template]),
        namevars,
        lines,
        ..TypeOutline::default()
    })
}

fn first_of<'t>(node: &'t Node, first: &str) -> &'t str {
    &node.text[..first.len()]
}

/// Instances without blocks: several lines with a common beginning, or one line each.
fn single_lines(tree: &Tree, negate: &str) -> Option<TypeOutline> {
    let words: Vec<Vec<&str>> = tree.nodes.iter().map(Node::words).collect();
    let words: Vec<Vec<&str>> = words.into_iter().filter(|line| line[0] != negate).collect();
    let first = words.first()?;
    let common = (0..first.len()).take_while(|index| {
        !is_value(first[*index])
            && words
                .iter()
                .all(|line| line.get(*index) == Some(&first[*index]))
    });
    let common = common.count();
    if common == 0 || words.iter().any(|line| line.len() <= common) {
        return None;
    }
    let prefix = format!("{} {{name}}", first[..common].join(" "));
    let mut by_name: IndexMap<&str, Vec<&[&str]>> = IndexMap::default();
    for line in &words {
        by_name
            .entry(line[common])
            .or_default()
            .push(&line[common + 1..]);
    }
    let namevars = vec!["name".to_owned()];
    if by_name.values().all(|lines| lines.len() == 1) {
        let rests: Vec<Vec<&str>> = words
            .iter()
            .map(|line| line[common + 1..].to_vec())
            .collect();
        let (template, inner) = options(&rests);
        return Some(TypeOutline {
            location: ("line", vec![format!("{prefix}{template}")]),
            namevars,
            inner: inner
                .into_iter()
                .filter(|found| found.name != "name")
                .collect(),
            ..TypeOutline::default()
        });
    }
    let bodies: Vec<Vec<Node>> = by_name
        .values()
        .map(|lines| {
            let lines = lines.iter().filter(|rest| !rest.is_empty());
            lines.map(|rest| Node::new(rest.join(" "))).collect()
        })
        .collect();
    let bodies: Vec<&[Node]> = bodies.iter().map(Vec::as_slice).collect();
    let mut lines = attributes(&bodies, negate);
    unique(&mut lines, &namevars);
    Some(TypeOutline {
        location: ("prefix", vec![prefix]),
        namevars,
        lines,
        ..TypeOutline::default()
    })
}

/// Renames attributes with the name of another one or of a namevar.
fn unique(lines: &mut [(String, AttributeDraft)], namevars: &[String]) {
    let mut used: Vec<String> = namevars.to_vec();
    for (_, draft) in lines {
        while used.contains(&draft.name) {
            draft.name.push_str("_value");
        }
        used.push(draft.name.clone());
    }
}
