//! An option of a filter in a page.

/// An option of a `select` element.
pub(super) struct SelectOption {
    pub(super) value: String,
    pub(super) name: String,
    pub(super) is_selected: bool,
}

impl SelectOption {
    pub(super) fn new(value: &str, name: &str, selected: &str) -> Self {
        Self {
            value: value.to_owned(),
            name: name.to_owned(),
            is_selected: value == selected,
        }
    }
}

/// The options with the selected one.
pub(super) fn options(
    all: impl IntoIterator<Item = (&'static str, &'static str)>,
    selected: Option<&str>,
) -> Vec<SelectOption> {
    let selected = selected.unwrap_or_default();
    let options = all.into_iter();
    options
        .map(|(value, name)| SelectOption::new(value, name, selected))
        .collect()
}
