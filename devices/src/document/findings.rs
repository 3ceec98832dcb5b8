//! The errors of one file, and the ranges of its values that can be secrets.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Severity, Source};

/// The errors of one file.
#[derive(Debug)]
pub struct Findings {
    /// The file that the errors refer to.
    pub source: Arc<Source>,
    list: RefCell<Vec<Diagnostic>>,
    hidden: RefCell<Vec<Range<usize>>>,
    /// Where the texts are whose placeholders a loader fills.
    filled: RefCell<BTreeSet<usize>>,
}

impl Findings {
    /// An empty list of errors for this file.
    pub fn new(source: &Arc<Source>) -> Self {
        Self {
            source: Arc::clone(source),
            list: RefCell::default(),
            hidden: RefCell::default(),
            filled: RefCell::default(),
        }
    }

    /// Appends a finding.
    pub fn push(&self, diagnostic: Diagnostic) {
        self.list.borrow_mut().push(diagnostic);
    }

    /// Reports an error at a byte range of the file.
    pub(crate) fn error(&self, code: &'static str, span: Range<usize>, message: impl Into<String>) {
        self.push(Diagnostic::error(code, message).at(&self.source, span, ""));
    }

    /// Reports an error with a hint.
    pub fn error_with_help(
        &self,
        code: &'static str,
        span: Range<usize>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.push(
            Diagnostic::error(code, message)
                .at(&self.source, span, "")
                .help(help),
        );
    }

    /// The findings without duplicates: a base table can be read several times.
    pub fn into_list(self) -> Vec<Diagnostic> {
        let mut list: Vec<Diagnostic> = Vec::new();
        for finding in self.list.into_inner() {
            if !list.contains(&finding) {
                list.push(finding);
            }
        }
        list
    }

    /// Marks a value that can be a secret.
    pub fn hide(&self, span: Range<usize>) {
        self.hidden.borrow_mut().push(span);
    }

    /// Byte ranges of values that can be secrets: those of unknown keys, which can be misspelled, and
    /// of [`Findings::hide`]. Files with secrets redact them in excerpts.
    pub fn hidden(&self) -> Vec<Range<usize>> {
        self.hidden.borrow().clone()
    }

    /// Marks a text whose placeholders the loader fills.
    pub(super) fn fills(&self, span: &Range<usize>) {
        self.filled.borrow_mut().insert(span.start);
    }

    /// Whether the loader fills the placeholders of a text.
    pub(super) fn is_filled(&self, span: &Range<usize>) -> bool {
        self.filled.borrow().contains(&span.start)
    }

    /// Whether an error was reported.
    pub fn has_errors(&self) -> bool {
        let list = self.list.borrow();
        list.iter().any(|found| found.severity == Severity::Error)
    }

    /// Whether nothing was reported.
    pub fn is_empty(&self) -> bool {
        self.list.borrow().is_empty()
    }
}
