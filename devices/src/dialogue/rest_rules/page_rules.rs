//! `[pages]`: how a REST interface divides a long list.

use serde_json::Value as Json;
use switchtender_outline::{PageCounter, PageShape};

use crate::document::{At, Item, KeyValue, ValueShape, keys};
use crate::read::field_path::{FieldPath, FieldPathError};

/// How a REST interface divides a long list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PageRules {
    /// The link to the next page is in this field of the answer.
    Field(FieldPath),
    /// It is in the header `Link` with the relation `next`.
    Header,
    /// Each page has these parameters. The page without objects is the last one.
    Query(String),
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

keys! {
    /// How a REST interface divides a long list.
    pub(crate) struct PageKeys {
        /// Path of the field with the link to the next page, or `@link`: it is in the header `Link`.
        next: Option<At<String>>,
        /// Parameters of a page with `{page}`, its number from 1, `{index}`, its number from 0, or
        /// `{before}`, the number of objects on the pages before. The first page without objects is the last one.
        query: Option<PageQuery>,
    }
}

/// The parameters of a page.
#[derive(Clone, Debug)]
pub(crate) struct PageQuery(String);

/// The word for a link in the header.
const LINK: &str = "@link";
/// The placeholders of [`PageRules::Query`].
const COUNTERS: [&str; 3] = ["page", "index", "before"];

impl KeyValue for PageQuery {
    fn declare(shape: &ValueShape) {
        String::declare(shape);
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        let text = item.string_with(&COUNTERS)?;
        let counts = COUNTERS
            .iter()
            .filter(|name| text.contains(&format!("={{{name}}}")));
        if counts.count() != 1 {
            let message = "`query` requires one parameter with `{page}`, `{index}` or `{before}`";
            item.error("pages", message);
            return None;
        }
        Some(Self(text))
    }
}

impl PageRules {
    /// Reads `[pages]`.
    pub(crate) fn read(item: &Item<'_>) -> Option<Self> {
        let keys = PageKeys::read(item)?;
        match (keys.next, keys.query) {
            (None, Some(PageQuery(query))) => Some(Self::Query(query)),
            (Some(next), None) if next.as_str() == LINK => Some(Self::Header),
            (Some(next), None) => match next.parse() {
                Ok(path) => Some(Self::Field(path)),
                Err(error) => {
                    let error: FieldPathError = error;
                    let findings = item.findings;
                    findings.error("path", next.span.clone(), error.to_string());
                    None
                }
            },
            _ => {
                item.error("pages", "[pages] requires either `next` or `query`");
                None
            }
        }
    }

    /// The same for a mock.
    pub(crate) fn outline(&self) -> PageShape {
        let query = match self {
            Self::Field(field) => return PageShape::Field(field.outline()),
            Self::Header => return PageShape::Header,
            Self::Query(query) => query,
        };
        let parameters = query.split('&').filter_map(|pair| pair.split_once('='));
        let mut others = Vec::new();
        let mut counter = (String::new(), PageCounter::Page(0));
        for (name, value) in parameters {
            let name = name.to_owned();
            counter = match value {
                "{page}" => (name, PageCounter::Page(1)),
                "{index}" => (name, PageCounter::Page(0)),
                "{before}" => (name, PageCounter::Objects),
                _ => {
                    others.push(name);
                    continue;
                }
            };
        }
        let (parameter, counter) = counter;
        PageShape::Query {
            parameter,
            counter,
            others,
        }
    }

    /// The path of the first page.
    pub(crate) fn first(&self, path: &str) -> String {
        self.path(path, 0, 0)
    }

    /// The path of the page after this one; `None` after the last one. `path` is that of the list.
    pub(crate) fn after(&self, page: &Page<'_>, path: &str) -> Option<String> {
        match self {
            Self::Field(field) => local_path(field.get(page.answer)?.as_str()?),
            Self::Header => local_path(page.link?),
            Self::Query(_) => {
                (page.count > 0).then(|| self.path(path, page.index + 1, page.before + page.count))
            }
        }
    }

    /// The path of the page with this number, from 0, after so many objects.
    fn path(&self, path: &str, index: u64, before: u64) -> String {
        let Self::Query(query) = self else {
            return path.to_owned();
        };
        let query = query
            .replace("{page}", &(index + 1).to_string())
            .replace("{index}", &index.to_string())
            .replace("{before}", &before.to_string());
        let separator = if path.contains('?') { '&' } else { '?' };
        format!("{path}{separator}{query}")
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
        let rules = read(&findings, |root| PageRules::read(&root.get("pages")?));
        let messages = findings.into_list().into_iter().map(|one| one.message);
        rules.ok_or_else(|| messages.collect())
    }

    /// The path of the page after one with this answer and link, of objects after 4 others.
    fn after(text: &str, (answer, count): (&Json, u64), link: Option<&str>) -> Option<String> {
        let page = Page {
            index: 2,
            count,
            before: 4,
            answer,
            link,
        };
        rules(text).expect("good rules").after(&page, "/list?a=b")
    }

    #[test]
    fn next_page_has_a_link_or_parameters() {
        let link = json!({"paging": {"next": "https://box.example/list?page=4"}});
        let last = json!({"paging": {"next": null}});
        let header = "<https://box/list?page=1>; rel=\"prev\", </list?page=9>; rel=\"next\"";
        for (text, page, header, expected) in [
            (
                "next = \"paging.next\"",
                (&link, 2),
                None,
                Some("/list?page=4"),
            ),
            ("next = \"paging.next\"", (&last, 2), None, None),
            (
                "next = \"@link\"",
                (&last, 2),
                next_link(header),
                Some("/list?page=9"),
            ),
            (
                "next = \"@link\"",
                (&last, 2),
                next_link("</list>; rel=prev"),
                None,
            ),
            (
                "query = \"limit=2&page={page}\"",
                (&last, 2),
                None,
                Some("/list?a=b&limit=2&page=4"),
            ),
            (
                "query = \"page={index}\"",
                (&last, 2),
                None,
                Some("/list?a=b&page=3"),
            ),
            (
                "query = \"$skip={before}\"",
                (&last, 2),
                None,
                Some("/list?a=b&$skip=6"),
            ),
            ("query = \"skip={before}\"", (&last, 0), None, None),
        ] {
            assert_eq!(after(text, page, header).as_deref(), expected, "{text}");
        }
        let rules = rules("query = \"skip={before}&limit=3\"").expect("good rules");
        assert_eq!(rules.first("/list"), "/list?skip=0&limit=3");
    }

    #[test]
    fn page_rules_require_one_kind_of_next_page() {
        let one = "[pages] requires either `next` or `query`";
        let counter = "`query` requires one parameter with `{page}`, `{index}` or `{before}`";
        for (text, expected) in [
            ("", one),
            ("next = \"@link\"\nquery = \"page={page}\"", one),
            ("query = \"limit=100\"", counter),
            ("query = \"a={page}&b={index}\"", counter),
        ] {
            assert_eq!(rules(text), Err(vec![expected.to_owned()]), "{text}");
        }
    }
}
