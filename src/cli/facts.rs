//! `switchtender facts`: what a device says about itself.

use super::block_on;
use super::exit::{CommandError, Exit, print};
use super::one_device::OneDevice;
use crate::fleet::look;

/// Show the facts of a device as JSON
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    device: OneDevice,
}

pub fn run(args: &Args) -> Result<Exit, CommandError> {
    block_on(async {
        let (reach, name) = args.device.reach().await?;
        let facts = look::facts(&reach, &name).await.map_err(|error| {
            let text = format!("cannot get the facts of {name}");
            let hint = error.hint();
            let findings = error.findings().to_vec();
            CommandError {
                hint,
                findings,
                ..CommandError::new(text).because(error)
            }
        })?;
        let text = serde_json::to_string_pretty(&facts);
        print(&format!("{}\n", text.expect("facts are texts")));
        Ok(Exit::SUCCESS)
    })
}
