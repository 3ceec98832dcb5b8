//! Names of resource types, platforms, devices and certificates, as types of their own.

use std::borrow::Borrow;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

macro_rules! name {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Arc<str>);

        impl $name {
            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> Self {
                name.as_str().to_owned()
            }
        }

        impl From<&$name> for String {
            fn from(name: &$name) -> Self {
                name.as_str().to_owned()
            }
        }

        impl Deref for $name {
            type Target = str;

            fn deref(&self) -> &str {
                &self.0
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl PartialEq<str> for $name {
            fn eq(&self, other: &str) -> bool {
                *self.0 == *other
            }
        }

        impl PartialEq<&str> for $name {
            fn eq(&self, other: &&str) -> bool {
                *self.0 == **other
            }
        }

        impl PartialEq<String> for $name {
            fn eq(&self, other: &String) -> bool {
                *self.0 == **other
            }
        }

        impl PartialEq<$name> for String {
            fn eq(&self, other: &$name) -> bool {
                **self == *other.0
            }
        }

        impl PartialEq<$name> for str {
            fn eq(&self, other: &$name) -> bool {
                *self == *other.0
            }
        }

        impl PartialEq<$name> for &str {
            fn eq(&self, other: &$name) -> bool {
                **self == *other.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&*self.0, f)
            }
        }
    };
}

macro_rules! unchecked {
    ($name:ident) => {
        impl Default for $name {
            fn default() -> Self {
                Self("".into())
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.into())
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(text.into())
            }
        }
    };
}

name! {
    /// Name of a resource type in lower case, `network_vlan`. Cheap to clone.
    TypeName
}
unchecked!(TypeName);

name! {
    /// Name of a platform, `cisco_ios`. Cheap to clone.
    PlatformName
}
unchecked!(PlatformName);

/// A text that cannot be a name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a valid {kind}")]
pub struct InvalidName {
    kind: &'static str,
    text: String,
    /// The characters that are allowed, as a hint.
    pub hint: &'static str,
}

name! {
    /// Name of a device in an inventory or in `device.conf`, `sw1`. Cheap to clone. Part of file
    /// names and of patterns.
    DeviceName
}

impl DeviceName {
    /// Maximum length in bytes: a file name has at most 255, with its extension.
    const LONGEST: usize = 200;

    /// Checks a name.
    ///
    /// # Errors
    /// The name is empty, too long, begins with a dot or has a character that is not allowed.
    pub fn parse(text: &str) -> Result<Self, InvalidName> {
        let is_allowed = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | ':');
        let is_valid = !text.is_empty()
            && text.len() <= Self::LONGEST
            && !text.starts_with('.')
            && text.chars().all(is_allowed);
        if is_valid {
            Ok(Self(text.into()))
        } else {
            Err(InvalidName {
                kind: "device name",
                text: text.to_owned(),
                hint: "use only letters, digits and . _ - :",
            })
        }
    }
}

name! {
    /// Name of a certificate and of the catalog that belongs to it, `sw1.example.com`. Cheap to
    /// clone. Part of file names.
    Certname
}

impl Certname {
    /// Checks a name by the rule of Puppet: printable ASCII characters without `/`.
    ///
    /// # Errors
    /// The name is empty, is a relative path or has a character that is not allowed.
    pub fn parse(text: &str) -> Result<Self, InvalidName> {
        let is_allowed = |byte: u8| matches!(byte, b' '..=b'~') && byte != b'/';
        if !matches!(text, "" | "." | "..") && text.bytes().all(is_allowed) {
            Ok(Self(text.into()))
        } else {
            Err(InvalidName {
                kind: "certname",
                text: text.to_owned(),
                hint: "use only printable ASCII characters without `/`",
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn device_name_is_one_path_component() {
        for name in ["sw1", "sw1.lab.test", "ZÜRICH-1", "fe80::1", "rack_a"] {
            assert_eq!(DeviceName::parse(name).unwrap(), name);
        }
        let long = "x".repeat(201);
        for name in ["", ".", "..", ".hidden", "a/b", "a b", "a*", "a\n", &long] {
            let error = DeviceName::parse(name).unwrap_err();
            assert_eq!(
                error.to_string(),
                format!("`{name}` is not a valid device name")
            );
        }
    }

    /// Puppet: `VALID_CERTNAME = /\A[ -.0-~]+\Z/`.
    #[test]
    fn certname_follows_the_rule_of_puppet() {
        for name in ["sw1", "SW1.lab.test", "a b", "~", "fe80::1"] {
            assert_eq!(Certname::parse(name).unwrap(), name);
        }
        for name in ["", ".", "..", "a/b", "../sw1", "zürich", "a\n"] {
            let error = Certname::parse(name).unwrap_err();
            assert_eq!(
                error.to_string(),
                format!("`{name}` is not a valid certname")
            );
        }
    }
}
