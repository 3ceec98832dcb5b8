//! Assigns drafted attributes to those of a model that exists already.

use super::DraftError;
use super::lines::{AttributeDraft, LineForm};
use super::resource_type::TypeOutline;
use crate::model::TypeModel;
use crate::value::Value;

impl TypeOutline {
    /// Gives names and attributes the names of the model. Lines of no attribute become notes.
    ///
    /// # Errors
    /// The lines have another number of names.
    pub(super) fn assign(&mut self, model: &TypeModel) -> Result<(), DraftError> {
        let names: Vec<&str> = model.namevars().collect();
        if names.len() != self.namevars.len() {
            return Err(DraftError::Names {
                type_name: model.name.clone(),
                found: self.namevars.len(),
                needed: names.len(),
            });
        }
        let mut used: Vec<String> = vec!["ensure".to_owned()];
        for (drafted, name) in self.namevars.iter_mut().zip(names) {
            for template in &mut self.location.1 {
                *template = renamed(template, drafted, name);
            }
            *drafted = name.to_owned();
            used.push(name.to_owned());
        }
        for draft in &mut self.inner {
            let found = attribute_of(model, draft, &used);
            let name = found.unwrap_or_else(|| format!("*{}", draft.name));
            for template in &mut self.location.1 {
                *template = renamed(template, &draft.name, &name);
            }
            draft.name.clone_from(&name);
            used.push(name);
        }
        self.inner.retain(|draft| !draft.name.starts_with('*'));
        let lines = std::mem::take(&mut self.lines);
        for (words, mut draft) in lines {
            match attribute_of(model, &draft, &used) {
                Some(name) => {
                    used.push(name.clone());
                    draft.name = name;
                    self.lines.push((words, draft));
                }
                None => self
                    .notes
                    .push(format!("no attribute has the line `{words}`")),
            }
        }
        let missing = model.attributes.keys().filter(|name| {
            let is_used = used.iter().any(|used| used == name.as_str());
            !is_used
        });
        self.missing = missing.map(ToString::to_string).collect();
        for (_, draft) in &mut self.lines {
            let attribute = &model.attributes[draft.name.as_str()];
            draft.default_word.clone_from(&attribute.default_word);
        }
        Ok(())
    }
}

/// The free attribute with the name of a draft, or with a name that ends with it, whose values the
/// sample has.
fn attribute_of(model: &TypeModel, draft: &AttributeDraft, used: &[String]) -> Option<String> {
    // The name of an attribute that has the name of a namevar ends with `_value`.
    let drafted = draft.name.strip_suffix("_value");
    let drafted = drafted.unwrap_or(&draft.name);
    let ending = format!("_{drafted}");
    let is_free = |name: &str| !used.iter().any(|used| used == name);
    let accepts = |name: &str| {
        let attribute = &model.attributes[name];
        let flag = [Value::Bool(true)];
        let texts: Vec<Value> = draft
            .values
            .iter()
            .map(|text| text.as_str().into())
            .collect();
        let values = match draft.form {
            LineForm::Flag | LineForm::Negative => flag.as_slice(),
            LineForm::Word | LineForm::Rest | LineForm::Quoted => texts.as_slice(),
            LineForm::Elements(_) => &[],
        };
        let mut values = values.iter();
        values.all(|value| attribute.canonicalize_element(value).is_some())
    };
    let names = || model.attributes.keys().map(|name| name.as_str());
    let same = names().filter(|name| *name == drafted);
    let mut candidates = same.chain(names().filter(|name| name.ends_with(&ending)));
    let found = candidates.find(|name| is_free(name) && accepts(name));
    found.map(str::to_owned)
}

/// A template with another name of a placeholder. Words of `*name` have no attribute.
fn renamed(template: &str, old: &str, new: &str) -> String {
    let flag = if new.starts_with('*') { '!' } else { '?' };
    let renamed = template.replace(&format!("{{{old}}}"), &format!("{{{new}}}"));
    let renamed = renamed.replace(&format!("{{{old}:"), &format!("{{{new}:"));
    renamed.replace(&format!("{{{old}?"), &format!("{{{new}{flag}"))
}
