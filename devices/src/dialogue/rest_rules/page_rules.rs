//! `[pages]`: how a REST interface divides a long list.

use serde_json::Value as Json;
use switchtender_outline::{NextPageShape, PageShape};

use crate::document::Table;
use crate::read::field_path::FieldPath;

/// How a REST interface divides a long list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PageRules {
    next: NextPage,
    /// The parameter with the number of objects on a page, and its value.
    size: Option<(String, u64)>,
}

/// Where the next page is.
#[derive(Clone, Debug, PartialEq, Eq)]
enum NextPage {
    /// At the link in this field of the answer.
    Field(FieldPath),
    /// At the link in the header `Link` with the relation `next`.
    Header,
    /// At the same path with this parameter, the number of the page; the first page has this number.
    Number(String, u64),
    /// At the same path with this parameter, the number of objects on the pages before.
    Offset(String),
}

/// A page of a list.
pub(crate) struct Page<'a> {
    /// The number of the page, from 0.
    pub(crate) index: u64,
    /// Objects on the page.
    pub(crate) count: u64,
    /// Objects on the pages before.
    pub(crate) before: u64,
    pub(crate) answer: &'a Json,
    /// The link in the header.
    pub(crate) link: Option<&'a str>,
}

/// Maximum of pages of one list.
pub(crate) const MOST_PAGES: usize = 1000;

impl PageRules {
    /// Reads `[pages]`.
    pub(crate) fn read(table: &Table<'_>) -> Option<Self> {
        let count = |key: &str| {
            table
                .integer(key)
                .and_then(|count| u64::try_from(count).ok())
        };
        let first = count("first");
        let field = table.get("next").and_then(|item| FieldPath::read(&item));
        let has_link = table.bool("link").unwrap_or(false);
        let number = table.string("number");
        let all = [
            field.map(NextPage::Field),
            has_link.then_some(NextPage::Header),
            number.map(|name| NextPage::Number(name, first.unwrap_or(1))),
            table.string("offset").map(NextPage::Offset),
        ];
        let mut size = None;
        for (name, _, item) in table.table("size").iter().flat_map(Table::entries) {
            let value = item.integer().and_then(|count| u64::try_from(count).ok());
            size = value.filter(|count| *count > 0).map(|count| (name, count));
        }
        table.finish();
        let error = |message: &str| {
            table.findings.error("pages", table.span.clone(), message);
        };
        let mut declared = all.into_iter().flatten();
        let (Some(next), None) = (declared.next(), declared.next()) else {
            error("[pages] requires one of `next`, `link`, `number` and `offset`");
            return None;
        };
        if matches!(next, NextPage::Number(..) | NextPage::Offset(_)) && size.is_none() {
            error("`number` and `offset` require `size`, such as `size = { limit = 100 }`");
            return None;
        }
        Some(Self { next, size })
    }

    /// The same for a mock.
    pub(crate) fn outline(&self) -> PageShape {
        let number = |first: u64| usize::try_from(first).unwrap_or_default();
        PageShape {
            next: match &self.next {
                NextPage::Field(field) => NextPageShape::Field(field.outline()),
                NextPage::Header => NextPageShape::Header,
                NextPage::Number(name, first) => NextPageShape::Number {
                    name: name.clone(),
                    first: number(*first),
                },
                NextPage::Offset(name) => NextPageShape::Offset(name.clone()),
            },
            size: self.size.as_ref().map(|(name, _)| name.clone()),
        }
    }

    /// The path of the first page.
    pub(crate) fn first(&self, path: &str) -> String {
        match &self.next {
            NextPage::Field(_) | NextPage::Header => self.with_parameter(path, None),
            NextPage::Number(name, first) => self.with_parameter(path, Some((name, *first))),
            NextPage::Offset(name) => self.with_parameter(path, Some((name, 0))),
        }
    }

    /// The path of the page after this one; `None` after the last one. `path` is that of the list.
    pub(crate) fn after(&self, page: &Page<'_>, path: &str) -> Option<String> {
        let is_last = self
            .size
            .as_ref()
            .is_none_or(|(_, size)| page.count < *size);
        match &self.next {
            NextPage::Field(field) => local_path(field.get(page.answer)?.as_str()?),
            NextPage::Header => local_path(page.link?),
            NextPage::Number(name, first) => {
                (!is_last).then(|| self.with_parameter(path, Some((name, first + page.index + 1))))
            }
            NextPage::Offset(name) => (!is_last)
                .then(|| self.with_parameter(path, Some((name, page.before + page.count)))),
        }
    }

