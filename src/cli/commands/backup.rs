//! `switchtender backup`: the running configurations of devices in files, and in Git.

use std::collections::BTreeMap;
use std::path::PathBuf;

use tokio_util::sync::CancellationToken;

use crate::cli::commands::resource::read_error;
use crate::cli::exit::{CommandError, Exit, eprint_notice, eprint_text, print};
use crate::cli::interrupt::stop_reads_on_signals;
use crate::cli::options::device_access::DeviceAccess;
use crate::cli::options::global::Global;
use crate::cli::options::selection::Selection;
use crate::cli::output::view::of_device;
use crate::cli::runtime::block_on;
use crate::cli::user_name::user_name;
use crate::clock;
use crate::fleet::backup::{BackupSecrets, DeviceBackup, backup};
use crate::fleet::backup_commit::{BackupCause, BackupCommitError, BackupRepository};
use crate::fleet::read_devices::{CONCURRENCY, read_devices};
use crate::store;
use crate::terminal_text::TerminalText;

/// Save the running configurations of devices as text for Git
///
/// Time stamps and other lines that change without a change of the configuration are left out. A
/// device that cannot be read keeps its old files. `plan --running DIR` reads the files, and
/// does not compare masked secrets. --commit commits the files of this backup to
/// Git, and no other changes.
///
/// Exit codes: 0 success, 1 a device could not be read, or Git has failed.
///
/// Example: switchtender backup configs --commit
#[derive(Debug, clap::Args)]
pub(crate) struct BackupArgs {
    /// Directory of the files: DIR/<device>.cfg is the configuration, DIR/<device>.json has further
    /// answers
    #[arg(value_name = "DIR")]
    directory: PathBuf,

    #[command(flatten)]
    selection: Selection,

    #[command(flatten)]
    access: DeviceAccess,

    /// Save secrets in clear text
    #[arg(long)]
    with_secrets: bool,

    /// Commit the files of this backup, if they have changed. DIR is in a Git work tree
    #[arg(long)]
    commit: bool,

    /// Push the current branch after the commit
    #[arg(long, requires = "commit")]
    push: bool,
}

pub(crate) fn run(args: &BackupArgs, global: &Global) -> Result<Exit, CommandError> {
    block_on(async {
        let repository = args.repository()?;
        let (connector, names) = args.access.select(&args.selection.parse()?).await?;
        let stop = CancellationToken::new();
        stop_reads_on_signals(&stop);
        let secrets = if args.with_secrets {
            BackupSecrets::Clear
        } else {
            BackupSecrets::Masked
        };
        let (mut saved, mut failed) = (0, 0);
        let mut written_files = BTreeMap::new();
        let read = move |connector| backup(connector, secrets);
        read_devices(&connector, names, CONCURRENCY, &stop, read, |name, read| {
            let written = read.and_then(|device: DeviceBackup| {
                for refused in &device.failed {
                    let reason = of_device(&name, refused);
                    eprint_notice(&format!("warning: not saved: {reason}"));
                }
                let DeviceBackup { backup, .. } = device;
                let files = [("cfg", backup.configuration), ("json", backup.answers)];
                for (extension, text) in files {
                    let Some(text) = text else { continue };
                    let file = format!("{}.{extension}", store::directory_name(&name));
                    store::write_file(&args.directory.join(&file), &text)?;
                    written_files.insert(file, name.to_string());
                }
                Ok(())
            });
            match written {
                Ok(()) => saved += 1,
                Err(error) => {
                    failed += 1;
                    eprint_text(&read_error(&name, &error).text(global.is_stderr_colored()));
                }
            }
        })
        .await;
        let failures = match failed {
            0 => String::new(),
            count => format!(", failed: {count}"),
        };
        print(&TerminalText::of_line(format_args!(
            "devices saved: {saved}{failures}"
        )));
        if let Some(repository) = repository {
            commit(&repository, &written_files).await?;
            if args.push {
                repository.push(&user_name()).await.map_err(git_error)?;
            }
        }
        Ok(if failed == 0 {
            Exit::SUCCESS
        } else {
            Exit::FAILURE
        })
    })
}

impl BackupArgs {
    /// The work tree for the commit. A missing one is known before a device is read.
    fn repository(&self) -> Result<Option<BackupRepository>, CommandError> {
        if !self.commit {
            return Ok(None);
        }
        store::create_dir(&self.directory).map_err(|error| {
            let text = format!("cannot create {}", self.directory.display());
            CommandError::new(text).with_source(error)
        })?;
        let opened = BackupRepository::open(&self.directory);
        Ok(Some(opened.map_err(git_error)?))
    }
}

/// Commits the files, and prints how many have changed.
async fn commit(
    repository: &BackupRepository,
    files: &BTreeMap<String, String>,
) -> Result<(), CommandError> {
    let cause = BackupCause {
        run: format!("switchtender backup, {:.0}", clock::timestamp()),
        user: user_name(),
    };
    let committed = repository.commit(files, &cause).await;
    let text = match committed.map_err(git_error)? {
        0 => "committed: nothing, because no file has changed".to_owned(),
        count => format!("committed: {count} files"),
    };
    print(&TerminalText::of_line(format_args!("{text}")));
    Ok(())
}

fn git_error(error: BackupCommitError) -> CommandError {
    let hint = error.hint();
    let text = error.to_string();
    let command_error = CommandError::new(text);
    match error {
        BackupCommitError::NoWorkTree(_) => command_error,
        BackupCommitError::Commit(error) | BackupCommitError::Push(error) => {
            command_error.with_source(error)
        }
    }
    .hint(hint)
}
