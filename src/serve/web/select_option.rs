//! An option of a filter in a page.

/// An option of a `select` element.
pub(super) struct SelectOption {
    pub(super) value: &'static str,
    pub(super) name: &'static str,
    pub(super) is_selected: bool,
}

/// The options with the selected one.
pub(super) fn options(
    all: &[(&'static str, &'static str)],
    selected: Option<&str>,
) -> Vec<SelectOption> {
    let options = all.iter();
    options
        .map(|&(value, name)| SelectOption {
            value,
            name,
            is_selected: selected.unwrap_or_default() == value,
        })
        .collect()
}
