//! `switchtender run`: requests a run from the process of `switchtender serve`.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use clap::builder::PossibleValue;

use switchtender_devices::regular_file;

use crate::cli::exit::{CommandError, Exit, print, print_json};
use crate::cli::options::global::Global;
use crate::cli::options::output_format::Output;
use crate::cli::options::serve_state;
use crate::cli::options::state_root::state_root;
use crate::cli::runtime::block_on;
use crate::report::RunStatus;
use crate::run_kind::RunKind;
use crate::serve::access::AccessPaths;
use crate::serve::client::{ApiClient, ClientError, ServerTrust, check_target};
use crate::serve::request::RequestedKind;
use crate::serve::settings::{DEFAULT_SETTINGS, ServeSettings};
use crate::terminal_text::TerminalText;

/// Request a run of a device from `switchtender serve`
///
/// Exit codes with --wait: 0 success, 1 a failure, or a device that could not run.
///
/// Examples:
///   switchtender run sw1 --wait
///   switchtender run sw1 --kind plan --wait --output json
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct RunDeviceArgs {
    /// Name of the device
    #[arg(value_name = "DEVICE")]
    device: String,

    /// What the run does
    #[arg(long, value_enum, default_value_t)]
    kind: RequestedKind,

    /// Wait for the end of the run and print its result
    #[arg(long)]
    wait: bool,

    /// Settings of the process, for its address and its state directory
    #[arg(long, value_name = "FILE", default_value = DEFAULT_SETTINGS)]
    config: PathBuf,

    /// Address of the process; default: serve/url in the state directory, else `listen` of the settings
    #[arg(long, value_name = "URL")]
    url: Option<String>,

    /// File with an API token, readable by its owner only; default: serve/local.token in the state
    /// directory, which is sent to the process of that directory only
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,

    /// Certificates to trust for an https URL; default: the certificate of the settings
    #[arg(long, value_name = "FILE")]
    ca_file: Option<PathBuf>,

    /// State directory, also if the settings name another one; default: that of the settings, else
    /// $SWITCHTENDER_STATE, else /var/lib/switchtender for root, ~/.local/state/switchtender for others
    #[arg(long, value_name = "DIR")]
    state_dir: Option<PathBuf>,

    /// Output format
    #[arg(short, long, value_enum, default_value_t = Output::Human)]
    output: Output,
}

/// The address that the process has stored: a port of the settings can be 0. Else that of the settings.
fn stored_url(paths: &AccessPaths, settings: &ServeSettings) -> String {
    let stored = std::fs::read_to_string(paths.url()).ok();
    // The first line is the address for programs on this host.
    let stored = stored.and_then(|text| text.lines().next().map(str::to_owned));
    let scheme = if settings.web.tls.is_some() {
        "https"
    } else {
        "http"
    };
    stored.unwrap_or_else(|| format!("{scheme}://{}", settings.listen))
}

impl ValueEnum for RequestedKind {
    fn value_variants<'a>() -> &'a [Self] {
        &Self::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let value = PossibleValue::new(self.word());
        Some(match self.0 {
            None => value.help("As a scheduled run: a plan outside change windows"),
            Some(RunKind::Apply) => value.help("Also outside change windows"),
            Some(RunKind::Plan | RunKind::Noop) => value,
        })
    }
}

pub(crate) fn run(args: &RunDeviceArgs, _: &Global) -> Result<Exit, CommandError> {
    let client = args.client()?;
    block_on(async {
        let failed = |error: ClientError| args.failed(error);
        let run = client.request_run(&args.device, args.kind).await;
        let run = run.map_err(failed)?;
        if !args.wait {
            match args.output {
                Output::Json => print_json(&format!("{}\n", serde_json::json!({ "run": run }))),
                Output::Human => print(&TerminalText::of_line(format_args!("run {run}"))),
            }
            return Ok(Exit::SUCCESS);
        }
        let result = client.wait(run).await.map_err(failed)?;
        let status = result["status"].as_str().unwrap_or("unknown");
        match args.output {
            Output::Json => print_json(&format!("{result}\n")),
            Output::Human => {
                let mut text = TerminalText::new();
                text.line(format_args!("{}: {status}, run {run}", args.device));
                if let Some(error) = result["error"].as_str() {
                    text.line(format_args!("  error: {error}"));
                } else if let Some(note) = result["hint"].as_str() {
                    text.line(format_args!("  {note}"));
                }
                if args.names_own_process() {
                    text.line(format_args!("details: switchtender report {run}"));
                } else {
                    text.line(format_args!("details: {}", client.page_of(run)));
                }
                print(&text);
            }
        }
        let is_success = matches!(
            status.parse(),
            Ok(RunStatus::Unchanged | RunStatus::Changed | RunStatus::Pending)
        );
        Ok(if is_success {
            Exit::SUCCESS
        } else {
            Exit::FAILURE
        })
    })
}

