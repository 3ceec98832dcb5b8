//! Options of a structural mock, from the definition of its platform.

use switchtender_devices::driver::{
    CommandLineOutline, LineOutline, ListOutline, MoveOutline, NegativeForm, OutlineError,
    Platform, RemovalOutline, SetOutline,
};
use switchtender_devices::read::Reads;
use switchtender_mocks::StructuralOptions;
use switchtender_mocks::structural::{
    self, CommandLine, LineShape, ListForm, ListShape, MoveShape, RemovalShape, SetShape,
    StructuralMode,
};

/// It is part of no word of a configuration: secrets are masked wherever they stand.
pub(crate) const DEFAULT_PASSWORD: &str = "mock-password";

/// A structural mock of a platform, with saved answers by name of the read, and what it cannot show.
///
/// # Errors
/// The platform has no command line with a configuration of lines.
pub(crate) fn describe(
    name: &str,
    platform: &Platform,
    saved: &Reads,
) -> Result<(StructuralOptions, Vec<String>), OutlineError> {
    let outline = platform.outline(name, saved)?;
    let notes = notes(&outline, saved);
    let options = StructuralOptions {
        name: name.to_owned(),
        user: "admin".to_owned(),
        password: DEFAULT_PASSWORD.to_owned(),
        config: outline.config.clone(),
        command_line: command_line(outline),
        exchanges_in_memory: 0,
        faults: Vec::new(),
    };
    Ok((options, notes))
}

/// What a structural mock is, and the reads that it cannot answer or update.
fn notes(outline: &CommandLineOutline, saved: &Reads) -> Vec<String> {
    let mut notes = vec![
        "structural mock: it keeps lines and blocks as the definition describes them, \
         and is no proof for a real device"
            .to_owned(),
    ];
    for read in &outline.unanswered {
        notes.push(format!(
            "structural mock: `{}` has no answer; save one as `{}` in the JSON file of the device",
            read.command, read.name
        ));
    }
    for (name, command) in &outline.constant {
        if saved.contains_key(name) {
            notes.push(format!(
                "structural mock: the answer to `{command}` is the saved one and never changes"
            ));
        }
    }
    notes
}

/// The command line of a mock.
pub(crate) fn command_line(outline: CommandLineOutline) -> CommandLine {
    let modes = outline.modes.into_iter().map(|mode| StructuralMode {
        name: mode.name,
        prompt: mode.prompt,
        transitions: mode.transitions,
    });
    let (commit, abort) = match outline.candidate {
        Some(candidate) => (candidate.commit, Some(candidate.abort)),
        None => (Vec::new(), None),
    };
    CommandLine {
        modes: modes.collect(),
        read_mode: outline.read_mode,
        config_mode: outline.config_mode,
        sub_mode: outline.sub_mode,
        direct_sub_modes: outline.direct_sub_modes,
        config_command: outline.config_command,
        answers: outline.answers,
        close: outline.close,
        commit,
        abort,
        refusal: outline.refusal,
        negate: outline.negate,
        negate_replaces: outline.negate_replaces,
        shapes: outline.lines.into_iter().map(shape).collect(),
        removals: outline.removals.into_iter().map(removal).collect(),
        moves: outline.moves.into_iter().map(movement).collect(),
        lists: outline.lists.into_iter().map(list).collect(),
        sets: outline.sets.into_iter().map(set).collect(),
        last: outline.last,
        hostname: outline.hostname,
    }
}

fn movement(line: MoveOutline) -> MoveShape {
    MoveShape {
        block: line.block,
        moved: line.moved,
        target: line.target,
        is_before: line.is_before,
        lines: line.lines,
    }
}

fn list(line: ListOutline) -> ListShape {
    ListShape {
        pattern: line.pattern,
        form: if line.has_numbers {
            ListForm::Numbers(line.limits)
        } else {
            ListForm::Words
        },
    }
}

fn set(line: SetOutline) -> SetShape {
    SetShape {
        complete: line.complete,
        more: line.more,
        less: line.less,
        limits: line.limits,
        without_line: line.without_line,
    }
}

fn removal(line: RemovalOutline) -> RemovalShape {
    RemovalShape {
        block: line.block,
        removed_by: line.removed_by,
        removed: line.removed,
    }
}

fn shape(line: LineOutline) -> LineShape {
    LineShape {
        block: line.block,
        patterns: line.patterns,
        is_header: line.is_header,
        is_unique: line.is_unique,
        reaches_inner: line.reaches_inner,
        unprinted: line.unprinted,
        negative: match line.negative {
            NegativeForm::Absent => structural::NegativeForm::Absent,
            NegativeForm::Printed => structural::NegativeForm::Printed,
            NegativeForm::OnlyPrinted => structural::NegativeForm::OnlyPrinted,
        },
    }
}
