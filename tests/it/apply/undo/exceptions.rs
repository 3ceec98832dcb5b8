//! What an undo leaves although it is complete, by type, and why.

/// Lines that the undo of a run leaves.
pub(super) struct UndoExceptions {
    /// The run has changed a resource of this type.
    pub(super) changed_type: &'static str,
    /// Whole lines with their blocks: `-` is missing after the undo, `+` is left.
    texts: &'static [&'static str],
}

impl UndoExceptions {
    pub(super) fn has(&self, text: &str) -> bool {
        self.texts.contains(&text)
    }
}

pub(super) const EXCEPTIONS: &[UndoExceptions] = &[
    // A server that returns is the last one.
    UndoExceptions {
        changed_type: "Name_server",
        texts: &[
            "+ ip name-server 2001:DB8::53 192.0.2.53",
            "- ip name-server 192.0.2.53 2001:DB8::53",
        ],
    },
    // The switch prints the block without lines.
    UndoExceptions {
        changed_type: "Ios_stp_global",
        texts: &["+ spanning-tree mst configuration"],
    },
];
