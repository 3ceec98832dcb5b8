//! Carries out configuration lines: finds the rule in the mode's grammar, then stores, removes, or runs it.

use std::sync::LazyLock;

use super::device::{Device, Mode, Position};
use super::effect::{Effect, Reply};
use super::grammar::{
    Form, Grammar, Parsed, Scope, SyntaxError, Token, access_list, block, global, interface,
    server, tokens,
};
use super::tree::{Block, Entry};

static GLOBAL: LazyLock<Grammar> = LazyLock::new(|| Grammar::new(global::RULES));
static INTERFACE: LazyLock<Grammar> = LazyLock::new(|| Grammar::new(interface::RULES));
static VLAN: LazyLock<Grammar> = LazyLock::new(|| Grammar::new(block::VLAN));
static VRF: LazyLock<Grammar> = LazyLock::new(|| Grammar::new(block::VRF));
static LINE: LazyLock<Grammar> = LazyLock::new(|| Grammar::new(block::LINE));
static TACACS_SERVER: LazyLock<Grammar> = LazyLock::new(|| Grammar::new(server::TACACS));
static RADIUS_SERVER: LazyLock<Grammar> = LazyLock::new(|| Grammar::new(server::RADIUS));
static TACACS_GROUP: LazyLock<Grammar> = LazyLock::new(|| Grammar::new(server::TACACS_GROUP));
static STANDARD: LazyLock<Grammar> = LazyLock::new(|| Grammar::new(access_list::STANDARD));
static EXTENDED: LazyLock<Grammar> = LazyLock::new(|| Grammar::new(access_list::EXTENDED));

/// The grammar of a configuration mode.
pub fn grammar(mode: &Mode) -> &'static Grammar {
    match mode {
        Mode::Exec | Mode::Privileged | Mode::Config => &GLOBAL,
        Mode::Interface(_) => &INTERFACE,
        Mode::Vlan => &VLAN,
        Mode::Vrf(_) => &VRF,
        Mode::Line(_) => &LINE,
        Mode::TacacsServer(_) => &TACACS_SERVER,
        Mode::RadiusServer(_) => &RADIUS_SERVER,
        Mode::TacacsGroup(_) => &TACACS_GROUP,
        Mode::AccessList {
            extended: false, ..
        } => &STANDARD,
        Mode::AccessList { extended: true, .. } => &EXTENDED,
    }
}

/// How a line was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// As it stands.
    Set,
    /// With `no` before it.
    No,
    /// With `default` before it.
    Default,
}

/// An understood configuration line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// Words in full.
    pub words: Vec<String>,
    /// How many of them are the identity.
    pub identity: usize,
    /// With or without `no`.
    pub sign: Sign,
    /// Index of the rule.
    pub rule: usize,
    /// The question was answered with yes.
    pub confirmed: bool,
}

impl Command {
    /// The words of the identity as one text.
    pub fn identity_text(&self) -> String {
        self.words[..self.identity].join(" ")
    }

    /// The whole line.
    pub fn text(&self) -> String {
        self.words.join(" ")
    }

    /// A word, or nothing when the line ends before it.
    pub fn word(&self, index: usize) -> &str {
        self.words.get(index).map_or("", String::as_str)
    }

    /// Whether the line has no sign before it.
    pub fn is_set(&self) -> bool {
        self.sign == Sign::Set
    }

    /// The line as an entry of its block.
    pub fn entry(&self, text: impl Into<String>) -> Entry {
        Entry::line(self.rule, self.identity_text(), text)
    }
}

/// A session's hands on the device.
pub struct Configuring<'a> {
    /// The device.
    pub device: &'a mut Device,
    /// Where the session stands.
    pub position: &'a mut Position,
}

impl Configuring<'_> {
    /// Keeps a global line, in the place of the one with its identity.
    pub fn set(&mut self, entry: Entry) -> Reply {
        self.device.edit().root.set(entry);
        Reply::Silent
    }

    /// Removes the global line that a command names.
    pub fn remove(&mut self, command: &Command) -> Reply {
        self.device.edit().root.remove(&command.identity_text());
        Reply::Silent
    }

    /// Carries out one line.
    ///
    /// # Errors
    /// What is wrong with its words, with columns of the line.
    pub fn line(&mut self, line: &str, confirmed: bool) -> Result<Reply, SyntaxError> {
        let all = tokens(line);
        let Some(first) = all.first() else {
            return Ok(Reply::Silent);
        };
        if first.text.starts_with('!') {
            return Ok(Reply::Silent);
        }
        let sign = match first.text.to_ascii_lowercase().as_str() {
            "no" => Sign::No,
            word if word.len() >= 3 && "default".starts_with(word) && all.len() > 1 => {
                Sign::Default
            }
            _ => Sign::Set,
        };
        let words = if sign == Sign::Set {
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

    /// Looks in the mode's own grammar first, then in the global one, which leaves the sub-mode.
    fn understand(
        &mut self,
        line: &str,
        words: &[Token<'_>],
        sign: Sign,
    ) -> Result<(&'static Grammar, Parsed), SyntaxError> {
        let form = if sign == Sign::Set {
            Form::Whole
        } else {
            Form::Identity
        };
        let name = match &self.position.mode {
            Mode::Interface(name) => Some(name.clone()),
            _ => None,
        };
        let scope = Scope {
            hardware: self.device.hardware,
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

    /// Goes back to global configuration; a `vlan` sub-mode takes effect now.
    pub fn leave(&mut self) {
        self.device.commit(self.position);
        self.position.mode = Mode::Config;
    }

    /// The lines of the sub-mode, or the global ones.
    pub fn block(&mut self) -> &mut Block {
        let identity = self.position.mode.block_identity();
        let root = &mut self.device.edit().root;
        match identity {
            Some(identity) if root.find(&identity).is_some() => root
                .find_mut(&identity)
                .expect("it was just found")
                .block
                .get_or_insert_default(),
            _ => root,
        }
    }

    fn carry_out(&mut self, effect: &Effect, command: &Command) -> Reply {
        let identity = command.identity_text();
        let text = command.text();
        match (effect, command.sign) {
            (Effect::Run(run), _) => return run(self, command),
            (Effect::Store, Sign::Set) => self.block().set(command.entry(text)),
            (Effect::Unless(default), Sign::Set) => {
                if text == *default {
                    self.block().remove(&identity);
                } else {
                    self.block().set(command.entry(text));
                }
            }
            (Effect::OnByDefault, Sign::Set) if text != identity => {
                self.block().set(command.entry(text))
            }
            (Effect::OnByDefault, Sign::No) => {
                self.block().set(command.entry(format!("no {identity}")));
            }
            (Effect::OnByDefault | Effect::Store | Effect::Unless(_), _) => {
                self.block().remove(&identity);
            }
            (Effect::Exec(_), _) => return Reply::Invalid(0),
        }
        Reply::Silent
    }
}

/// Rules that every sub-mode has.
pub fn exit(configuring: &mut Configuring<'_>, _: &Command) -> Reply {
    if configuring.position.mode == Mode::Config {
        *configuring.position = Position::exec(true);
    } else {
        configuring.leave();
    }
    Reply::Silent
}

/// Back to the privileged mode.
pub fn end(configuring: &mut Configuring<'_>, _: &Command) -> Reply {
    configuring.leave();
    *configuring.position = Position::exec(true);
    Reply::Silent
}
