//! Executes configuration lines: finds the rule in the grammar of the mode, then stores, removes or runs it.

use std::sync::LazyLock;

use super::device::{Device, Mode, Position};
use super::effect::{Effect, Reply};
use super::grammar::{
    Grammar, LineForm, Parsed, RuleScope, SyntaxError, Token, access_list, bgp, block,
    block_kind::BlockKind, eigrp, global, interface, route_map, server, tokens,
};
use super::tree::{Block, Entry};

static GLOBAL: LazyLock<Grammar> = LazyLock::new(|| Grammar::new(&global::RULES));
static INTERFACE: LazyLock<Grammar> = LazyLock::new(|| Grammar::new(interface::RULES));
static VLAN: LazyLock<Grammar> = LazyLock::new(|| Grammar::new(block::VLAN));
static VRF: LazyLock<Grammar> = LazyLock::new(|| Grammar::new(block::VRF));
static VRF_DEFINITION: LazyLock<Grammar> = LazyLock::new(|| Grammar::new(block::VRF_DEFINITION));
static VRF_FAMILY: LazyLock<Grammar> = LazyLock::new(|| Grammar::new(block::VRF_FAMILY));
static LINE: LazyLock<Grammar> = LazyLock::new(|| Grammar::new(block::LINE));
static TACACS_SERVER: LazyLock<Grammar> = LazyLock::new(|| Grammar::new(server::TACACS));
static RADIUS_SERVER: LazyLock<Grammar> = LazyLock::new(|| Grammar::new(server::RADIUS));
static TACACS_GROUP: LazyLock<Grammar> = LazyLock::new(|| Grammar::new(server::TACACS_GROUP));
static RADIUS_GROUP: LazyLock<Grammar> = LazyLock::new(|| Grammar::new(server::RADIUS_GROUP));
static REGION: LazyLock<Grammar> = LazyLock::new(|| Grammar::new(block::REGION));
static BGP: LazyLock<Grammar> = LazyLock::new(|| Grammar::new(bgp::PROCESS));
static BGP_FAMILY: LazyLock<Grammar> = LazyLock::new(|| Grammar::new(bgp::FAMILY));
static BGP_VRF_FAMILY: LazyLock<Grammar> = LazyLock::new(|| Grammar::new(bgp::VRF_FAMILY));
static ROUTE_MAP: LazyLock<Grammar> = LazyLock::new(|| Grammar::new(route_map::RULES));
static EIGRP: LazyLock<Grammar> = LazyLock::new(|| Grammar::new(eigrp::PROCESS));
static OSPF: LazyLock<Grammar> = LazyLock::new(|| Grammar::new(block::OSPF));
static STANDARD: LazyLock<Grammar> = LazyLock::new(|| Grammar::new(access_list::STANDARD));
static EXTENDED: LazyLock<Grammar> = LazyLock::new(|| Grammar::new(access_list::EXTENDED));

/// The grammar of a configuration mode.
pub(super) fn grammar(mode: &Mode) -> &'static Grammar {
    match mode {
        Mode::Exec | Mode::Privileged | Mode::Config => &GLOBAL,
        Mode::Interface(_) => &INTERFACE,
        Mode::Vlan => &VLAN,
        Mode::Vrf(line) if line.starts_with("vrf definition ") => &VRF_DEFINITION,
        Mode::Vrf(_) => &VRF,
        Mode::VrfFamily(..) => &VRF_FAMILY,
        Mode::Line(_) => &LINE,
        Mode::TacacsServer(_) => &TACACS_SERVER,
        Mode::RadiusServer(_) => &RADIUS_SERVER,
        Mode::TacacsGroup(_) => &TACACS_GROUP,
        Mode::RadiusGroup(_) => &RADIUS_GROUP,
        Mode::Region => &REGION,
        Mode::Block { kind, .. } => kind.grammar(),
        Mode::Eigrp(_) => &EIGRP,
        Mode::Ospf(_) => &OSPF,
        Mode::Bgp(_) => &BGP,
        Mode::BgpFamily(_, family) if family.contains(" vrf ") => &BGP_VRF_FAMILY,
        Mode::BgpFamily(..) => &BGP_FAMILY,
        Mode::RouteMap(_) => &ROUTE_MAP,
        Mode::AccessList {
            extended: false, ..
        } => &STANDARD,
        Mode::AccessList { extended: true, .. } => &EXTENDED,
    }
}

