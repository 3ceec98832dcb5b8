//! Counts the instances that are read or looked up, for tests of growth: twice the instances must not be four
//! times the work.

use std::cell::Cell;

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

/// One more instance.
pub(super) fn add() {
    COUNT.set(COUNT.get() + 1);
}

/// The instances of some work.
pub(super) fn of(work: impl FnOnce()) -> usize {
    let before = COUNT.get();
    work();
    COUNT.get() - before
}
