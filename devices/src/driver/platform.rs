//! A platform: its transport, dialogue, reads, facts and types.

mod netconf_outline;
pub(super) mod outline;
pub(super) mod platform_type;
pub(super) mod rest_outline;
pub(super) mod sections;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::map::IndexMap;

use self::platform_type::PlatformType;
use self::sections::{IdentitySections, PlatformKeys, PlatformSections, TransportSections};
use super::backup_rules::{BackupKeys, BackupRules};
use super::codec::Codec;
use super::context::Context;
use super::coverage_rules::{CoverageKeys, CoverageRules};
use super::document_rule::DocumentRule;
use super::facts::{FactRule, Facts};
use super::inactive::InactiveRule;
use super::manager_rule::ManagerRule;
use super::negation::Negation;
use super::new_block::NewBlockRule;
use super::parameter::{Parameter, ParameterValues};
use super::quoting::Quoting;
use super::read_rule::{ParseRule, ReadRule};
use super::saved_rule::SavedRule;
use super::self_test::platform_test::PlatformTest;
use super::self_test::test_source::{DefinitionTests, TestSource};
use super::session_use::SessionUse;
use super::standby::StandbyRule;
use super::type_driver::TypeDriver;
use crate::diagnostic::Source;
use crate::dialogue::Protocol;
use crate::dialogue::Transport;
use crate::dialogue::sections::SessionSections;
use crate::document::{Item, Named, Table, read_value};
use crate::model::TypeModel;
use crate::model::load::check_schema;
use crate::names::{PlatformName, TypeName};
use crate::read::columns::Columns;
use crate::read::indent::Tree;
use crate::read::indent::inactive::InactiveLines;
use crate::read::rows::RowsRule;
use crate::read::{CONFIG, Parsed, ReadError, ReadRequest, Reads, State, stanzas, xml};
use crate::secret_text::SecretPositions;
use crate::value::Name;

/// The mock device of a platform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MockKind {
    /// A switch with an IOS command line over SSH.
    Switch,
    /// A switch with the grammar of the platform over SSH.
    Grammar,
    /// A load balancer with iControl REST over HTTPS.
    LoadBalancer,
}

/// A platform, loaded from `definitions/<platform>/`.
#[derive(Debug)]
pub struct Platform {
    /// The directory name of the definitions, `cisco_ios`.
    pub name: PlatformName,
    /// Other names of the platform, in inventories of other programs and for `type` in `device.conf`.
    pub aliases: Vec<String>,
    /// The protocol of sessions with its devices.
    pub transport: Transport,
    /// The mock device for `--mock`, if there is one.
    pub mock: Option<MockKind>,
    /// The rules of a session.
    pub(crate) protocol: Protocol,
    pub(crate) reads: IndexMap<String, ReadRule>,
    /// Documents that are written as a whole, by the name of their read.
    pub(super) documents: IndexMap<String, DocumentRule>,
    pub(crate) facts: Vec<FactRule>,
    /// Where the serial numbers of the device are.
    identity: Option<FactRule>,
    /// Named positions in the order of changes.
    pub(crate) ranks: IndexMap<String, i64>,
    pub(crate) codecs: IndexMap<String, Arc<Codec>>,
    /// The list of objects in an answer of a REST interface, unless a type has another.
    pub(crate) rows: Option<RowsRule>,
    /// How objects show that another one makes them.
    pub(crate) manager: Option<ManagerRule>,
    /// How inactive parts of the configuration are marked.
    pub(crate) inactive: Option<InactiveRule>,
    /// Names and values of the device, for checks that need an example.
    pub(crate) examples: Vec<String>,
    /// Characters that the device does not accept in text (`?` prints help).
    pub(crate) refused_characters: String,
    /// How lines are removed.
    pub(crate) negation: Negation,
    /// How words have blanks.
    pub(crate) quoting: Option<Quoting>,
    /// Blocks that need a line when they are created.
    pub(super) new_blocks: Vec<NewBlockRule>,
    /// Longest input line that the device accepts.
    pub(crate) line_limit: usize,
    /// How the configuration shows what a session uses.
    pub(crate) session_use: Option<SessionUse>,
    /// How a device shows that it is the standby unit of a pair.
    pub(crate) standby: Option<StandbyRule>,
    /// How a device shows its saved configuration.
    pub(super) saved: Option<SavedRule>,
    /// What a backup contains.
    pub(crate) backup: BackupRules,
    /// What the device writes into its configuration by itself.
    pub(super) coverage: CoverageRules,
    /// Tests of prompts, messages and facts.
    pub(crate) tests: DefinitionTests<PlatformTest>,
    /// The parameters of its devices.
    pub parameters: Vec<Parameter>,
    /// The values of the parameters in these definitions.
    pub(super) parameter_values: ParameterValues,
    /// The resource types of the platform, with their variants.
    pub(super) types: IndexMap<TypeName, PlatformType>,
    /// The platforms that have a type, for types that this platform lacks.
    pub(super) platforms_by_type: BTreeMap<TypeName, Vec<PlatformName>>,
}

