//! Work on several threads.

use std::cell::Cell;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

thread_local! {
    /// The number of threads that this thread may use, itself included. `None`: one per processor.
    static PERMITTED: Cell<Option<usize>> = const { Cell::new(None) };
}

/// The result of a function that may use so many threads.
pub(crate) fn with_threads<R>(threads: usize, function: impl FnOnce() -> R) -> R {
    let earlier = PERMITTED.replace(Some(threads));
    let result = function();
    PERMITTED.set(earlier);
    result
}

/// The results of a function for all items, in their order.
///
/// The permitted threads share the items. Where there are fewer items than threads, the function may
/// use the others in turn.
pub(crate) fn map<T: Sync, R: Send>(items: &[T], function: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let processors = || thread::available_parallelism().map_or(1, Into::into);
    let permitted = PERMITTED.get().unwrap_or_else(processors);
    let workers = permitted.min(items.len());
    if workers <= 1 {
        return items.iter().map(function).collect();
    }
    let next = AtomicUsize::new(0);
    let work = || {
        PERMITTED.set(Some(permitted / workers));
        let mut results = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(index) else {
                return results;
            };
            results.push((index, function(item)));
        }
    };
    let mut results: Vec<(usize, R)> = thread::scope(|scope| {
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        let ended = workers.into_iter().map(|worker| worker.join());
        ended
            .flat_map(|results| results.unwrap_or_else(|panic| resume_unwind(panic)))
            .collect()
    });
    results.sort_unstable_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn map_has_the_order_of_the_items_and_shares_the_threads() {
        for (threads, permitted) in [(1, 1), (3, 1), (200, 2), (1000, 10)] {
            let items: Vec<usize> = (0..100).collect();
            let results = with_threads(threads, || {
                map(&items, |item| (*item, PERMITTED.get().unwrap_or_default()))
            });
            let expected: Vec<_> = items.iter().map(|item| (*item, permitted)).collect();
            assert_eq!(results, expected, "{threads}");
        }
    }
}