    fn with_parameter(&self, path: &str, own: Option<(&str, u64)>) -> String {
        let mut path = path.to_owned();
        let size = self
            .size
            .as_ref()
            .map(|(name, size)| (name.as_str(), *size));
        for (name, value) in own.into_iter().chain(size) {
            path.push(if path.contains('?') { '&' } else { '?' });
            path.push_str(&format!("{name}={value}"));
        }
        path
    }
}

/// The path and query of a link. Its host is that of the device, whatever name the device uses.
pub(super) fn local_path(link: &str) -> Option<String> {
    let after_host = match link.split_once("://") {
        Some((_, rest)) => &rest[rest.find('/')?..],
        None => link,
    };
    after_host.starts_with('/').then(|| after_host.to_owned())
}

/// The target of the relation `next` in a header `Link` (RFC 8288).
pub(crate) fn next_link(header: &str) -> Option<&str> {
    let mut links = header.split('<').skip(1);
    links.find_map(|link| {
        let (target, parameters) = link.split_once('>')?;
        let mut parameters = parameters.split([';', ',']).map(str::trim);
        parameters
            .any(|one| one.replace('"', "").eq_ignore_ascii_case("rel=next"))
            .then_some(target)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::diagnostic::Source;
    use crate::document::{Findings, read};

    fn rules(text: &str) -> Result<PageRules, Vec<String>> {
        let source = Source::new("platform.toml", format!("[pages]\n{text}"));
        let findings = Findings::new(&source);
        let rules = read(&findings, |root| {
            PageRules::read(&root.required_table("pages")?)
        });
        let messages = findings.into_list().into_iter().map(|one| one.message);
        rules.ok_or_else(|| messages.collect())
    }

    /// The path of the page after one with this answer and link, of 2 objects after 4 others.
    fn after(text: &str, answer: &Json, link: Option<&str>) -> Option<String> {
        let page = Page {
            index: 2,
            count: 2,
            before: 4,
            answer,
            link,
        };
        rules(text).expect("good rules").after(&page, "/list?a=b")
    }

    #[test]
    fn next_page_has_a_link_a_number_or_an_offset() {
        let link = json!({"paging": {"next": "https://box.example/list?page=4"}});
        let last = json!({"paging": {"next": null}});
        let header = "<https://box/list?page=1>; rel=\"prev\", </list?page=9>; rel=\"next\"";
        let size = "size = { limit = 2 }";
        for (text, answer, header, expected) in [
            ("next = \"paging.next\"", &link, None, Some("/list?page=4")),
            ("next = \"paging.next\"", &last, None, None),
            (
                "link = true",
                &last,
                next_link(header),
                Some("/list?page=9"),
            ),
            ("link = true", &last, next_link("</list>; rel=prev"), None),
            (
                &format!("number = \"page\"\n{size}"),
                &last,
                None,
                Some("/list?a=b&page=4&limit=2"),
            ),
            (
                &format!("number = \"page\"\nfirst = 0\n{size}"),
                &last,
                None,
                Some("/list?a=b&page=3&limit=2"),
            ),
            (
                &format!("offset = \"$skip\"\n{size}"),
                &last,
                None,
                Some("/list?a=b&$skip=6&limit=2"),
            ),
            ("offset = \"skip\"\nsize = { limit = 3 }", &last, None, None),
        ] {
            assert_eq!(after(text, answer, header).as_deref(), expected, "{text}");
        }
        let rules = rules("offset = \"skip\"\nsize = { limit = 3 }").expect("good rules");
        assert_eq!(rules.first("/list"), "/list?skip=0&limit=3");
    }

    #[test]
    fn page_rules_require_one_kind_of_next_page() {
        let one = "[pages] requires one of `next`, `link`, `number` and `offset`";
        let size = "`number` and `offset` require `size`, such as `size = { limit = 100 }`";
        for (text, expected) in [
            ("", one),
            ("link = true\nnext = \"n\"", one),
            ("number = \"page\"", size),
            ("offset = \"skip\"\nsize = { limit = 0 }", size),
        ] {
            assert_eq!(rules(text), Err(vec![expected.to_owned()]), "{text}");
        }
    }
}
