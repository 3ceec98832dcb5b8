//! Pages of a long list: number, links to the previous and next page.

use std::fmt::Write as _;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

/// Rows of a page.
pub(super) const PAGE_SIZE: usize = 100;

/// A page of a list.
pub(super) struct Pager {
    path: String,
    /// The other parameters of the page.
    parameters: Vec<(&'static str, String)>,
    /// From 1.
    page: usize,
    total: usize,
}

impl Pager {
    pub(super) fn new(
        path: impl Into<String>,
        parameters: Vec<(&'static str, String)>,
        page: usize,
        total: usize,
    ) -> Self {
        Self {
            path: path.into(),
            parameters,
            page: page.max(1),
            total,
        }
    }

    /// The number of rows before the page.
    pub(super) fn offset(page: Option<usize>) -> usize {
        page.unwrap_or(1)
            .saturating_sub(1)
            .saturating_mul(PAGE_SIZE)
    }

    /// What the page has of the list. `None`: the list is empty.
    pub(super) fn text(&self) -> Option<String> {
        if self.total == 0 {
            return None;
        }
        let first = (self.page - 1).saturating_mul(PAGE_SIZE) + 1;
        let last = self.page.saturating_mul(PAGE_SIZE).min(self.total);
        Some(if first > last {
            let pages = self.total.div_ceil(PAGE_SIZE);
            format!("page {} does not exist: there are {pages}", self.page)
        } else if self.total <= PAGE_SIZE {
            format!("{} in total", self.total)
        } else {
            format!("{first} to {last} of {}", self.total)
        })
    }

    /// The first page, for one after the end.
    pub(super) fn first(&self) -> Option<String> {
        let is_after_end = (self.page - 1).saturating_mul(PAGE_SIZE) >= self.total;
        (is_after_end && self.page > 1).then(|| self.link(1))
    }

    pub(super) fn previous(&self) -> Option<String> {
        (self.page > 1 && self.first().is_none()).then(|| self.link(self.page - 1))
    }

    pub(super) fn next(&self) -> Option<String> {
        (self.page.saturating_mul(PAGE_SIZE) < self.total).then(|| self.link(self.page + 1))
    }

    fn link(&self, page: usize) -> String {
        let mut link = format!("{}?page={page}", self.path);
        for (name, value) in self
            .parameters
            .iter()
            .filter(|(_, value)| !value.is_empty())
        {
            write!(link, "&{name}={}", encode(value)).expect("a string takes all text");
        }
        link
    }
}

/// A text as a part of a URL.
pub(super) fn encode(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pager_links_have_the_filter_and_end_at_the_ends() {
        let pager = |page, total| {
            Pager::new(
                "/",
                vec![("q", "a&b".to_owned()), ("status", String::new())],
                page,
                total,
            )
        };
        let first = pager(1, 250);
        let text = |page, total| pager(page, total).text();
        assert_eq!(first.text().as_deref(), Some("1 to 100 of 250"));
        assert_eq!(first.previous(), None);
        assert_eq!(first.next().as_deref(), Some("/?page=2&q=a%26b"));
        let last = pager(3, 250);
        assert_eq!(last.text().as_deref(), Some("201 to 250 of 250"));
        assert_eq!((last.previous().is_some(), last.next()), (true, None));
        assert_eq!(text(1, 7).as_deref(), Some("7 in total"));
        assert_eq!(text(1, 0), None);
        let after = pager(9, 7);
        let expected = "page 9 does not exist: there are 1";
        assert_eq!(after.text().as_deref(), Some(expected));
        assert_eq!(after.first().as_deref(), Some("/?page=1&q=a%26b"));
        assert_eq!((after.previous(), after.next()), (None, None));
        assert_eq!((Pager::offset(None), Pager::offset(Some(3))), (0, 200));
    }
}
