//! `switchtender access`: users and tokens of `switchtender serve`, and its audit log.

mod access_files;
mod audit;
mod entry_options;
mod list;
mod login_link;
mod tokens;
mod users;
mod workers;

use clap::Subcommand;

use access_files::AccessFiles;
use audit::AuditArgs;
use entry_options::AccessNameArgs;
use tokens::AddTokenArgs;
use users::AddUserArgs;
use workers::AddWorkerArgs;

use crate::cli::exit::{CommandError, Exit};
use crate::cli::options::global::Global;
use crate::cli::options::serve_state::ServeStateArgs;
use crate::serve::access::AccessPaths;

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

pub(crate) fn run(args: &AccessArgs, global: &Global) -> Result<Exit, CommandError> {
    let root = args.state.directory()?;
    let files = AccessFiles {
        paths: AccessPaths::in_state_directory(&root),
    };
    match &args.command {
        AccessCommand::List => list::list(&files),
        AccessCommand::AddUser(args) => users::add(&files, args),
        AccessCommand::AddToken(args) => tokens::add(&files, args),
        AccessCommand::AddWorker(args) => workers::add(&files, args),
        AccessCommand::RemoveWorker(args) => workers::remove(&files, &args.name),
        AccessCommand::RemoveUser(args) => users::remove(&files, &args.name),
        AccessCommand::RemoveToken(args) => tokens::remove(&files, &args.name),
        AccessCommand::Link => login_link::print_link(&files.paths),
        AccessCommand::Audit(args) => audit::print_entries(&files.paths, args, global),
    }?;
    Ok(Exit::SUCCESS)
}
