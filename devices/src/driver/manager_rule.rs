//! Objects that another object of the device makes and changes, such as an application.

use serde_json::Value as Json;

use crate::document::keys;
use crate::pattern::Pattern;
use crate::read::field_path::{FieldPath, scalar_text};

keys! {
    /// How an object shows that another one makes and changes it. Exports leave it out.
    pub(crate) struct ManagerRule {
        /// The field with the name of the other object; empty or `none` if there is none.
        field: FieldPath,
        /// Names of objects that have such a manager without the field.
        names: Option<Pattern>,
    }
}

impl ManagerRule {
    /// The manager of an object; its own name if nothing else says who it is.
    pub(crate) fn manager(&self, name: &str, object: &Json) -> Option<String> {
        const NOBODY: &str = "none";
        let field = self.field.get(object).and_then(scalar_text);
        let named = field.filter(|text| !text.is_empty() && text != NOBODY);
        let is_named = self
            .names
            .as_ref()
            .is_some_and(|names| names.is_match(name));
        named.or_else(|| is_named.then(|| name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn objects_of_an_application_name_it_or_are_in_its_folder() {
        let rule = ManagerRule {
            field: "appService".parse().unwrap(),
            names: Pattern::new("/[^/]+/[^/]+/.+").ok(),
        };
        let manager = |name: &str, object: Json| rule.manager(name, &object);
        let application = "/Common/shop.app/shop";
        let own = json!({"appService": application});
        assert_eq!(manager("/Common/pool", own).as_deref(), Some(application));
        assert_eq!(manager("/Common/pool", json!({})), None);
        assert_eq!(manager("/Common/pool", json!({"appService": "none"})), None);
        let in_folder = manager("/tenant/shop/pool", json!({}));
        assert_eq!(in_folder.as_deref(), Some("/tenant/shop/pool"));
    }
}