/// Index of the first global rule whose pattern has this prefix. It determines the order of a line
/// in the running configuration.
pub(super) fn global_rule_index(prefix: &str) -> Option<usize> {
    global::RULES
        .iter()
        .position(|rule| rule.pattern.starts_with(prefix))
}

/// Index of the global rule of interfaces.
pub(super) fn interface_rule_index() -> usize {
    global_rule_index("interface ").unwrap_or_default()
}

/// The word before a configuration line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LinePrefix {
    /// No such word.
    Set,
    /// `no`
    No,
    /// `default`
    Default,
}

/// A parsed configuration line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Command {
    /// Words without abbreviations.
    pub words: Vec<String>,
    /// Number of words that identify the line.
    pub identity: usize,
    /// The word before the line.
    pub sign: LinePrefix,
    /// Index of the rule.
    pub rule: usize,
    /// The user confirmed the question of this line.
    pub confirmed: bool,
}

impl Command {
    /// The words of the identity, joined.
    pub(super) fn identity_text(&self) -> String {
        self.words[..self.identity].join(" ")
    }

    /// The complete line.
    pub(super) fn text(&self) -> String {
        self.words.join(" ")
    }

    /// A word; empty if the line is shorter.
    pub(super) fn word(&self, index: usize) -> &str {
        self.words.get(index).map_or("", String::as_str)
    }

    /// Whether the line has neither `no` nor `default` before it.
    pub(super) fn is_set(&self) -> bool {
        self.sign == LinePrefix::Set
    }

    /// The line as an entry of its block.
    pub(super) fn entry(&self, text: impl Into<String>) -> Entry {
        Entry::line(self.rule, self.identity_text(), text)
    }
}

/// A session in a configuration mode, with access to the device.
pub(super) struct ConfigSession<'a> {
    /// The device.
    pub device: &'a mut Device,
    /// The mode of the session.
    pub position: &'a mut Position,
}

