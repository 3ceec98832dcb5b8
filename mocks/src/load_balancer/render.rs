//! Rendering of objects: with kinds, links, and subcollections on request.

use percent_encoding::percent_decode_str;
use serde_json::{Value, json};

use super::path::to_url;
use super::schema::{FieldType, ObjectKind};
use super::tree::{Fields, Object, Tree};

/// The query of a request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct QueryOptions {
    /// Include subcollections in their objects.
    pub expand: bool,
    /// Select these fields.
    pub select: Option<Vec<String>>,
    /// Select objects of this partition.
    pub partition: Option<String>,
    /// Number of objects, and index of the first.
    pub page: Option<(usize, usize)>,
}

impl QueryOptions {
    /// Parses the query; unknown parameters are ignored.
    pub(super) fn parse(query: &str) -> Self {
        let mut options = QueryOptions::default();
        let mut top = None;
        let mut skip = 0;
        for (name, value) in query.split('&').filter_map(|pair| pair.split_once('=')) {
            let value = value.replace('+', " ");
            let value = percent_decode_str(&value).decode_utf8_lossy();
            match percent_decode_str(name).decode_utf8_lossy().as_ref() {
                "expandSubcollections" => options.expand = value == "true",
                "$select" => {
                    options.select = Some(
                        value
                            .split(',')
                            .map(|name| name.trim().to_owned())
                            .collect(),
                    )
                }
                "$filter" => {
                    options.partition = value.strip_prefix("partition eq ").map(str::to_owned)
                }
                "$top" => top = value.parse().ok(),
                "$skip" => skip = value.parse().unwrap_or(0),
                _ => {}
            }
        }
        options.page = top.map(|top| (top, skip));
        options
    }

    fn selected(&self, fields: Fields) -> Value {
        match &self.select {
            None => Value::Object(fields),
            Some(names) => Value::Object(
                fields
                    .into_iter()
                    .filter(|(name, _)| names.contains(name))
                    .collect(),
            ),
        }
    }
}

/// Renders links. Their host is always `localhost`.
#[derive(Debug, Clone)]
pub(super) struct Links {
    /// Version in `?ver=`.
    pub version: String,
}

impl Links {
    /// Link to a path below `/mgmt/tm`.
    pub(super) fn to(&self, path: &str) -> String {
        format!("https://localhost/mgmt/tm/{path}?ver={}", self.version)
    }

    /// An object with the fields that the interface adds.
    pub(super) fn object(
        &self,
        kind: &ObjectKind,
        uri: &str,
        object: &Object,
        view: &QueryOptions,
    ) -> Value {
        let mut rendered = self.head(kind, uri, object);
        if kind.prints_none {
            let unset = kind.fields.iter().filter_map(|(name, field)| {
                let word = match field.field_type {
                    FieldType::Text | FieldType::Reference(_) => json!("none"),
                    FieldType::List => json!([]),
                    _ => return None,
                };
                Some((name.clone(), word))
            });
            rendered.extend(unset);
        }
        let mut fields: Vec<(&String, &Value)> = object.fields.iter().collect();
        fields.sort_by_key(|(name, _)| *name);
        for (name, value) in fields {
            rendered.insert(name.clone(), value.clone());
            if let (Some(FieldType::Reference(family)), Some(path)) = (
                kind.fields.get(name).map(|field| &field.field_type),
                value.as_str(),
            ) && !family.ends_with('*')
            {
                let link = self.to(&format!("{family}/{}", to_url(path)));
                rendered.insert(format!("{name}Reference"), json!({"link": link}));
            }
        }
        for (name, sub) in &kind.subs {
            let uri = format!("{uri}/{name}");
            let mut reference = json!({"link": self.to(&uri), "isSubcollection": true});
            let children = object
                .subs
                .get(name)
                .into_iter()
                .flat_map(|children| children.values());
            let items: Vec<Value> = children
                .map(|child| self.child(sub, &uri, child, &QueryOptions::default()))
                .collect();
            if view.expand && !items.is_empty() {
                reference["items"] = Value::Array(items);
            }
            rendered.insert(format!("{name}Reference"), reference);
        }
        view.selected(rendered)
    }

