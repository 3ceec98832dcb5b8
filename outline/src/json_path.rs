//! The path of a value in a JSON document.

/// The steps from the document to the value; none for the document itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JsonPath(pub Vec<JsonStep>);

/// A step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JsonStep {
    /// The member of an object.
    Member(String),
    /// The element of an array with this index.
    Index(usize),
    /// The first element of an array whose field has this text.
    Element {
        /// Name of the field.
        field: String,
        /// Its text.
        value: String,
    },
}

impl JsonPath {
    /// The path of a value inside the value at this path.
    #[must_use]
    pub fn join(&self, inner: &Self) -> Self {
        Self(self.0.iter().chain(&inner.0).cloned().collect())
    }
}
