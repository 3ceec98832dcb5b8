//! `switchtender access`: users and tokens of `switchtender serve`, and its audit log.

use std::io::{self, BufRead as _, IsTerminal as _};

use clap::Subcommand;
use jiff::{SignedDuration, Timestamp};
use secrecy::{ExposeSecret as _, SecretString};
use switchtender_devices::names::{Certname, InvalidName};

use crate::cli::commands::history::{print_lines, seconds};
use crate::cli::exit::{CommandError, Exit, eprint_notice, print};
use crate::cli::options::global::Global;
use crate::cli::options::output_format::Output;
use crate::cli::options::serve_state::ServeStateArgs;
use crate::cli::options::store_options::cannot_open;
use crate::cli::output::view::table;
use crate::clock;
use crate::history::{HistoryStore, StoreLocation};
use crate::serve::access::{
    AccessError, AccessFile, AccessPaths, AccessRules, ApiToken, AuditEntry, AuditError,
    AuditFilter, AuditLog, AuditResult, DeviceLimit, LocalUser, OnceSecrets, RESERVED_NAMES, Role,
    TokenText, WorkerEntry, hash_password,
};
use crate::serve::release::RELEASE_ACCESS;
use crate::store;
use crate::terminal_text::TerminalText;

const AUDIT_COLUMNS: [&str; 7] = [
    "Time",
    "Actor",
    "Identified by",
    "Address",
    "Action",
    "Target",
    "Result",
];

/// The length that a password has at least.
const SHORTEST_PASSWORD: usize = 8;

/// Manage users and API tokens of `serve`, and show its audit log
///
/// Changes take effect at once, also in a running process with the same state directory.
///
/// Examples:
///   switchtender access add-user alice --role apply
///   switchtender access list --config /etc/switchtender/serve.toml
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct AccessArgs {
    #[command(subcommand)]
    command: AccessCommand,

    #[command(flatten)]
    state: ServeStateArgs,
}

#[derive(Debug, Subcommand)]
enum AccessCommand {
    /// List users and tokens with their roles
    ///
    /// Example: switchtender access list
    List,
    /// Add or replace a user; the password is read from the terminal or from standard input
    ///
    /// Example: switchtender access add-user alice --role apply
    AddUser(AddUserArgs),
    /// Add or replace an API token, and print it once
    ///
    /// Example: switchtender access add-token ci --role plan --expires-in 90
    AddToken(AddTokenArgs),
    /// Add or replace a worker of the fleet, and print its token once, or name its certificate
    ///
    /// Examples:
    ///   switchtender access add-worker ber-1 --sites berlin
    ///   switchtender access add-worker ber-1 --sites berlin --certificate ber-1.example.net
    #[command(verbatim_doc_comment)]
    AddWorker(AddWorkerArgs),
    /// Remove a user, whose sessions end
    ///
    /// Example: switchtender access remove-user alice
    RemoveUser(AccessNameArgs),
    /// Remove an API token
    ///
    /// Example: switchtender access remove-token ci
    RemoveToken(AccessNameArgs),
    /// Remove a worker of the fleet
    ///
    /// Example: switchtender access remove-worker ber-1
    RemoveWorker(AccessNameArgs),
    /// Print a link for one login as the operator of this host, valid for ten minutes
    ///
    /// Example: switchtender access link
    Link,
    /// Show the audit log: logins, actions and refused requests
    ///
    /// Examples:
    ///   switchtender access audit --user alice --since 2026-11-24T00:00:00Z
    ///   switchtender access audit --action apply --output json
    #[command(verbatim_doc_comment)]
    Audit(AuditArgs),
}

#[derive(Debug, clap::Args)]
struct AuditArgs {
    /// Show only entries from this time on
    #[arg(long, value_name = "TIME")]
    since: Option<Timestamp>,

    /// Show only entries up to this time
    #[arg(long, value_name = "TIME")]
    until: Option<Timestamp>,

    /// Show only entries of this user or token
    #[arg(long, value_name = "NAME")]
    user: Option<String>,

