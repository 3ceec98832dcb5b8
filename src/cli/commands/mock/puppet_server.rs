//! `switchtender mock puppet-server`: a Puppet Server with catalogs from a directory.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use switchtender_mocks::puppet_server::PuppetServer;
use switchtender_mocks::puppet_server::ca::CertificateAuthority;

use crate::cli::exit::{CommandError, Exit, print};
use crate::cli::options::catalog_arguments;
use crate::terminal_text::TerminalText;

/// Start a Puppet Server with a CA of its own, until interrupted
///
/// It signs each certificate request at once, and serves each catalog to the node of its name.
///
/// Example: switchtender mock puppet-server catalogs --port 8140
#[derive(Debug, clap::Args)]
pub(super) struct MockPuppetServerArgs {
    /// Catalogs: files, or directories (all *.json below)
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// Port of the server. 0 selects a free port
    #[arg(long, default_value_t = 0)]
    port: u16,
}

pub(super) fn run(args: &MockPuppetServerArgs) -> Result<Exit, CommandError> {
    let mut catalogs = Vec::new();
    for path in catalog_arguments::files(&args.paths).map_err(|error| error.exit(1))? {
        catalogs.push(read(&path)?);
    }
    let failed =
        |error: std::io::Error| CommandError::new("cannot start the mock").with_source(error);
    let directory = tempfile::tempdir().map_err(failed)?;
    crate::cli::runtime::block_on(async {
        let server = PuppetServer::start_with(CertificateAuthority::new(), args.port);
        let server = server.await.map_err(failed)?;
        let ca_file = directory.path().join("ca.pem");
        let mut names = Vec::new();
        let bundle = {
            let mut state = server.state();
            for (name, catalog) in catalogs {
                names.push(name.clone());
                state.catalogs.insert((name, "*".to_owned()), catalog);
            }
            state.ca.bundle()
        };
        fs::write(&ca_file, bundle).map_err(failed)?;
        print(&render(server.port(), &ca_file, &names));
        crate::cli::interrupt::interrupted().await;
        server.stop();
        Ok(Exit::SUCCESS)
    })
}

/// The name and the content of a catalog.
fn read(path: &Path) -> Result<(String, Value), CommandError> {
    let failed = || CommandError::new(format!("cannot read the catalog {}", path.display()));
    let bytes = catalog_arguments::read(path).map_err(|error| failed().with_source(error))?;
    let catalog: Value =
        serde_json::from_slice(&bytes).map_err(|error| failed().with_source(error))?;
    match catalog["name"].as_str() {
        Some(name) => Ok((name.to_owned(), catalog)),
        None => Err(failed()
            .with_source("it has no name")
            .hint("set \"name\" to the certname of the device")),
    }
}

fn render(port: u16, ca_file: &Path, names: &[String]) -> TerminalText {
    let mut text = TerminalText::of_line(format_args!("puppet server: https://localhost:{port}"));
    text.line(format_args!("CA certificates: {}", ca_file.display()));
    text.line(format_args!("catalogs: {}", names.join(", ")));
    text.line("With the devices in pup/device.conf, and no other settings of this host:");
    text.line(format_args!(
        "  switchtender device --confdir pup --vardir pup/var --server localhost --serverport {port} --noop"
    ));
    text
}
