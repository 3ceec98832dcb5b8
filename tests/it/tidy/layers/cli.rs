//! The layers inside `src/cli`.

use super::Layers;

pub(super) const LAYERS: Layers = Layers {
    folder: "src/cli",
    layers: &[
        &["core_dumps", "exit", "user_name"],
        &["runtime"],
        &["options"],
        &["output"],
        &["help", "interrupt"],
        &["commands"],
        &["cli"],
    ],
    // The help of every command is made of the command line, of which commands are a part.
    exceptions: &[("help.rs", "cli")],
};
