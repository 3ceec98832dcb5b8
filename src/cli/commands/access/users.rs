//! `access add-user` and `access remove-user`.

use std::io::{self, BufRead as _, IsTerminal as _};

use secrecy::{ExposeSecret as _, SecretString};

use super::access_files::AccessFiles;
use super::entry_options::parse_name;
use super::list::role_text;
use crate::cli::exit::CommandError;
use crate::serve::access::{ApiToken, DeviceLimit, LocalUser, Role, hash_password};

/// The length that a password has at least.
const SHORTEST_PASSWORD: usize = 8;

#[derive(Debug, clap::Args)]
pub(super) struct AddUserArgs {
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

/// Adds or replaces a user.
pub(super) fn add(files: &AccessFiles, args: &AddUserArgs) -> Result<(), CommandError> {
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
    files.change("add-user", &args.name, |rules| {
        rules.users.insert(args.name.clone(), user);
    })?;
    files.report_change(&format!(
        "user {} has the role {}",
        args.name,
        role_text(args.role, args.devices.as_ref())
    ));
    Ok(())
}

/// Removes a user with its tokens.
pub(super) fn remove(files: &AccessFiles, name: &str) -> Result<(), CommandError> {
    let tokens = files.remove("user", name, |rules| {
        let is_of_user = |token: &ApiToken| token.user.as_deref() == Some(name);
        let of_user = rules.tokens.extract_if(.., |_, token| is_of_user(token));
        let tokens: Vec<String> = of_user.map(|(token, _)| token).collect();
        rules.users.remove(name).map(|_| tokens)
    })?;
    let tokens = tokens.iter().map(|token| format!(", with token {token}"));
    let tokens: String = tokens.collect();
    files.report_change(&format!("user {name} is removed{tokens}"));
    Ok(())
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