impl Platform {
    /// Reads `platform.toml`, without the types.
    pub(super) fn load<'a>(
        root: &Table<'a>,
        tests: TestSource<'a>,
        shipped: bool,
        supplied: &ParameterValues,
    ) -> Option<Self> {
        check_schema(PlatformSections::schema(root))?;
        let name: Option<String> = read_value(PlatformSections::platform(root));
        let extended: Option<String> = read_value(PlatformSections::extends(root));
        let is_derived = extended.is_some_and(|base| base != "shipped");
        // What stands for the other platform itself is not taken from it.
        let is_own = |item: &Item<'_>| !is_derived || root.is_own(item);
        PlatformSections::doc(root);
        let aliases = read_value(IdentitySections::aliases(root).filter(is_own));
        let mock = read_value(IdentitySections::mock(root).filter(is_own));
        let transport = read_value(SessionSections::transport(root));
        let protocol = Protocol::read(root);
        let keys = PlatformKeys::of(root);
        let entries = |item: Option<Item<'a>>| {
            let table = item.and_then(|item| item.table());
            table.map(|table| table.entries()).unwrap_or_default()
        };
        let mut reads = IndexMap::default();
        let mut declared: Vec<String> = Vec::new();
        for (name, _, item) in entries(PlatformSections::read(root)) {
            let namespaces = protocol.as_ref().and_then(Protocol::namespaces);
            if let Some(rule) = ReadRule::load(&name, &item, namespaces) {
                reads.insert(name.clone(), rule);
            }
            declared.push(name);
        }
        let mut documents = IndexMap::default();
        for (name, _, item) in entries(PlatformSections::write(root)) {
            documents.extend(DocumentRule::load(&name, &item, &reads).map(|rule| (name, rule)));
        }
        let mut facts = Vec::new();
        for (name, _, item) in entries(PlatformSections::fact(root)) {
            facts.extend(FactRule::load(&name, &item));
        }
        let identity = PlatformSections::identity(root);
        let identity = identity.and_then(|item| FactRule::load_identity(&item));
        let mut codecs = IndexMap::default();
        for (name, _, item) in entries(PlatformSections::codec(root)) {
            codecs.extend(Codec::load(&item).map(|codec| (name, Arc::new(codec))));
        }
        let ranks: Option<Named<i64>> = read_value(PlatformSections::rank(root));
        let ranks = ranks.into_iter().flatten();
        let ranks = ranks.map(|(name, rank)| (name.value, rank)).collect();
        let rows = match transport {
            Some(Transport::Rest) => read_value(TransportSections::rows(root)),
            _ => None,
        };
        let manager = match transport {
            Some(Transport::Rest) => read_value(TransportSections::manager(root)),
            _ => None,
        };
        let inactive: Option<InactiveRule> = match transport {
            Some(Transport::Netconf | Transport::SshCli) => {
                read_value(TransportSections::inactive(root))
            }
            _ => None,
        };
        let negation = keys
            .as_ref()
            .map(|keys| Negation::new(keys.negate.clone(), keys.negate_replaces.clone()));
        let negation = negation.unwrap_or_default();
        if let (Some(words), Some(Transport::SshCli)) = (&inactive, transport) {
            for rule in reads.values_mut() {
                if let ParseRule::Indent(lines) = &mut rule.parse {
                    lines.inactive = Some(InactiveLines {
                        mark: words.mark.clone(),
                        activate: words.activate.clone(),
                        replaced: negation.replaced().map(str::to_owned),
                    });
                }
            }
        }
        let quoting = PlatformSections::quote(root);
        let quoting = quoting.and_then(|item| Quoting::load(&item));
        let new_blocks: Option<Named<NewBlockRule>> = match transport {
            Some(Transport::SshCli) => read_value(TransportSections::new_block(root)),
            _ => None,
        };
        let new_blocks = new_blocks.into_iter().flatten();
        let new_blocks = new_blocks.map(|(_, rule)| rule).collect();
        let session_use = PlatformSections::session_use(root);
        let session_use = session_use.and_then(|item| SessionUse::load(&item));
        let standby: Option<StandbyRule> = read_value(PlatformSections::standby(root));
        let saved: Option<SavedRule> = read_value(PlatformSections::saved(root));
        let backup: Option<BackupKeys> = read_value(PlatformSections::backup(root));
        let backup = backup.map(BackupRules::from).unwrap_or_default();
        let coverage: Option<CoverageKeys> = read_value(PlatformSections::coverage(root));
        let coverage = coverage.map(CoverageRules::from).unwrap_or_default();
        let parameters = PlatformSections::parameter(root);
        let parameters = parameters.map(|item| Parameter::load_all(&item));
        let parameters = parameters.unwrap_or_default();
        let tests = tests.load(root, PlatformSections::test, move |item| {
            PlatformTest::load(item, shipped)
        });
        root.finish();
        for fact in facts.iter().chain(&identity) {
            let is_declared = |read: &str| declared.iter().any(|name| name == read);
            let mut reads = fact.read().into_iter().chain(fact.fallback_reads());
            if let Some(read) = reads.find(|read| !is_declared(read)) {
                root.findings.error(
                    "unknown-read",
                    root.span.clone(),
                    format!(
                        "fact `{}` uses the read `{read}`, which is not declared",
                        fact.name
                    ),
                );
            }
        }
        let standby_fact = standby.as_ref().map(StandbyRule::fact);
        if let Some(name) = standby_fact.filter(|name| facts.iter().all(|fact| fact.name != **name))
        {
            let message = format!("`standby` names the fact `{name}`, which is not declared");
            root.findings
                .error("unknown-fact", root.span.clone(), message);
        }
        if let Some(read) = backup.reads().find(|read| !declared.contains(read)) {
            let message = format!("`backup` names the read `{read}`, which is not declared");
            root.findings
                .error("unknown-read", root.span.clone(), message);
        }
        let of_saved = saved.iter().map(SavedRule::read);
        let config = CONFIG.to_owned();
        let of_saved = of_saved.flat_map(|read| [read, &config]);
        if let Some(read) = of_saved.into_iter().find(|read| !declared.contains(read)) {
            let message = format!("`saved` needs the read `{read}`, which is not declared");
            root.findings
                .error("unknown-read", root.span.clone(), message);
        }
        for (name, rule) in &reads {
            if let Some(empty) = &rule.empty
                && !declared.contains(&empty.read)
            {
                root.findings.error(
                    "unknown-read",
                    root.span.clone(),
                    format!(
                        "`empty` of the read `{name}` names the read `{}`, which is not declared",
                        empty.read
                    ),
                );
            }
        }
        let keys = keys?;
        Some(Self {
            name: name?.into(),
            aliases: aliases.unwrap_or_default(),
            transport: transport?,
            mock,
            protocol: protocol?,
            reads,
            documents,
            facts,
            identity,
            ranks,
            codecs,
            rows,
            manager,
            inactive,
            examples: keys.examples,
            refused_characters: keys.refused_characters,
            negation,
            quoting,
            new_blocks,
            line_limit: keys.line_limit,
            session_use,
            standby,
            saved,
            backup,
            coverage,
            tests,
            parameter_values: Parameter::values(&parameters, supplied),
            parameters,
            types: IndexMap::default(),
            platforms_by_type: BTreeMap::new(),
        })
    }

    /// The rules of a session, with the places of all secrets: loads the definitions of the types that
    /// have sensitive attributes.
    pub fn protocol(&self) -> &Protocol {
        self.protocol.secrets().complete(|| {
            let sensitive = self.types.values().filter(|one| one.can_have_secrets());
            let types = sensitive.flat_map(|one| one.definition(self).implementations());
            SecretPositions::all(types.map(|one| one.secret_positions()))
        });
        &self.protocol
    }

    /// The names of the resource types of the platform, which loads no definition.
    pub fn type_names(&self) -> impl Iterator<Item = &TypeName> {
        self.types.keys()
    }

    /// Whether the platform has the type, perhaps not on all devices.
    pub fn has_type(&self, name: &str) -> bool {
        self.types.contains_key(name)
    }

    /// How the platform reads and writes the type.
    pub fn type_driver(&self, name: &str) -> Option<&Arc<TypeDriver>> {
        let found = self.types.get(name)?;
        Some(found.definition(self))
    }

    /// All types. Loads their definitions.
    pub fn type_drivers(&self) -> impl Iterator<Item = &Arc<TypeDriver>> {
        let types = self.types.values();
        types.map(|found| found.definition(self))
    }

    /// Context for loading the definition of a type.
    pub(super) fn context<'a>(
        &'a self,
        model: &'a Arc<TypeModel>,
        lacking: &'a [Name],
        source: &'a Arc<Source>,
    ) -> Context<'a> {
        Context {
            model,
            lacking,
            source,
            platform: &self.name,
            transport: self.transport,
            reads: &self.reads,
            documents: &self.documents,
            ranks: &self.ranks,
            codecs: &self.codecs,
            rows: self.rows.as_ref(),
            manager: self.manager.as_ref(),
            namespaces: self.protocol.namespaces(),
            inactive: self.inactive.as_ref(),
            examples: &self.examples,
            secrets: self.protocol.secrets(),
            refused_characters: &self.refused_characters,
            negation: &self.negation,
            quoting: self.quoting.as_ref(),
            line_limit: self.line_limit,
        }
    }

    /// The reads for [`Platform::facts`] and [`Platform::serial_numbers`].
    pub fn fact_reads(&self) -> Vec<ReadRequest> {
        let mut requests: Vec<ReadRequest> = Vec::new();
        let rules = self.facts.iter().chain(&self.identity);
        for name in rules.filter_map(FactRule::read) {
            if let Some(rule) = self.reads.get(name)
                && !requests.contains(&rule.request)
            {
                requests.push(rule.request.clone());
            }
        }
        requests
    }

    /// The facts of a device.
    pub fn facts(&self, reads: &Reads) -> Facts {
        let json = |read: &str, text: &str| match self.parse_answer(read, text) {
            Ok(Parsed::Json(json)) => Some(json),
            _ => None,
        };
        self.facts
            .iter()
            .filter_map(|fact| Some((fact.name.clone(), fact.value(reads, &json)?)))
            .collect()
    }

    /// The serial numbers of a device, those of all members of a stack.
    pub fn serial_numbers(&self, reads: &Reads) -> Vec<String> {
        let json = |read: &str, text: &str| match self.parse_answer(read, text) {
            Ok(Parsed::Json(json)) => Some(json),
            _ => None,
        };
        let rule = self.identity.iter();
        let found = rule.flat_map(|rule| rule.values(reads, &json));
        let found = found.map(|number| number.trim().to_owned());
        found.filter(|number| !number.is_empty()).collect()
    }

    /// The state of a device that is a unit of a pair and does not carry its traffic, such as `standby`.
    pub fn standby_state<'f>(&self, facts: &'f Facts) -> Option<&'f str> {
        self.standby.as_ref()?.state(facts)
    }

    /// The names of declared facts that a device lacks.
    pub fn unknown_facts(&self, facts: &Facts) -> Vec<&str> {
        let names = self.facts.iter().map(|fact| fact.name.as_str());
        names.filter(|name| !facts.contains_key(*name)).collect()
    }

    /// The declared facts of the answer to a read that a device lacks.
    pub fn unknown_facts_of(&self, read: &str, facts: &Facts) -> Vec<&str> {
        let rules = self.facts.iter();
        let rules = rules.filter(|fact| fact.read() == Some(read));
        let names = rules.map(|fact| fact.name.as_str());
        names.filter(|name| !facts.contains_key(*name)).collect()
    }

    /// The command of a read whose saved answer lacks the end that is declared.
    pub fn incomplete_command(&self, read: &str, text: &str) -> Option<&str> {
        let request = &self.reads.get(read)?.request;
        let is_complete = request.answer.is_complete(text);
        (!is_complete).then_some(request.command.as_str())
    }

    /// Whether a text has the lines that each answer to a read has.
    pub fn is_answer_like(&self, read: &str, text: &str) -> bool {
        let rule = self.reads.get(read);
        rule.is_some_and(|rule| rule.request.answer.has_expected_lines(text))
    }

    /// Parses the answers of a device, and checks those that are empty; `before` has the answers to
    /// earlier reads. Returns the valid answers, and an error for each other one: it is not in the
    /// declared form, or it is empty, and another answer shows that it should not be.
    pub fn parse_answers(&self, reads: &Reads, before: &State) -> (State, Vec<ReadError>) {
        let mut state = State::default();
        let mut errors = Vec::new();
        for (name, text) in reads {
            match self.parse_answer(name, text) {
                Ok(parsed) => state.insert(name, parsed),
                Err(error) => errors.push(error),
            }
        }
        let empty = reads.iter().filter(|(_, text)| text.trim().is_empty());
        for (name, _) in empty {
            let rule = self.reads.get(name).and_then(|rule| rule.empty.as_ref());
            if let Some(message) =
                rule.and_then(|rule| rule.contradiction(&state, before, self.protocol().secrets()))
            {
                let read = name.clone();
                errors.push(ReadError { read, message });
            }
        }
        for error in &errors {
            state.remove(&error.read);
        }
        (state, errors)
    }

    /// Parses answers, each once. A read that the platform does not declare is JSON or XML: types
    /// name collections.
    ///
    /// # Errors
    /// An answer does not have the declared form.
    pub fn parse(&self, reads: &Reads) -> Result<State, ReadError> {
        let mut state = State::default();
        for (name, text) in reads {
            state.insert(name, self.parse_answer(name, text)?);
        }
        Ok(state)
    }

    fn parse_answer(&self, name: &str, text: &str) -> Result<Parsed, ReadError> {
        let rule = self.reads.get(name);
        let namespaces = self.protocol.namespaces();
        let undeclared = match namespaces {
            Some(_) => &ParseRule::Xml,
            None => &ParseRule::Json,
        };
        Ok(match rule.map_or(undeclared, |rule| &rule.parse) {
            ParseRule::Xml if text.trim().is_empty() => Parsed::Json(serde_json::Value::Null),
            ParseRule::Xml => {
                let names = namespaces.map(Arc::as_ref).cloned().unwrap_or_default();
                Parsed::Json(xml::answer(text, &names).map_err(|error| ReadError {
                    read: name.to_owned(),
                    message: error.to_string(),
                })?)
            }
            ParseRule::Indent(rules) => Parsed::Tree(Tree::parse(text, rules)),
            ParseRule::Columns { first } => Parsed::Columns(Columns::parse(text, first.as_deref())),
            ParseRule::Stanzas { start } => Parsed::Rows(stanzas::parse(text, start)),
            ParseRule::Csv(rules) => {
                Parsed::Rows(rules.parse(text).map_err(|error| ReadError {
                    read: name.to_owned(),
                    message: error.to_string(),
                })?)
            }
            ParseRule::Text => Parsed::Text(text.to_owned()),
            ParseRule::Json if text.trim().is_empty() => Parsed::Json(serde_json::Value::Null),
            ParseRule::Json => Parsed::Json(serde_json::from_str(text).map_err(|error| {
                let (line, column) = (error.line(), error.column());
                ReadError {
                    read: name.to_owned(),
                    message: format!("not JSON at line {line}, column {column}"),
                }
            })?),
        })
    }
}
