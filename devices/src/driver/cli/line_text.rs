//! Checks the text of all lines before they are sent: modes, lines and bodies.

use super::CliType;
use crate::driver::context::Context;
use crate::driver::implementation::RenderError;
use crate::names::PlatformName;
use crate::operation::Operation;
use crate::secret::Text;
use crate::value::{Attributes, Name};

/// The reason why a platform does not accept the text of a line. It contains no part of the text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum LineTextError {
    #[error("the line contains a control character")]
    ControlCharacter,
    #[error("{platform} does not accept `{character}` in text")]
    RefusedCharacter {
        platform: PlatformName,
        character: char,
    },
    #[error("the line has {length} bytes; {platform} accepts {limit}")]
    TooLong {
        platform: PlatformName,
        length: usize,
        limit: usize,
    },
}

/// A text that the platform does not accept, and the attribute that it is for.
#[derive(Clone, Debug)]
pub(super) struct RefusedText {
    pub(super) attribute: String,
    pub(super) error: LineTextError,
}

impl From<RefusedText> for RenderError {
    fn from(refused: RefusedText) -> Self {
        RenderError::new(refused.attribute, refused.error.to_string())
    }
}

/// What a platform accepts in a line.
#[derive(Clone, Debug)]
pub(crate) struct LineRules {
    pub(crate) platform: PlatformName,
    /// Longest line in bytes.
    pub(crate) limit: usize,
    pub(crate) refused_characters: String,
}

impl LineRules {
    pub(crate) fn of(context: &Context<'_>) -> Self {
        Self {
            platform: context.platform.clone(),
            limit: context.line_limit,
            refused_characters: context.refused_characters.to_owned(),
        }
    }

    /// # Errors
    /// The platform does not accept the text.
    pub(crate) fn check(&self, text: &Text) -> Result<(), LineTextError> {
        if text.chars().any(char::is_control) {
            return Err(LineTextError::ControlCharacter);
        }
        let mut characters = text.chars();
        if let Some(character) = characters.find(|c| self.refused_characters.contains(*c)) {
            return Err(LineTextError::RefusedCharacter {
                platform: self.platform.clone(),
                character,
            });
        }
        if text.len() > self.limit {
            return Err(LineTextError::TooLong {
                platform: self.platform.clone(),
                length: text.len(),
                limit: self.limit,
            });
        }
        Ok(())
    }
}

impl CliType {
    /// All lines of these operations that the platform does not accept. Lines that enter a mode
    /// are reported for the first namevar.
    pub(super) fn unsendable_lines(&self, operations: &[Operation]) -> Vec<RefusedText> {
        let mut errors = Vec::new();
        let mut mode: &[Text] = &[];
        for operation in operations {
            let Some(line) = operation.line() else {
                continue;
            };
            let attribute = operation.attributes.first().map(Name::as_str);
            let own = line.text.iter().chain(&line.body);
            let mut texts: Vec<(&str, &Text)> = own
                .map(|text| (attribute.unwrap_or("refresh"), text))
                .collect();
            if line.mode != mode {
                mode = &line.mode;
                texts.extend(mode.iter().map(|text| (self.first_namevar(), text)));
            }
            for (attribute, text) in texts {
                if let Err(error) = self.lines.check(text) {
                    errors.push(RefusedText {
                        attribute: attribute.to_owned(),
                        error,
                    });
                }
            }
        }
        errors
    }

    /// Names of an instance that cannot be part of any line.
    pub(super) fn unsendable_names(&self, attributes: &Attributes) -> Vec<RefusedText> {
        let names = self.model.namevars();
        let words = names.filter_map(|name| {
            let text = Text::plain(attributes.get(name)?.scalar_text()?);
            let error = self.lines.check(&text).err()?;
            Some(RefusedText {
                attribute: name.to_owned(),
                error,
            })
        });
        words.collect()
    }

    fn first_namevar(&self) -> &str {
        self.model.namevars().next().unwrap_or("name")
    }
}
