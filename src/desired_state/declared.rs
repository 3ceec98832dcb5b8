//! Desired state as data, independent of files: what a device has, what files declare after expansion, and
//! what a file has to say.
//!
//! `resource` and `import` make it of devices, and the writer makes text of it. It must not know positions in
//! files.

use indexmap::IndexSet;
use switchtender_devices::map::IndexMap;
use switchtender_devices::names::TypeName;
use switchtender_devices::value::{Name, Value};

/// Resources by type and title, in a stable order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct DeclaredState {
    pub(crate) types: IndexMap<TypeName, IndexMap<String, DeclaredAttributes>>,
}

/// The attributes of a resource. `None` is a `~`: the value of an earlier layer or of a profile does not count.
pub(crate) type DeclaredAttributes = IndexMap<Name, Option<DeclaredValue>>;

/// The value of an attribute in a file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum DeclaredValue {
    /// The value itself. Braces in its texts are no template.
    Value(Value),
    /// A text with expressions, `desk {{ n }}`.
    Template(String),
    /// `{secret: {env: NAME}}`.
    SecretVariable(String),
    /// `{secret: {file: PATH}}`.
    SecretFile(String),
}

/// The content of one file: its own keys, and resources.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct DeclaredFile {
    pub(crate) complete: Option<DeclaredCompletion>,
    pub(crate) unmanaged: Vec<String>,
    pub(crate) purge: Vec<TypeName>,
    /// By view or type and name of the profile.
    pub(crate) profiles: IndexMap<String, IndexMap<String, ProfileBody>>,
    pub(crate) state: DeclaredState,
    /// Resources that an earlier layer declares and this file removes, by type.
    pub(crate) removed: IndexMap<TypeName, IndexSet<String>>,
    /// The names of the profiles of a resource, by view or type and title. An empty list is `use: ~`.
    pub(crate) uses: IndexMap<String, IndexMap<String, Vec<String>>>,
}

/// The attributes of a profile by type. A profile of a type has one, a profile of a view one for each section.
pub(crate) type ProfileBody = IndexMap<TypeName, DeclaredAttributes>;

/// The key `complete`: the types whose resources have the defaults of the platform where no file sets a value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DeclaredCompletion {
    pub(crate) types: Vec<TypeName>,
    /// Attributes that are newer than this version of the program are not completed.
    pub(crate) version: Option<String>,
}

/// The newest version that an attribute of a shipped type has as `since`.
const NEWEST: &str = "0.3";

impl DeclaredCompletion {
    /// These types, with all attributes that this program knows.
    pub(crate) fn of(types: Vec<TypeName>) -> Self {
        Self {
            types,
            version: Some(NEWEST.to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use switchtender_devices::driver::Registry;

    use super::NEWEST;

    #[test]
    fn files_complete_the_newest_attributes() {
        let registry = Registry::shipped();
        let attributes = registry
            .models()
            .flat_map(|model| model.attributes.values());
        let newest = attributes.filter_map(|attribute| attribute.since).max();
        assert_eq!(
            newest.map(|version| version.to_string()).as_deref(),
            Some(NEWEST)
        );
    }
}
