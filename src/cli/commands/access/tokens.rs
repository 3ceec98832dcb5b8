//! `access add-token` and `access remove-token`.

use super::access_files::AccessFiles;
use super::entry_options::{expiry, parse_name};
use super::list::role_text;
use crate::cli::exit::{CommandError, eprint_notice, print};
use crate::serve::access::{ApiToken, DeviceLimit, Role, TokenText};
use crate::terminal_text::TerminalText;

#[derive(Debug, clap::Args)]
pub(super) struct AddTokenArgs {
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

/// Adds or replaces a token, and prints it.
pub(super) fn add(files: &AccessFiles, args: &AddTokenArgs) -> Result<(), CommandError> {
    let rules = files.rules()?;
    if let Some(user) = &args.user
        && !rules.users.contains_key(user)
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
    let token = ApiToken {
        role: args.role,
        devices: args.devices.clone(),
        user: args.user.clone(),
        sha256: text.digest(),
        expires: expiry(args.expires_in),
    };
    files.change("add-token", &args.name, |rules| {
        rules.tokens.insert(args.name.clone(), token);
    })?;
    files.report_change(&format!(
        "token {} has the role {}",
        args.name,
        role_text(args.role, args.devices.as_ref())
    ));
    print_token(&text);
    Ok(())
}

pub(super) fn remove(files: &AccessFiles, name: &str) -> Result<(), CommandError> {
    files.remove("token", name, |rules| rules.tokens.remove(name))?;
    files.report_change(&format!("token {name} is removed"));
    Ok(())
}

/// Prints a new token.
pub(super) fn print_token(token: &TokenText) {
    eprint_notice("the token is printed once; store it in a safe");
    print(&TerminalText::of_line(token.expose()));
}