    /// Show only this action, such as `login`, `plan` or `apply`
    #[arg(long, value_name = "ACTION")]
    action: Option<String>,

    /// Maximum number of entries, newest first
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,

    /// Output format
    #[arg(short, long, value_enum, default_value_t = Output::Human)]
    output: Output,
}

#[derive(Debug, clap::Args)]
struct AccessNameArgs {
    /// Name of the user or token
    #[arg(value_name = "NAME")]
    name: String,
}

#[derive(Debug, clap::Args)]
struct AddUserArgs {
    /// Name of the user
    #[arg(value_name = "NAME", value_parser = parse_name)]
    name: String,

    /// What the user may do; each role includes the ones before it
    #[arg(long, value_enum)]
    role: Role,

    /// The devices that the user sees, such as `site = berlin`; default: all
    #[arg(long, value_name = "EXPRESSION")]
    devices: Option<DeviceLimit>,

    /// Add a user without a password, whom a trusted proxy identifies
    #[arg(long)]
    no_password: bool,
}

#[derive(Debug, clap::Args)]
struct AddTokenArgs {
    /// Name of the token
    #[arg(value_name = "NAME", value_parser = parse_name)]
    name: String,

    /// What the owner of the token may do; each role includes the ones before it
    #[arg(long, value_enum)]
    role: Role,

    /// The devices that the token sees, such as `site = berlin`; default: all
    #[arg(long, value_name = "EXPRESSION")]
    devices: Option<DeviceLimit>,

    /// The user whose token it is, with at most the user's role and devices; only such a token approves plans
    #[arg(long, value_name = "NAME", value_parser = parse_name)]
    user: Option<String>,

    /// Number of days until the token expires; default: never
    #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u16).range(1..))]
    expires_in: Option<u16>,
}

#[derive(Debug, clap::Args)]
struct AddWorkerArgs {
    /// Name of the node, as `node` in `[fleet]` of its settings
    #[arg(value_name = "NODE", value_parser = parse_name)]
    name: String,

    /// The sites whose devices the worker may run
    #[arg(long, value_name = "SITE,…", value_delimiter = ',', required = true)]
    sites: Vec<String>,

    /// The name in the certificate that the worker has instead of a token: a DNS name, or the common name if the
    /// certificate has no DNS name
    #[arg(long, value_name = "CERTNAME", value_parser = parse_certificate)]
    certificate: Option<String>,

    /// Number of days until the access ends; default: never
    #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u16).range(1..))]
    expires_in: Option<u16>,
}

fn parse_certificate(text: &str) -> Result<String, InvalidName> {
    Certname::parse(text).map(|name| name.to_string())
}

/// A name that is readable in logs.
fn parse_name(text: &str) -> Result<String, String> {
    let is_valid = |letter: char| letter.is_ascii_alphanumeric() || "._@-".contains(letter);
    if text.is_empty() || text.len() > 64 || !text.chars().all(is_valid) {
        return Err("write up to 64 letters, digits, `.`, `_`, `@` or `-`".to_owned());
    }
    if RESERVED_NAMES.contains(&text) {
        return Err("the program itself has this name: choose another one".to_owned());
    }
    Ok(text.to_owned())
}

pub(crate) fn run(args: &AccessArgs, global: &Global) -> Result<Exit, CommandError> {
    let root = args.state.directory()?;
    let files = AccessFiles {
        paths: AccessPaths::in_state_directory(&root),
    };
    match &args.command {
        AccessCommand::List => files.list(),
        AccessCommand::AddUser(args) => files.add_user(args),
        AccessCommand::AddToken(args) => files.add_token(args),
        AccessCommand::AddWorker(args) => files.add_worker(args),
        AccessCommand::RemoveWorker(args) => files.remove_worker(&args.name),
        AccessCommand::RemoveUser(args) => files.remove_user(&args.name),
        AccessCommand::RemoveToken(args) => files.remove_token(&args.name),
        AccessCommand::Link => files.link(),
        AccessCommand::Audit(args) => files.show_audit_log(args, global),
    }
}

struct AccessFiles {
    paths: AccessPaths,
}

