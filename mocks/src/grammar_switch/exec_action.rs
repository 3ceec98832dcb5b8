//! The actions of a session that a grammar can name.

/// An action, `do ACTION` of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ExecAction {
    /// `enable`: the privileged mode.
    Enable,
    /// `disable`: the mode before it.
    Disable,
    /// `configure`: the configuration mode.
    Configure,
    /// `session`: a candidate configuration with the name of the first argument.
    Session,
    /// `leave`: the mode outside of the current one.
    Leave,
    /// `end`: the privileged mode.
    End,
    /// `close`: the connection ends.
    Close,
    /// `length`: the lines of a page.
    Length,
    /// `nothing`: accepted without an effect.
    Nothing,
    /// `save`: the running configuration is saved.
    Save,
    /// `running [TEXT]`: the running configuration, or its lines that begin with the text.
    Running(String),
    /// `running-all`: the running configuration with its defaults.
    RunningAll,
    /// `startup`: the saved configuration.
    Startup,
    /// `commit`: the candidate takes effect.
    Commit,
    /// `commit-timer`: the candidate takes effect until the timer of the first argument ends.
    CommitTimer,
    /// `abort`: the candidate is discarded.
    Abort,
    /// `confirm`: the change with a timer remains.
    Confirm,
    /// `diffs`: the differences of the candidate.
    Diffs,
    /// `show NAME`: the output of a template.
    Show(String),
    /// `clear-line`: the session on the line of the last argument ends.
    ClearLine,
}

impl ExecAction {
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (name, detail) = text.split_once(' ').unwrap_or((text, ""));
        Some(match name {
            "enable" => Self::Enable,
            "disable" => Self::Disable,
            "configure" => Self::Configure,
            "session" => Self::Session,
            "leave" => Self::Leave,
            "end" => Self::End,
            "close" => Self::Close,
            "length" => Self::Length,
            "nothing" => Self::Nothing,
            "save" => Self::Save,
            "running" => Self::Running(detail.to_owned()),
            "running-all" => Self::RunningAll,
            "startup" => Self::Startup,
            "commit" => Self::Commit,
            "commit-timer" => Self::CommitTimer,
            "abort" => Self::Abort,
            "confirm" => Self::Confirm,
            "diffs" => Self::Diffs,
            "clear-line" => Self::ClearLine,
            "show" if !detail.is_empty() => Self::Show(detail.to_owned()),
            _ => return None,
        })
    }
}