impl RunDeviceArgs {
    /// Whether other commands use the store of the process, too: that of the settings in the current directory.
    fn names_own_process(&self) -> bool {
        self.url.is_none() && self.state_dir.is_none() && self.config == Path::new(DEFAULT_SETTINGS)
    }

    fn client(&self) -> Result<ApiClient, CommandError> {
        // An address and a token need no settings.
        let needs_settings = self.url.is_none() || self.token_file.is_none();
        let settings = if needs_settings && self.config.exists() {
            Some(ServeSettings::load(&self.config).map_err(CommandError::findings)?)
        } else {
            None
        };
        let is_worker = settings
            .as_ref()
            .is_some_and(|settings| settings.fleet.join.is_some());
        if is_worker && self.url.is_none() {
            let text = format!(
                "cannot run {}: {} is that of a worker, which takes no requests",
                self.device,
                self.config.display()
            );
            return Err(CommandError::new(text)
                .hint("run the command at a hub, or name one with --url and --token-file"));
        }
        let paths = || {
            let state_dir = self.state_dir(settings.as_ref())?;
            Ok(AccessPaths::in_state_directory(&state_dir))
        };
        let url = match (&self.url, &settings) {
            (Some(url), _) => {
                check_target(url).map_err(|error| self.failed(error))?;
                url.clone()
            }
            (None, Some(settings)) => stored_url(&paths()?, settings),
            (None, None) => {
                let text = format!("cannot read {}: no such file", self.config.display());
                return Err(CommandError::new(text)
                    .hint("name the settings with --config, or the process with --url"));
            }
        };
        let token_file = match &self.token_file {
            Some(path) => path.clone(),
            None => {
                let paths = paths()?;
                self.check_own_process(&paths)?;
                paths.local_token()
            }
        };
        let trust = self.trust(settings.as_ref())?;
        ApiClient::new(&url, &token_file, trust).map_err(|error| self.failed(error))
    }

    /// Refuses to send the token of the process to another one.
    fn check_own_process(&self, paths: &AccessPaths) -> Result<(), CommandError> {
        let Some(url) = &self.url else {
            return Ok(());
        };
        let plain = |url: &str| url.trim_end_matches('/').to_owned();
        let stored = std::fs::read_to_string(paths.url()).unwrap_or_default();
        if stored.lines().any(|own| plain(own) == plain(url)) {
            return Ok(());
        }
        let directory = paths.directory().display();
        let text =
            format!("{url} is not the process of {directory}, whose token is not sent there");
        Err(CommandError::new(text).hint("name the token of that process with --token-file"))
    }

    /// The certificates of the command line, or that of the process.
    fn trust(&self, settings: Option<&ServeSettings>) -> Result<ServerTrust, CommandError> {
        let tls = settings.and_then(|settings| settings.web.tls.as_ref());
        let read = |path: &Path| {
            regular_file::read_text(path, regular_file::LARGEST).map_err(|error| {
                CommandError::new(format!("cannot read {}", path.display())).with_source(error)
            })
        };
        Ok(match (&self.ca_file, tls) {
            (Some(path), _) => ServerTrust::Issuers(read(path)?),
            (None, Some(tls)) => ServerTrust::Certificate(read(&tls.files.certificate)?),
            (None, None) => ServerTrust::None,
        })
    }

    fn state_dir(&self, settings: Option<&ServeSettings>) -> Result<PathBuf, CommandError> {
        match (&self.state_dir, settings) {
            (Some(dir), _) => Ok(dir.clone()),
            (None, Some(settings)) => serve_state::state_directory(settings),
            (None, None) => state_root(),
        }
    }

    fn failed(&self, error: ClientError) -> CommandError {
        let unconnected =
            "check that `switchtender serve` runs, and the address and the state directory";
        let hint = match &error {
            ClientError::Token(file) => file.hint().or(Some(unconnected.to_owned())),
            ClientError::Send(_) => Some(unconnected.to_owned()),
            ClientError::Refused { hint, .. } => hint.clone(),
            ClientError::PlainHttp { .. } => Some("use an https URL".to_owned()),
            _ => None,
        };
        let text = format!("cannot run {}", self.device);
        CommandError::new(text)
            .with_source(error)
            .optional_hint(hint)
    }
}