impl AccessFiles {
    fn list(&self) -> Result<Exit, CommandError> {
        let file = AccessFile::open(self.paths.access_file()).map_err(failed)?;
        let rules = file.rules();
        let mut text = TerminalText::new();
        for (name, user) in &rules.users {
            let note = match user.password {
                Some(_) => "",
                None => ", no password",
            };
            let role = role_text(user.role, user.devices.as_ref());
            text.line(format_args!("user {name}: {role}{note}"));
        }
        for (name, token) in &rules.tokens {
            let end = token.expires.map(|end| format!(", until {end}"));
            let role = role_text(token.role, token.devices.as_ref());
            let user = token.user.as_ref().map(|user| format!(", of {user}"));
            let (user, end) = (user.unwrap_or_default(), end.unwrap_or_default());
            text.line(format_args!("token {name}: {role}{user}{end}"));
        }
        for (name, worker) in &rules.workers {
            let end = worker.expires.map(|end| format!(", until {end}"));
            let sites: Vec<&str> = worker.sites.iter().map(String::as_str).collect();
            let (sites, end) = (sites.join(", "), end.unwrap_or_default());
            let proof = match &worker.certificate {
                Some(certificate) => format!("certificate {certificate}"),
                None => "token".to_owned(),
            };
            text.line(format_args!("worker {name}: {sites}, {proof}{end}"));
        }
        if rules.users.is_empty() && rules.tokens.is_empty() && rules.workers.is_empty() {
            text.line(format_args!(
                "{} has no users and no tokens",
                self.paths.access_file().display()
            ));
        }
        print(&text);
        Ok(Exit::SUCCESS)
    }

    fn add_user(&self, args: &AddUserArgs) -> Result<Exit, CommandError> {
        let password = if args.no_password {
            None
        } else {
            Some(hash_password(&read_password()?))
        };
        let user = LocalUser {
            role: args.role,
            devices: args.devices.clone(),
            password,
        };
        self.change("add-user", &args.name, |rules| {
            rules.users.insert(args.name.clone(), user);
        })?;
        self.changed(&format!(
            "user {} has the role {}",
            args.name,
            role_text(args.role, args.devices.as_ref())
        ));
        Ok(Exit::SUCCESS)
    }

    fn add_token(&self, args: &AddTokenArgs) -> Result<Exit, CommandError> {
        let file = AccessFile::open(self.paths.access_file()).map_err(failed)?;
        if let Some(user) = &args.user
            && !file.rules().users.contains_key(user)
        {
            let error = CommandError::new(format!(
                "cannot add the token {}: no user {user}",
                args.name
            ));
            return Err(error.hint(format!(
                "add the user with `switchtender access add-user {user} --role ROLE`: a token has at most the role of \
                 its user"
            )));
        }
        let text = TokenText::random();
        let days = args
            .expires_in
            .map(|days| SignedDuration::from_hours(24 * i64::from(days)));
        let token = ApiToken {
            role: args.role,
            devices: args.devices.clone(),
            user: args.user.clone(),
            sha256: text.digest(),
            expires: days.map(|days| clock::timestamp() + days),
        };
        self.change("add-token", &args.name, |rules| {
            rules.tokens.insert(args.name.clone(), token);
        })?;
        self.changed(&format!(
            "token {} has the role {}",
            args.name,
            role_text(args.role, args.devices.as_ref())
        ));
        eprint_notice("the token is printed once; store it in a safe");
        print(&TerminalText::of_line(text.expose()));
        Ok(Exit::SUCCESS)
    }

    fn add_worker(&self, args: &AddWorkerArgs) -> Result<Exit, CommandError> {
        let token = args.certificate.is_none().then(TokenText::random);
        let days = args
            .expires_in
            .map(|days| SignedDuration::from_hours(24 * i64::from(days)));
        let worker = WorkerEntry {
            sites: args.sites.iter().cloned().collect(),
            sha256: token.as_ref().map(TokenText::digest),
            certificate: args.certificate.clone(),
            expires: days.map(|days| clock::timestamp() + days),
        };
        self.change("add-worker", &args.name, |rules| {
            rules.workers.insert(args.name.clone(), worker);
        })?;
        let sites = args.sites.join(", ");
        self.changed(&format!(
            "worker {} may run the devices of {sites}",
            args.name
        ));
        if let Some(token) = token {
            eprint_notice("the token is printed once; store it in a safe");
            print(&TerminalText::of_line(token.expose()));
        }
        Ok(Exit::SUCCESS)
    }

