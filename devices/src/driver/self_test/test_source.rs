//! The self-tests of a definition and where they are read.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, LazyLock};

use crate::diagnostic::Source;
use crate::document::{self, Findings, Item, Table};

/// Where the self-tests of a definition are.
pub(in crate::driver) enum TestSource<'a> {
    /// In the file, and in the extended file if its tests remain.
    File { extended: Option<Table<'a>> },
    /// In this built-in file, after the part that is loaded. They are read on first use, because most
    /// programs need none.
    Deferred(Arc<Source>),
}

/// Finds the section with the tests.
pub(in crate::driver) type TestSection = for<'t> fn(&Table<'t>) -> Option<Item<'t>>;

/// The self-tests of a definition.
pub(crate) struct DefinitionTests<T>(LazyLock<Vec<T>, Box<dyn FnOnce() -> Vec<T> + Send>>);

impl<'a> TestSource<'a> {
    /// The tests of the definition with this root table, where `find` finds them.
    ///
    /// # Panics
    /// On first use, if a test of a built-in file is invalid. The tests of this crate read all of them.
    pub(in crate::driver) fn load<T: Send + 'static>(
        self,
        root: &Table<'a>,
        find: TestSection,
        load: impl Fn(&Item<'_>) -> Option<T> + Send + 'static,
    ) -> DefinitionTests<T> {
        let read_tests: Box<dyn FnOnce() -> Vec<T> + Send> = match self {
            Self::File { extended } => {
                let own = find(root).filter(|item| root.is_own(item));
                let inherited = extended.and_then(|table| find(&table));
                let items = own.iter().chain(&inherited).filter_map(Item::list);
                let tests = items.flatten().filter_map(|item| load(&item)).collect();
                Box::new(|| tests)
            }
            Self::Deferred(source) => Box::new(move || {
                let findings = Findings::new(&source);
                let tests = document::read(&findings, |root| {
                    let items = find(root).and_then(|item| item.list());
                    items.iter().flatten().filter_map(load).collect()
                });
                assert!(findings.is_empty(), "{:?}", findings.into_list());
                tests
            }),
        };
        DefinitionTests(LazyLock::new(read_tests))
    }
}

impl<T> Deref for DefinitionTests<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T: fmt::Debug> fmt::Debug for DefinitionTests<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, formatter)
    }
}
