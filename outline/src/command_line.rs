//! The structure of a command line: modes, prompts, answers and the shapes of lines.

/// The structure of a command line.
#[derive(Clone, Debug, Default)]
pub struct CommandLine {
    /// All modes.
    pub modes: Vec<CommandMode>,
    /// The index of the mode after login, in which commands are answered.
    pub read_mode: usize,
    /// The index of the mode of lines outside of blocks.
    pub config_mode: usize,
    /// The index of the mode of all blocks; without it, blocks are no modes.
    pub sub_mode: Option<usize>,
    /// A block can be entered from another one.
    pub direct_sub_modes: bool,
    /// The command that prints the configuration.
    pub config_command: String,
    /// Other commands with their output, in all modes.
    pub answers: Vec<(String, String)>,
    /// Commands of [`read_mode`](Self::read_mode) that end the session.
    pub close: Vec<String>,
    /// Commands that commit the configuration.
    pub commit: Vec<String>,
    /// The command that discards what is not committed.
    pub abort: Option<String>,
    /// The output for all other commands.
    pub refusal: String,
    /// The first word of lines that remove lines.
    pub negate: String,
    /// The first word that `negate` replaces. Other lines must have a shape.
    pub negate_replaces: Option<String>,
    /// The first words of lines that mark others as inactive, and of those that activate them. They
    /// stand in place of [`negate_replaces`](Self::negate_replaces).
    pub inactive: Option<(String, String)>,
    /// The lines of the configuration.
    pub shapes: Vec<LineShape>,
    /// Lines that remove others by their names.
    pub removals: Vec<RemovalShape>,
    /// Lines that move others by their names.
    pub moves: Vec<MoveShape>,
    /// Lines that stand for several.
    pub lists: Vec<ListShape>,
    /// Lines with sets of numbers that other lines change.
    pub sets: Vec<SetShape>,
    /// Pattern of the last line of the configuration.
    pub last: Option<String>,
    /// The pattern of the host name in the configuration (group 1), and the host name of the prompts.
    pub hostname: Option<(String, String)>,
}

/// A mode of a command line.
#[derive(Clone, Debug, Default)]
pub struct CommandMode {
    /// Its name.
    pub name: String,
    /// A prompt of the mode.
    pub prompt: String,
    /// The lines that lead to other modes, and the indexes of these.
    pub transitions: Vec<(String, usize)>,
}

/// The lines for one setting at one position of the configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineShape {
    /// Patterns of the headers around the line, outermost first.
    pub block: Vec<String>,
    /// Patterns of the line. A pattern matches a complete line behind a blank. Named groups are the
    /// names of the setting, in the order of the names of the groups: lines with other names are
    /// other settings.
    pub patterns: Vec<String>,
    /// The line is the header of a block.
    pub is_header: bool,
    /// A line replaces the other lines of the setting.
    pub is_unique: bool,
    /// The line without its rest is the name of a setting, and removes its lines in inner blocks too.
    pub reaches_inner: bool,
    /// What the configuration has after the line that removes.
    pub negative: NegativeForm,
    /// Patterns of the lines that the configuration does not have after they were sent.
    pub unprinted: Vec<String>,
    /// Lines of the top level without which the line is refused.
    pub needs: Vec<String>,
    /// The line after which the block of the header is left: the lines between are a text.
    pub text_end: Option<String>,
}

/// A line that removes the lines with the same names, where these stand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RemovalShape {
    /// Patterns of the headers around the lines, outermost first.
    pub block: Vec<String>,
    /// Pattern of the line that removes, with the names as in [`LineShape::patterns`].
    pub removed_by: String,
    /// Patterns of the lines that are removed.
    pub removed: Vec<String>,
}

/// A line that moves the lines with its names before or behind others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MoveShape {
    /// Patterns of the headers around the lines, outermost first.
    pub block: Vec<String>,
    /// Pattern of the line that moves, with the names of the lines that are moved.
    pub moved: String,
    /// The same with the names of the lines at the new position.
    pub target: String,
    /// The lines move before the others.
    pub is_before: bool,
    /// Patterns of the lines, with their names.
    pub lines: Vec<String>,
}

/// A line that stands for several: one with each element of the list in group 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListShape {
    /// Pattern of the line.
    pub pattern: String,
    /// How the line has the elements.
    pub form: ListForm,
}

/// How a line has the elements of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListForm {
    /// Words with blanks between them.
    Words,
    /// Numbers and ranges, `1,5-7`. With limits, `all` are all numbers between them.
    Numbers(Option<(u32, u32)>),
}

/// A line with a set of numbers, and the lines that change it; the numbers are group 1 of each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetShape {
    /// Pattern of the line of the set.
    pub complete: String,
    /// Pattern of the line that adds numbers.
    pub more: String,
    /// Pattern of the line that removes numbers.
    pub less: String,
    /// The lowest and the highest number.
    pub limits: (u32, u32),
    /// The set of a device without a line: `all`, `none` or numbers. Its line is not printed.
    pub without_line: Option<String>,
}

/// What a configuration has after a line that removes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NegativeForm {
    /// Nothing.
    #[default]
    Absent,
    /// The line that removes.
    Printed,
    /// The line that removes; and nothing after the line that sets.
    OnlyPrinted,
}

impl LineShape {
    /// Lines with these patterns in a block.
    pub fn new(block: &[String], patterns: Vec<String>) -> Self {
        Self {
            block: block.to_vec(),
            patterns,
            ..Self::default()
        }
    }
}