    fn remove_worker(&self, name: &str) -> Result<Exit, CommandError> {
        let mut removed = None;
        self.change("remove-worker", name, |rules| {
            removed = rules.workers.remove(name)
        })?;
        removed.ok_or_else(|| unknown("worker", name))?;
        self.changed(&format!("worker {name} is removed"));
        Ok(Exit::SUCCESS)
    }

    fn remove_user(&self, name: &str) -> Result<Exit, CommandError> {
        let mut removed = None;
        let mut tokens = Vec::new();
        self.change("remove-user", name, |rules| {
            removed = rules.users.remove(name);
            let is_of_user = |token: &ApiToken| token.user.as_deref() == Some(name);
            let of_user = rules.tokens.extract_if(.., |_, token| is_of_user(token));
            tokens = of_user.map(|(token, _)| token).collect();
        })?;
        removed.ok_or_else(|| unknown("user", name))?;
        let tokens: Vec<String> = tokens
            .iter()
            .map(|token| format!(", with token {token}"))
            .collect();
        self.changed(&format!("user {name} is removed{}", tokens.concat()));
        Ok(Exit::SUCCESS)
    }

    fn remove_token(&self, name: &str) -> Result<Exit, CommandError> {
        let mut removed = None;
        self.change("remove-token", name, |rules| {
            removed = rules.tokens.remove(name)
        })?;
        removed.ok_or_else(|| unknown("token", name))?;
        self.changed(&format!("token {name} is removed"));
        Ok(Exit::SUCCESS)
    }

    fn link(&self) -> Result<Exit, CommandError> {
        let path = self.paths.url();
        let url = std::fs::read_to_string(&path).map_err(|error| {
            CommandError::new(format!("cannot read {}", path.display()))
                .with_source(error)
                .hint("start `switchtender serve` with the same state directory")
        })?;
        let code = self.new_login_code()?;
        // The last line is the address for browsers.
        let url = url.lines().last().unwrap_or_default();
        let link = format!("{url}/login?code={}", code.expose());
        print(&TerminalText::of_line(link));
        Ok(Exit::SUCCESS)
    }

    /// A code in the store of the process.
    fn new_login_code(&self) -> Result<TokenText, CommandError> {
        let path = self.paths.store();
        let store = std::fs::read_to_string(&path).map_err(|error| {
            CommandError::new(format!("cannot read {}", path.display()))
                .with_source(error)
                .hint("start `switchtender serve` with the same state directory")
        })?;
        let failed = || CommandError::new("cannot create a link");
        let location = StoreLocation::parse(store.as_ref(), "".as_ref());
        let location = location.map_err(|error| failed().with_source(error))?;
        let history = HistoryStore::open(location.clone().into());
        let history = history.map_err(|error| cannot_open(&location, error))?;
        let code = OnceSecrets::of(history).new_login_code(clock::timestamp());
        code.map_err(|error| failed().with_source(error))
    }

    fn show_audit_log(&self, args: &AuditArgs, global: &Global) -> Result<Exit, CommandError> {
        let filter = AuditFilter {
            since: args.since,
            until: args.until,
            actor: args.user.clone(),
            action: args.action.clone(),
        };
        let log = AuditLog::at(self.paths.audit_log());
        let count = usize::try_from(args.limit).unwrap_or(usize::MAX);
        let entries = log.newest(&filter, count).map_err(audit_failed)?;
        match args.output {
            Output::Json => print_lines(&entries),
            Output::Human if entries.is_empty() => print(&TerminalText::of_line(format_args!(
                "{} has no such entry",
                log.path().display()
            ))),
            Output::Human => {
                let rows: Vec<Vec<String>> = entries.iter().map(audit_row).collect();
                let colored = global.is_stdout_colored();
                print(&table::render(&AUDIT_COLUMNS, &rows, colored));
            }
        }
        Ok(Exit::SUCCESS)
    }