impl ConfigSession<'_> {
    /// Stores a global line. It replaces the line with the same identity.
    pub(super) fn set(&mut self, entry: Entry) -> Reply {
        self.device.edit().root.set(entry);
        Reply::Silent
    }

    /// Removes the global line that a command identifies.
    pub(super) fn remove(&mut self, command: &Command) -> Reply {
        self.device.edit().root.remove(&command.identity_text());
        Reply::Silent
    }

    /// Executes one line.
    ///
    /// # Errors
    /// A syntax error with its column in the line.
    pub(super) fn line(&mut self, line: &str, confirmed: bool) -> Result<Reply, SyntaxError> {
        let all = tokens(line);
        let Some(first) = all.first() else {
            return Ok(Reply::Silent);
        };
        if first.text.starts_with('!') {
            return Ok(Reply::Silent);
        }
        let sign = match first.text.to_ascii_lowercase().as_str() {
            "no" => LinePrefix::No,
            word if word.len() >= 3 && "default".starts_with(word) && all.len() > 1 => {
                LinePrefix::Default
            }
            _ => LinePrefix::Set,
        };
        let words = if sign == LinePrefix::Set {
            &all[..]
        } else {
            &all[1..]
        };
        if words.is_empty() {
            return Err(SyntaxError::Incomplete);
        }
        let (grammar, parsed) = self.understand(line, words, sign)?;
        let command = Command {
            words: parsed.words,
            identity: parsed.identity,
            sign,
            rule: parsed.rule,
            confirmed,
        };
        match self.carry_out(&grammar.rules[command.rule].effect, &command) {
            Reply::Invalid(index) => {
                let column = words
                    .get(index)
                    .or(words.last())
                    .map_or(0, |token| token.column);
                Err(SyntaxError::Invalid(column))
            }
            Reply::Incomplete => Err(SyntaxError::Incomplete),
            reply => Ok(reply),
        }
    }

    /// Searches the grammar of the mode, those of the blocks around it, and the global one. A line of an outer mode leaves
    /// the inner ones.
    fn understand(
        &mut self,
        line: &str,
        words: &[Token<'_>],
        sign: LinePrefix,
    ) -> Result<(&'static Grammar, Parsed), SyntaxError> {
        let form = if sign == LinePrefix::Set {
            LineForm::Complete
        } else {
            LineForm::Identity
        };
        let name = match &self.position.mode {
            Mode::Interface(name) => Some(name.clone()),
            _ => None,
        };
        let scope = RuleScope {
            profile: self.device.profile,
            interface: name.as_ref(),
            privileged: true,
        };
        let own = grammar(&self.position.mode);
        let inner = match own.parse(&scope, line, words, form) {
            Ok(parsed) => return Ok((own, parsed)),
            Err(error) => error,
        };
        if self.position.mode == Mode::Config {
            return Err(inner);
        }
        let mut mode = self.position.mode.outer();
        while let Some(outer) = mode {
            let grammar = grammar(outer);
            if let Ok(parsed) = grammar.parse(&scope, line, words, form) {
                self.position.mode = outer.clone();
                return Ok((grammar, parsed));
            }
            mode = outer.outer();
        }
        match GLOBAL.parse(&scope, line, words, form) {
            Ok(parsed) => {
                self.leave();
                Ok((&GLOBAL, parsed))
            }
            Err(outer) => Err(match (&inner, &outer) {
                (SyntaxError::Invalid(near), SyntaxError::Invalid(far)) if far > near => outer,
                (
                    SyntaxError::Invalid(near),
                    SyntaxError::Incomplete | SyntaxError::Ambiguous(_),
                ) if *near == words[0].column => outer,
                _ => inner,
            }),
        }
    }

    /// Returns to the global configuration mode. Edits of a `vlan` submode take effect now.
    pub(super) fn leave(&mut self) {
        self.device.commit(self.position);
        self.position.mode = Mode::Config;
    }

    /// The lines of the submode, or the global ones.
    pub(super) fn block(&mut self) -> &mut Block {
        let path = self.position.mode.path();
        let mut block = &mut self.device.edit().root;
        for identity in path {
            if block.find(&identity).is_none() {
                break;
            }
            block = block
                .find_mut(&identity)
                .expect("it was just found")
                .block
                .get_or_insert_default();
        }
        block
    }

    /// Enters a block and creates it. A header with other words behind its identity keeps the lines of the block.
    pub(super) fn enter(&mut self, kind: BlockKind, command: &Command) {
        let identity = command.identity_text();
        let block = self.block();
        let lines = block
            .find_mut(&identity)
            .and_then(|entry| entry.block.take());
        block.set(Entry {
            block: Some(lines.unwrap_or_default()),
            ..command.entry(command.text())
        });
        self.position.mode = Mode::Block {
            kind,
            header: identity,
            outer: Box::new(self.position.mode.clone()),
        };
    }

    fn carry_out(&mut self, effect: &Effect, command: &Command) -> Reply {
        let identity = command.identity_text();
        let text = command.text();
        match (effect, command.sign) {
            (Effect::Run(run), _) => return run(self, command),
            (Effect::Enter(kind), LinePrefix::Set) => self.enter(*kind, command),
            (Effect::Store, LinePrefix::Set) => self.block().set(command.entry(text)),
            (Effect::Unless(default), LinePrefix::Set) => {
                if text == *default {
                    self.block().remove(&identity);
                } else {
                    self.block().set(command.entry(text));
                }
            }
            (Effect::OnByDefault, LinePrefix::Set) if text != identity => {
                self.block().set(command.entry(text))
            }
            (Effect::BothForms, LinePrefix::Set) => self.block().set(command.entry(text)),
            (Effect::OnByDefault | Effect::BothForms, LinePrefix::No) => {
                self.block().set(command.entry(format!("no {identity}")));
            }
            (
                Effect::OnByDefault
                | Effect::BothForms
                | Effect::Store
                | Effect::Unless(_)
                | Effect::Enter(_),
                _,
            ) => {
                self.block().remove(&identity);
            }
            (Effect::Exec(_), _) => return Reply::Invalid(0),
        }
        Reply::Silent
    }
}

/// Rules of all submodes.
pub(super) fn exit(session: &mut ConfigSession<'_>, _: &Command) -> Reply {
    let outer = match &session.position.mode {
        Mode::VrfFamily(vrf, _) => Some(Mode::Vrf(vrf.clone())),
        Mode::BgpFamily(process, _) => Some(Mode::Bgp(process.clone())),
        mode => mode.outer().cloned(),
    };
    if let Some(outer) = outer {
        session.position.mode = outer;
        return Reply::Silent;
    }
    if session.position.mode == Mode::Config {
        *session.position = Position::exec(true);
    } else {
        session.leave();
    }
    Reply::Silent
}

/// Returns to the privileged mode.
pub(super) fn end(session: &mut ConfigSession<'_>, _: &Command) -> Reply {
    session.leave();
    *session.position = Position::exec(true);
    Reply::Silent
}
