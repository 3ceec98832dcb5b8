//! The tags of a resource while they are collected.

use std::collections::HashSet;
use std::sync::Arc;

/// Tags in order, without duplicates.
#[derive(Debug, Default)]
pub(crate) struct TagList {
    tags: Vec<Arc<str>>,
    /// The same tags, if there are more than [`SHORT`].
    long: HashSet<Arc<str>>,
}

/// Maximum number of tags that are compared one by one.
const SHORT: usize = 16;

impl TagList {
    pub(crate) fn contains(&self, tag: &str) -> bool {
        if self.tags.len() <= SHORT {
            self.tags.iter().any(|other| **other == *tag)
        } else {
            self.long.contains(tag)
        }
    }

    /// Adds a tag unless the list contains it.
    pub(crate) fn add(&mut self, tag: &str, intern: &mut impl FnMut(&str) -> Arc<str>) {
        if self.contains(tag) {
            return;
        }
        self.tags.push(intern(tag));
        match self.tags.len() {
            0..=SHORT => {}
            length if length == SHORT + 1 => self.long.extend(self.tags.iter().cloned()),
            length => self.long.extend(self.tags.get(length - 1).cloned()),
        }
    }

    pub(crate) fn into_vec(self) -> Vec<Arc<str>> {
        self.tags
    }
}

impl FromIterator<Arc<str>> for TagList {
    fn from_iter<I: IntoIterator<Item = Arc<str>>>(tags: I) -> Self {
        let mut list = Self::default();
        for tag in tags {
            list.add(&tag, &mut |_| Arc::clone(&tag));
        }
        list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_has_each_tag_once_in_order() {
        for count in [0, 1, SHORT - 1, SHORT, SHORT + 1, 100] {
            let names: Vec<Arc<str>> = (0..count).map(|n| format!("t{n}").into()).collect();
            let list: TagList = names.iter().chain(&names).cloned().collect();
            assert!(names.iter().all(|name| list.contains(name)));
            assert!(!list.contains("other"));
            assert_eq!(list.into_vec(), names);
        }
    }

    #[test]
    fn long_list_is_not_searched_one_by_one() {
        let tags: TagList = (0..1000).map(|n| format!("t{n}").into()).collect();
        assert_eq!(tags.long.len(), 1000);
    }
}
