//! Limits for requests of one sender: a bucket of permits that is refilled at a constant rate.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use tokio::time::Instant;

/// Maximum number of senders that are remembered. Those with full buckets are removed first.
const MAX_SENDERS: usize = 10_000;

/// Permits per sender.
pub(crate) struct RateLimit {
    /// Requests that are permitted at once.
    burst: f64,
    /// Permits per second.
    rate: f64,
    buckets: Mutex<HashMap<String, Bucket>>,
}

#[derive(Clone, Copy)]
struct Bucket {
    permits: f64,
    filled: Instant,
}

impl RateLimit {
    /// Permits `burst` requests at once, and as many again in each `period`.
    pub(crate) fn new(burst: u32, period: Duration) -> Self {
        Self {
            burst: f64::from(burst),
            rate: f64::from(burst) / period.as_secs_f64(),
            buckets: Mutex::default(),
        }
    }

    /// Takes a permit.
    ///
    /// # Errors
    /// The time until the next permit.
    pub(crate) fn acquire(&self, sender: &str, now: Instant) -> Result<(), Duration> {
        let mut buckets = self.buckets.lock().expect("no panic with the lock");
        let filled = |bucket: &Bucket| {
            let seconds = now.saturating_duration_since(bucket.filled).as_secs_f64();
            (bucket.permits + seconds * self.rate).min(self.burst)
        };
        if buckets.len() >= MAX_SENDERS && !buckets.contains_key(sender) {
            buckets.retain(|_, bucket| filled(bucket) < self.burst);
            if buckets.len() >= MAX_SENDERS {
                return Err(Duration::from_secs_f64(1.0 / self.rate));
            }
        }
        let bucket = buckets.entry(sender.to_owned()).or_insert(Bucket {
            permits: self.burst,
            filled: now,
        });
        bucket.permits = filled(bucket);
        bucket.filled = now;
        if bucket.permits < 1.0 {
            return Err(Duration::from_secs_f64((1.0 - bucket.permits) / self.rate));
        }
        bucket.permits -= 1.0;
        Ok(())
    }

    /// Gives a permit back: what it was taken for does not count.
    pub(crate) fn give_back(&self, sender: &str) {
        let mut buckets = self.buckets.lock().expect("no panic with the lock");
        if let Some(bucket) = buckets.get_mut(sender) {
            bucket.permits = (bucket.permits + 1.0).min(self.burst);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock;

    #[test]
    fn rate_limit_refuses_after_the_burst_and_permits_again_later() {
        let limit = RateLimit::new(3, Duration::from_secs(60));
        let start = clock::instant();
        for _ in 0..3 {
            assert_eq!(limit.acquire("one", start), Ok(()));
        }
        let wait = limit.acquire("one", start).unwrap_err();
        assert_eq!(wait.as_secs(), 20);
        assert_eq!(limit.acquire("other", start), Ok(()));
        assert!(
            limit
                .acquire("one", start + Duration::from_secs(19))
                .is_err()
        );
        assert_eq!(
            limit.acquire("one", start + Duration::from_secs(21)),
            Ok(())
        );
    }

    #[test]
    fn rate_limit_has_bounded_memory() {
        let limit = RateLimit::new(1, Duration::from_secs(60));
        let start = clock::instant();
        for sender in 0..MAX_SENDERS {
            assert_eq!(limit.acquire(&sender.to_string(), start), Ok(()));
        }
        assert!(limit.acquire("one more", start).is_err());
        let later = start + Duration::from_secs(120);
        assert_eq!(limit.acquire("one more", later), Ok(()));
        assert_eq!(limit.buckets.lock().unwrap().len(), 1);
    }
}
