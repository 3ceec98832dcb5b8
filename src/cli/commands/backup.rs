//! `switchtender backup`: the running configurations of devices in files.

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
use crate::fleet::backup::{BackupSecrets, DeviceBackup, backup};
use crate::fleet::read_devices::{CONCURRENCY, read_devices};
use crate::store;
use crate::terminal_text::TerminalText;

/// Save the running configurations of devices as text for Git
///
/// Time stamps and other lines that change without a change of the configuration are left out. A
/// device that cannot be read keeps its old files. `plan --running DIR` reads the files, and
/// does not compare masked secrets.
///
/// Exit codes: 0 success, 1 a device could not be read.
///
/// Example: switchtender backup configs && git -C configs commit -am 'configurations'
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
}

pub(crate) fn run(args: &BackupArgs, global: &Global) -> Result<Exit, CommandError> {
    block_on(async {
        let (connector, names) = args.access.select(&args.selection.parse()?).await?;
        let stop = CancellationToken::new();
        stop_reads_on_signals(&stop);
        let secrets = if args.with_secrets {
            BackupSecrets::Clear
        } else {
            BackupSecrets::Masked
        };
        let (mut saved, mut failed) = (0, 0);
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
                    store::write_file(&args.directory.join(file), &text)?;
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
        Ok(if failed == 0 {
            Exit::SUCCESS
        } else {
            Exit::FAILURE
        })
    })
}
