//! Reads a list that the device divides into pages.

use std::collections::HashSet;

use serde_json::Value as Json;

use super::client::RestClient;
use super::read_page;
use crate::dialogue::rest_rules::{MOST_PAGES, Page, PageRules};
use crate::read::ReadRequest;
use crate::read::rows::RowsRule;
use crate::session::error::SessionErrorKind;

/// All pages of a list as one answer: the first one with the objects of all.
pub(super) async fn read_pages(
    client: &RestClient,
    request: &ReadRequest,
    rules: &PageRules,
    rows: &RowsRule,
) -> Result<String, SessionErrorKind> {
    let invalid = |reason: String| SessionErrorKind::InvalidAnswer {
        command: format!("GET {}", request.command),
        reason,
    };
    let mut visited = HashSet::new();
    let mut path = rules.first(&request.command);
    let (mut all, mut before) = (Json::Null, 0);
    for index in 0..MOST_PAGES {
        if !visited.insert(path.clone()) {
            return Err(invalid(format!("the page `{path}` is linked twice")));
        }
        let answer = read_page(client, request, &path).await?;
        let Some(answer) = answer else {
            // A device can have no page after the last object.
            return Ok(match index {
                0 => String::new(),
                _ => all.to_string(),
            });
        };
        let json: Json = serde_json::from_str(&answer.body).unwrap_or_default();
        let found = rows.rows(&json).map_err(invalid)?;
        let page = Page {
            index: index as u64,
            count: found.len() as u64,
            before,
            answer: &json,
            link: answer.next.as_deref(),
        };
        let next = rules.after(&page, &request.command);
        before += page.count;
        match index {
            0 => all = json,
            _ => rows.append(&mut all, json),
        }
        match next {
            Some(next) => path = next,
            None => return Ok(all.to_string()),
        }
    }
    Err(invalid(format!(
        "the list has more than {MOST_PAGES} pages"
    )))
}
