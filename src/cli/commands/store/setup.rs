//! `switchtender store setup`: the SQL of the roles of a store in PostgreSQL.

use crate::cli::exit::{Exit, print_document};
use crate::history::roles;

/// Print the SQL of the roles for a database: owner, process and reader
///
/// A superuser runs it in the database, also again. The roles have no passwords yet.
///
/// Example: switchtender store setup | psql --dbname=switchtender
#[derive(Debug, clap::Args)]
pub(super) struct StoreSetupArgs {}

pub(super) fn run() -> Exit {
    print_document(&roles::setup_sql());
    Exit::SUCCESS
}
