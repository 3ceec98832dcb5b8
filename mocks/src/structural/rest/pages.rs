//! Lists in pages.

use serde_json::Value;
use switchtender_outline::{JsonPath, NextPageShape, PageShape};

use crate::json_path::{Locate as _, array};
use crate::rest_request::RestRequest;

/// The objects on a page whose request does not say how many.
const OBJECTS: usize = 2;
/// The parameter of links.
const PAGE: &str = "page";

/// The parameters of pages.
pub(super) fn parameters(pages: &PageShape) -> Vec<String> {
    let own = match &pages.next {
        NextPageShape::Field(_) | NextPageShape::Header => PAGE,
        NextPageShape::Number { name, .. } | NextPageShape::Offset(name) => name,
    };
    let size = pages.size.iter().cloned();
    size.chain([own.to_owned()]).collect()
}

/// Leaves the objects of the page that is asked for. Returns the link in the header.
pub(super) fn divide(
    pages: &PageShape,
    rows: &JsonPath,
    request: &RestRequest,
    answer: &mut Value,
) -> Option<String> {
    let number = |name: &str| request.parameter(name)?.parse::<usize>().ok();
    let size = pages.size.as_deref().and_then(number);
    let size = size.unwrap_or(OBJECTS).max(1);
    let start = match &pages.next {
        NextPageShape::Field(_) | NextPageShape::Header => number(PAGE).unwrap_or(0) * size,
        NextPageShape::Number { name, first } => {
            number(name).unwrap_or(*first).saturating_sub(*first) * size
        }
        NextPageShape::Offset(name) => number(name).unwrap_or(0),
    };
    let items = array(rows.get_mut(answer).filter(|list| list.is_array())?);
    let has_more = items.len() > start + size;
    *items = items.drain(..).skip(start).take(size).collect();
    let link = has_more.then(|| {
        let mut link = format!("{}?{PAGE}={}", request.path, start / size + 1);
        let others = request.parameters.iter().filter(|(name, _)| name != PAGE);
        for (name, value) in others {
            let value: String = form_urlencoded::byte_serialize(value.as_bytes()).collect();
            link.push_str(&format!("&{name}={value}"));
        }
        link
    })?;
    match &pages.next {
        NextPageShape::Field(field) => {
            *field.get_or_insert(answer) = link.into();
            None
        }
        NextPageShape::Header => Some(format!("<{link}>; rel=\"next\"")),
        NextPageShape::Number { .. } | NextPageShape::Offset(_) => None,
    }
}
