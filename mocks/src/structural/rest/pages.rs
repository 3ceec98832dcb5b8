//! Lists in pages.

use serde_json::Value;
use switchtender_outline::{JsonPath, PageCounter, PageShape};

use crate::json_path::{Locate as _, array};
use crate::rest_request::RestRequest;

/// The objects on a page.
const OBJECTS: usize = 2;
/// The parameter of links.
const PAGE: &str = "page";

/// The parameters of pages.
pub(super) fn parameters(pages: &PageShape) -> Vec<String> {
    match pages {
        PageShape::Field(_) | PageShape::Header => vec![PAGE.to_owned()],
        PageShape::Query {
            parameter, others, ..
        } => others.iter().chain([parameter]).cloned().collect(),
    }
}

/// Leaves the objects of the page that is asked for. Returns the link in the header.
pub(super) fn divide(
    pages: &PageShape,
    rows: &JsonPath,
    request: &RestRequest,
    answer: &mut Value,
) -> Option<String> {
    let number = |name: &str| request.parameter(name)?.parse::<usize>().ok();
    let start = match pages {
        PageShape::Field(_) | PageShape::Header => number(PAGE).unwrap_or(0) * OBJECTS,
        PageShape::Query {
            parameter, counter, ..
        } => match counter {
            PageCounter::Page(first) => {
                number(parameter).unwrap_or(*first).saturating_sub(*first) * OBJECTS
            }
            PageCounter::Objects => number(parameter).unwrap_or(0),
        },
    };
    let items = array(rows.get_mut(answer).filter(|list| list.is_array())?);
    let has_more = items.len() > start + OBJECTS;
    *items = items.drain(..).skip(start).take(OBJECTS).collect();
    let link = has_more.then(|| {
        let mut link = format!("{}?{PAGE}={}", request.path, start / OBJECTS + 1);
        let others = request.parameters.iter().filter(|(name, _)| name != PAGE);
        for (name, value) in others {
            let value: String = form_urlencoded::byte_serialize(value.as_bytes()).collect();
            link.push_str(&format!("&{name}={value}"));
        }
        link
    })?;
    match pages {
        PageShape::Field(field) => {
            *field.get_or_insert(answer) = link.into();
            None
        }
        PageShape::Header => Some(format!("<{link}>; rel=\"next\"")),
        PageShape::Query { .. } => None,
    }
}
