//! The lines of the configuration that a type reads.

use super::CliType;
use super::block_path::{BlockLevel, BlockPath, enter, is_complete};
use super::found::OTHER_WORDS;
use super::instances::nodes_of;
use super::members::MemberVocabulary;
use super::rules::{CONFIG, CliAttributeRule, CliLocation, InstanceKind};
use super::template::{Bindings, CAPTURE_MARK, LineTemplate, UNREAD};
use crate::driver::claim::{Claim, ClaimKind};
use crate::read::State;
use crate::read::indent::Node;
use crate::value::{Attributes, Name};

/// A walk through the places where a type reads.
struct Walk<'a> {
    cli: &'a CliType,
    claims: Vec<Claim>,
}

/// The paths to instances below a block: the index of each, and its further levels.
type Routes<'a> = Vec<(usize, &'a [BlockLevel])>;

impl CliType {
    /// The lines that the type reads.
    pub(super) fn claimed(&self, state: &State) -> Vec<Claim> {
        let mut walk = Walk {
            cli: self,
            claims: Vec::new(),
        };
        let nodes = nodes_of(state.tree(CONFIG));
        if self.instance.from == CONFIG {
            let paths = self.instance.kind.paths();
            let levels = paths.iter().map(BlockPath::levels).enumerate();
            let names = Attributes::default();
            if paths.is_empty() {
                walk.content(nodes, 0, &names);
            } else {
                walk.blocks(nodes, &levels.collect(), &names);
            }
        }
        for rule in self.attributes.values() {
            if let CliLocation::Elsewhere(block) = &rule.location {
                walk.members(nodes, (rule, block), state);
            }
        }
        walk.claims
    }
}

impl<'a> Walk<'a> {
    fn blocks(&mut self, nodes: &[Node], routes: &Routes<'a>, names: &Attributes) {
        let cli = self.cli;
        for node in nodes {
            let mut bound = None;
            let mut is_skipped = false;
            let entered = routes.iter().filter_map(|(spelling, levels)| {
                let (bindings, rest) = enter(levels, &node.text, cli)?;
                is_skipped |= bindings.iter().any(|one| cli.is_skipped(one));
                bound.get_or_insert(bindings);
                Some((*spelling, rest))
            });
            let entered: Routes<'_> = entered.collect();
            let Some(bindings) = bound.filter(|_| !is_skipped) else {
                continue;
            };
            let names = self.with_names(names, &bindings);
            let is_block = matches!(cli.instance.kind, InstanceKind::Block(_));
            let is_own = is_block && entered.iter().any(|(_, rest)| is_complete(rest));
            let kind = if is_own {
                ClaimKind::Own
            } else {
                ClaimKind::Header
            };
            self.add(node, kind, &names, &bindings);
            self.blocks(&node.children.nodes, &entered, &names);
        }
        let mut ends = routes.iter();
        if let Some((spelling, _)) = ends.find(|(_, levels)| is_complete(levels)) {
            self.content(nodes, *spelling, names);
        }
    }

    /// The lines of an instance, or of several with a common beginning.
    fn content(&mut self, nodes: &[Node], spelling: usize, names: &Attributes) {
        let cli = self.cli;
        if let InstanceKind::Line { .. } = &cli.instance.kind {
            let spellings = cli.instance.kind.spellings_in(spelling);
            for node in nodes {
                self.instance_line(node, spellings, names);
            }
            return;
        }
        let is_outer =
            |rule: &CliAttributeRule| rule.sub(spelling).is_empty() || rule.may_stand_outside();
        for node in nodes {
            self.line(node, &is_outer, names);
        }
        for sub in cli.subs(spelling) {
            let is_inside = |rule: &CliAttributeRule| rule.sub(spelling) == sub;
            self.inner_block(nodes, sub, &is_inside, names);
        }
    }

    fn inner_block(
        &mut self,
        nodes: &[Node],
        headers: &[String],
        is_inside: &dyn Fn(&CliAttributeRule) -> bool,
        names: &Attributes,
    ) {
        let cli = self.cli;
        let Some((first, rest)) = headers.split_first() else {
            for node in nodes {
                self.line(node, is_inside, names);
            }
            return;
        };
        let is_header = |node: &&Node| node.text.eq_ignore_ascii_case(first);
        for node in nodes.iter().filter(is_header) {
            let own = cli.attributes.values().filter(|rule| is_inside(rule));
            let own = own.filter(|rule| matches!(rule.location, CliLocation::InnerBlock));
            let own: Bindings = own.map(|rule| (rule.name.clone(), true.into())).collect();
            let kind = if own.is_empty() {
                ClaimKind::Header
            } else {
                ClaimKind::Value
            };
            self.add(node, kind, names, &own);
            self.inner_block(&node.children.nodes, rest, is_inside, names);
        }
    }

