//! Enumerations that are words in columns, JSON and texts.

/// A text that is no word of an enumeration.
#[derive(Debug, thiserror::Error)]
#[error("{text:?} is no {name}")]
pub(crate) struct UnknownWord {
    pub(crate) text: String,
    pub(crate) name: &'static str,
}

/// An enumeration that is a word in columns, JSON and texts. The words are tokens: the derive macro of
/// the OpenAPI schema ignores a `literal` of a macro.
macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[$variant_meta:meta])* $variant:ident = $word:tt,)+ }) => {
        $(#[$meta])*
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize,
            serde::Deserialize, utoipa::ToSchema,
        )]
        pub(crate) enum $name {
            $($(#[$variant_meta])* #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            /// All of them.
            pub(crate) const ALL: &[Self] = &[$(Self::$variant),+];

            pub(crate) fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.pad(self.word())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::words::UnknownWord;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let mut all = Self::ALL.iter();
                let found = all.find(|value| value.word() == text).copied();
                found.ok_or_else(|| $crate::words::UnknownWord {
                    text: text.to_owned(),
                    name: stringify!($name),
                })
            }
        }
    };
}

pub(crate) use words;