    /// An object of the subcollection at `uri`.
    pub(super) fn child(
        &self,
        kind: &ObjectKind,
        uri: &str,
        child: &Object,
        view: &QueryOptions,
    ) -> Value {
        self.object(
            kind,
            &format!("{uri}/{}", to_url(&child.path.text())),
            child,
            view,
        )
    }

    fn head(&self, kind: &ObjectKind, uri: &str, object: &Object) -> Fields {
        let last = kind.path.rsplit('/').next().unwrap_or_default();
        let mut head = Fields::new();
        head.insert(
            "kind".to_owned(),
            json!(format!("{}:{last}state", kind_tag(&kind.path))),
        );
        head.insert("name".to_owned(), json!(object.path.name));
        if !object.path.partition.is_empty() {
            head.insert("partition".to_owned(), json!(object.path.partition));
        }
        if let Some(sub) = &object.path.sub_path {
            head.insert("subPath".to_owned(), json!(sub));
        }
        head.insert("fullPath".to_owned(), json!(object.path.text()));
        head.insert("generation".to_owned(), json!(object.generation));
        head.insert("selfLink".to_owned(), json!(self.to(uri)));
        head
    }

    /// A list; `items` is missing if it is empty.
    pub(super) fn collection(
        &self,
        kind: &ObjectKind,
        uri: &str,
        items: Vec<Value>,
        view: &QueryOptions,
    ) -> Value {
        let last = kind.path.rsplit('/').next().unwrap_or_default();
        let mut list = json!({
            "kind": format!("{}:{last}collectionstate", kind_tag(&kind.path)),
            "selfLink": self.to(uri),
        });
        let total = items.len();
        let items = match view.page {
            None => items,
            Some((top, skip)) => {
                let items: Vec<Value> = items.into_iter().skip(skip).take(top).collect();
                let top = top.max(1);
                list["currentItemCount"] = json!(items.len());
                list["itemsPerPage"] = json!(top);
                list["pageIndex"] = json!(skip / top + 1);
                list["startIndex"] = json!(skip + 1);
                list["totalItems"] = json!(total);
                list["totalPages"] = json!(total.div_ceil(top));
                if skip + top < total {
                    let link = format!(
                        "https://localhost/mgmt/tm/{uri}?$top={top}&$skip={}&ver={}",
                        skip + top,
                        self.version
                    );
                    list["nextLink"] = json!(link);
                }
                items
            }
        };
        if !items.is_empty() {
            list["items"] = Value::Array(items);
        }
        list
    }

    /// All objects of a kind.
    pub(super) fn objects(&self, tree: &Tree, kind: &ObjectKind, view: &QueryOptions) -> Value {
        let desired = |object: &&Object| {
            view.partition
                .as_ref()
                .is_none_or(|partition| kind.flat || *partition == object.path.partition)
        };
        let items = tree.collection(&kind.path).filter(desired);
        let items = items.map(|object| {
            self.object(
                kind,
                &format!("{}/{}", kind.path, to_url(&object.path.text())),
                object,
                view,
            )
        });
        self.collection(kind, &kind.path, items.collect(), view)
    }

    /// A list of collections.
    pub(super) fn family(&self, path: &str, names: &[&str]) -> Value {
        let items: Vec<Value> = names
            .iter()
            .map(|name| json!({"reference": {"link": self.to(&format!("{path}/{name}"))}}))
            .collect();
        json!({"kind": format!("{}:{}collectionstate", kind_tag(path), path.rsplit('/').next().unwrap_or_default()), "selfLink": self.to(path), "items": items})
    }

    /// A singleton.
    pub(super) fn singleton(&self, path: &str, fields: &Fields, view: &QueryOptions) -> Value {
        let last = path.rsplit('/').next().unwrap_or_default();
        let mut rendered = Fields::new();
        rendered.insert(
            "kind".to_owned(),
            json!(format!("{}:{last}state", kind_tag(path))),
        );
        rendered.insert("selfLink".to_owned(), json!(self.to(path)));
        let mut sorted: Vec<(&String, &Value)> = fields.iter().collect();
        sorted.sort_by_key(|(name, _)| *name);
        rendered.extend(
            sorted
                .into_iter()
                .map(|(name, value)| (name.clone(), value.clone())),
        );
        view.selected(rendered)
    }
}

/// `ltm/pool` as `tm:ltm:pool`.
fn kind_tag(path: &str) -> String {
    format!("tm:{}", path.replace('/', ":"))
}
