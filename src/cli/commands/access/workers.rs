//! `access add-worker` and `access remove-worker`.

use switchtender_devices::names::{Certname, InvalidName};

use super::access_files::AccessFiles;
use super::entry_options::{expiry, parse_name};
use super::tokens::print_token;
use crate::cli::exit::CommandError;
use crate::serve::access::{TokenText, WorkerEntry};

#[derive(Debug, clap::Args)]
pub(super) struct AddWorkerArgs {
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

/// Adds or replaces a worker, and prints its token if it has one.
pub(super) fn add(files: &AccessFiles, args: &AddWorkerArgs) -> Result<(), CommandError> {
    let token = args.certificate.is_none().then(TokenText::random);
    let worker = WorkerEntry {
        sites: args.sites.iter().cloned().collect(),
        sha256: token.as_ref().map(TokenText::digest),
        certificate: args.certificate.clone(),
        expires: expiry(args.expires_in),
    };
    files.change("add-worker", &args.name, |rules| {
        rules.workers.insert(args.name.clone(), worker);
    })?;
    let sites = args.sites.join(", ");
    files.report_change(&format!(
        "worker {} may run the devices of {sites}",
        args.name
    ));
    if let Some(token) = &token {
        print_token(token);
    }
    Ok(())
}

pub(super) fn remove(files: &AccessFiles, name: &str) -> Result<(), CommandError> {
    files.remove("worker", name, |rules| rules.workers.remove(name))?;
    files.report_change(&format!("worker {name} is removed"));
    Ok(())
}