    /// A line that is an instance.
    fn instance_line(&mut self, node: &Node, spellings: &[LineTemplate], names: &Attributes) {
        let cli = self.cli;
        let mut read = spellings.iter().enumerate();
        let read = read.find_map(|(index, line)| Some((index, line.read(&node.text, cli)?)));
        let (kind, bindings) = match read {
            Some((0, bindings)) => (ClaimKind::Own, bindings),
            // A further syntax that takes any words is for lines that the first cannot read.
            Some((_, bindings)) if has_any_words(&bindings) => return,
            Some((_, bindings)) => (ClaimKind::Own, bindings),
            None => {
                let positive = cli.negation.positive(&node.text);
                let read =
                    positive.and_then(|text| LineTemplate::first_match(spellings, &text, cli));
                let Some(bindings) = read else { return };
                (ClaimKind::Default, bindings)
            }
        };
        if bindings.iter().any(|binding| cli.is_skipped(binding)) || has_unread(&bindings) {
            return;
        }
        let names = self.with_names(names, &bindings);
        self.add(node, kind, &names, &bindings);
    }

    /// A line of attributes. It may have the names of its instance.
    fn line(
        &mut self,
        node: &Node,
        is_here: &dyn Fn(&CliAttributeRule) -> bool,
        names: &Attributes,
    ) {
        let cli = self.cli;
        let mut own_names = None;
        if let Some(named) = cli.instance.kind.named() {
            let Some(line) = named.split(&node.text, cli) else {
                return;
            };
            if line.bindings.iter().any(|binding| cli.is_skipped(binding)) {
                return;
            }
            let bound = self.with_names(names, &line.bindings);
            let create = &cli.instance.create;
            let is_created = LineTemplate::first_match(create, &node.text, cli).is_some();
            if is_created || named.is_bare(node, cli) {
                self.add(node, ClaimKind::Own, &bound, &line.bindings);
            }
            own_names = Some(bound);
        }
        let names = own_names.as_ref().unwrap_or(names);
        let rules = || cli.attributes.values().filter(|rule| is_here(rule));
        let read = rules().find_map(|rule| match &rule.location {
            // The existence of a line that other attributes read.
            CliLocation::Exists(lines) => {
                let mut lines = lines.iter();
                let is_line = lines.any(|line| line.read(&node.text, cli).is_some());
                is_line.then(|| vec![(rule.name.clone(), true.into())])
            }
            _ => cli.read_line(rule, node).map(|mut bindings| {
                bindings.insert(0, (rule.name.clone(), true.into()));
                bindings
            }),
        });
        if let Some(bindings) = read {
            if !has_unread(&bindings) {
                self.add(node, ClaimKind::Value, names, &bindings);
            }
            return;
        }
        let Some(positive) = cli.negation.positive(&node.text) else {
            return;
        };
        let removes = |line: &LineTemplate| {
            line.read(&positive, cli).is_some() || line.head().eq_ignore_ascii_case(&positive)
        };
        if let Some(rule) = rules().find(|rule| rule.value_lines().any(removes)) {
            let own = vec![(rule.name.clone(), true.into())];
            self.add(node, ClaimKind::Default, names, &own);
        }
    }

    /// Lines in the blocks of members.
    fn members(
        &mut self,
        nodes: &[Node],
        (rule, block): (&CliAttributeRule, &LineTemplate),
        state: &State,
    ) {
        let cli = self.cli;
        let words = MemberVocabulary {
            cli,
            of: &rule.name,
        };
        let instances = cli.indexed_instances(state);
        let is_member = |node: &&Node| block.read(&node.text, &words).is_some();
        for node in nodes.iter().filter(is_member) {
            for line in &node.children.nodes {
                let read = LineTemplate::first_match(&rule.lines, &line.text, cli);
                let Some(mut bindings) = read else { continue };
                let mut instances = instances.iter().map(|indexed| &indexed.found.attributes);
                let instance = instances.find(|one| cli.refers(&bindings, one));
                let names = instance.map_or_else(Attributes::default, |one| {
                    let names = cli.model.namevars();
                    let names =
                        names.filter_map(|name| Some((name.to_owned(), one.get(name)?.clone())));
                    names.collect()
                });
                bindings.insert(0, (rule.name.clone(), true.into()));
                self.add(line, ClaimKind::Value, &names, &bindings);
            }
        }
    }

    fn with_names(&self, outer: &Attributes, bindings: &Bindings) -> Attributes {
        let mut names = outer.clone();
        for (name, value) in bindings {
            if self.cli.is_namevar(name) {
                names.insert(name.clone(), self.cli.finished(name, value.clone()));
            }
        }
        names
    }

    fn add(&mut self, node: &Node, kind: ClaimKind, names: &Attributes, bindings: &Bindings) {
        let cli = self.cli;
        let mut names = names.clone();
        if kind != ClaimKind::Header && !matches!(cli.instance.kind, InstanceKind::Singleton(_)) {
            cli.add_absent_names(&mut names);
        }
        let mut attributes: Vec<Name> = Vec::new();
        for (name, _) in bindings {
            let is_own = cli.attributes.contains_key(name) && !cli.is_namevar(name);
            if is_own && !attributes.contains(name) {
                attributes.push(name.clone());
            }
        }
        self.claims.push(Claim {
            line: node.line,
            type_name: cli.model.name.clone(),
            names,
            title: None,
            attributes,
            kind,
        });
    }
}

/// Whether a line has words that no attribute expresses.
fn has_unread(bindings: &Bindings) -> bool {
    let is_unread = |name: &Name| *name == *OTHER_WORDS || *name == *UNREAD;
    bindings.iter().any(|(name, _)| is_unread(name))
}

fn has_any_words(bindings: &Bindings) -> bool {
    let mut names = bindings.iter().map(|(name, _)| name);
    names.any(|name| name.starts_with(CAPTURE_MARK))
}