    /// Reports a change, and the file that has it.
    fn changed(&self, what: &str) {
        let file = self.paths.access_file();
        eprint_notice(&format!("{what}: wrote {}", file.display()));
        if self.has_users_of_release() {
            eprint_notice(
                "warning: users and workers of this node come from a release, and the next one replaces the change; other \
                 nodes do not have it: edit access.toml in the published directory, and run `switchtender fleet publish`",
            );
        }
    }

    /// Whether a release of the node has replaced `access.toml`.
    fn has_users_of_release(&self) -> bool {
        let releases = self.paths.directory().with_file_name("releases");
        let mut found = std::fs::read_dir(releases).into_iter().flatten().flatten();
        found.any(|release| release.path().join(RELEASE_ACCESS).is_file())
    }

    /// Changes `access.toml`, and records it before.
    fn change(
        &self,
        action: &str,
        target: &str,
        change: impl FnOnce(&mut AccessRules),
    ) -> Result<(), CommandError> {
        store::create_dir(self.paths.directory()).map_err(|error| {
            let directory = self.paths.directory().display();
            CommandError::new(format!("cannot create {directory}")).with_source(error)
        })?;
        let entry = AuditEntry {
            time: clock::timestamp(),
            actor: format!("uid {}", rustix::process::getuid().as_raw()),
            method: "command".to_owned(),
            address: "local".to_owned(),
            action: action.to_owned(),
            target: target.to_owned(),
            result: AuditResult::Accepted,
        };
        AuditLog::at(self.paths.audit_log())
            .append_blocking(entry)
            .map_err(audit_failed)?;
        AccessFile::update(&self.paths.access_file(), change).map_err(failed)
    }
}

/// A role with its devices.
fn role_text(role: Role, devices: Option<&DeviceLimit>) -> String {
    match devices {
        None => role.word().to_owned(),
        Some(devices) => format!("{} for {devices}", role.word()),
    }
}

fn audit_row(entry: &AuditEntry) -> Vec<String> {
    let time = seconds(entry.time);
    let texts = [
        &entry.actor,
        &entry.method,
        &entry.address,
        &entry.action,
        &entry.target,
    ];
    [&time]
        .into_iter()
        .chain(texts)
        .cloned()
        .chain([entry.result.word().to_owned()])
        .collect()
}

/// The password: two times from a terminal, else one line of standard input.
fn read_password() -> Result<SecretString, CommandError> {
    let failed =
        |error: io::Error| CommandError::new("cannot read the password").with_source(error);
    let password = if io::stdin().is_terminal() {
        let first: SecretString = rpassword::prompt_password("Password: ")
            .map_err(failed)?
            .into();
        let second: SecretString = rpassword::prompt_password("Repeat password: ")
            .map_err(failed)?
            .into();
        if first.expose_secret() != second.expose_secret() {
            return Err(CommandError::new("the passwords differ"));
        }
        first
    } else {
        let mut line = String::new();
        io::stdin().lock().read_line(&mut line).map_err(failed)?;
        SecretString::from(line.trim_end_matches(['\r', '\n']))
    };
    if password.expose_secret().chars().count() < SHORTEST_PASSWORD {
        Err(CommandError::new(format!(
            "the password has fewer than {SHORTEST_PASSWORD} characters"
        )))
    } else {
        Ok(password)
    }
}

fn unknown(kind: &str, name: &str) -> CommandError {
    CommandError::new(format!("unknown {kind} `{name}`"))
        .hint("list users and tokens with `switchtender access list`")
}

fn failed(error: AccessError) -> CommandError {
    let hint = error.hint();
    let command_error = CommandError::new("cannot use the users and tokens").with_source(error);
    match hint {
        Some(hint) => command_error.hint(hint),
        None => command_error,
    }
}

fn audit_failed(error: AuditError) -> CommandError {
    CommandError::new("cannot use the audit log").with_source(error)
}
