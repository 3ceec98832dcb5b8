//! Which shard a device belongs to, and which node should have it: functions of names, without I/O.

use sha2::{Digest as _, Sha256};

use crate::history::leases::Shard;

/// Most shards of a site: more than a million devices need.
pub(crate) const MOST_SHARDS: u32 = 4096;

/// Devices of a shard of a new site.
const SHARD_SIZE: usize = 250;

/// A site whose shards have more devices should have more shards: a node that joins gets too much or nothing.
const LARGEST_SHARD: usize = 2 * SHARD_SIZE;

/// The number of shards that a site with too large ones should have. `None`: they are small enough.
pub(super) fn more_shards(devices: usize, shards: u32) -> Option<u32> {
    let shards = usize::try_from(shards).unwrap_or(usize::MAX);
    let is_large = devices > shards.saturating_mul(LARGEST_SHARD);
    is_large.then(|| shards_for(devices).min(MOST_SHARDS))
}

/// The number of shards of a new site.
pub(crate) fn shards_for(devices: usize) -> u32 {
    let shards = devices.div_ceil(SHARD_SIZE).max(1);
    u32::try_from(shards).unwrap_or(u32::MAX)
}

/// The shard of a device of a site.
pub(crate) fn shard_of(device: &str, site: &str, shards: u32) -> Shard {
    let number = hash(&[device]) % u64::from(shards.max(1));
    Shard {
        site: site.to_owned(),
        number: u32::try_from(number).expect("it is less than the number of shards"),
    }
}

/// Orders nodes for a lease, the preferred one first. A node that comes or goes moves only its own leases. A node with
/// less weight gets fewer of them.
pub(crate) fn rank<'n>(subject: &str, nodes: impl Iterator<Item = (&'n str, f64)>) -> Vec<&'n str> {
    let scored = nodes.map(|(node, weight)| {
        // The hash as a number between 0 and 1: weighted rendezvous hashing.
        let part = (hash(&[node, "\0", subject]) >> 11) as f64 + 0.5;
        let unit = part / (1_u64 << 53) as f64;
        (-weight / unit.ln(), node)
    });
    let mut scored: Vec<(f64, &str)> = scored.collect();
    scored.sort_by(|(one, one_name), (other, other_name)| {
        other.total_cmp(one).then_with(|| one_name.cmp(other_name))
    });
    scored.into_iter().map(|(_, node)| node).collect()
}

fn hash(parts: &[&str]) -> u64 {
    let mut digest = Sha256::new();
    for part in parts {
        digest.update(part);
    }
    let digest = digest.finalize();
    let first = digest[..8].try_into().expect("the digest has 32 bytes");
    u64::from_be_bytes(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_spread_over_the_shards_of_a_site() {
        assert_eq!([0, 1, 250, 251, 2500].map(shards_for), [1, 1, 1, 2, 10]);
        assert_eq!(more_shards(1000, 2), None);
        assert_eq!(more_shards(1001, 2), Some(5));
        let mut counts = [0; 4];
        for number in 0..1000 {
            let shard = shard_of(&format!("sw{number}"), "berlin", 4);
            assert_eq!(shard.site, "berlin");
            counts[shard.number as usize] += 1;
        }
        assert!(
            counts.iter().all(|count| (180..320).contains(count)),
            "{counts:?}"
        );
    }

    #[test]
    fn a_node_that_goes_moves_only_its_own_shards() {
        let all = [("a", 1.0), ("b", 1.0), ("c", 1.0)];
        let mut counts = std::collections::BTreeMap::new();
        for number in 0..300 {
            let subject = format!("shard:default/{number}");
            let with_all = rank(&subject, all.into_iter());
            let without_c = rank(&subject, all[..2].iter().copied());
            *counts.entry(with_all[0]).or_insert(0) += 1;
            if with_all[0] != "c" {
                assert_eq!(with_all[0], without_c[0]);
            }
        }
        assert!(
            counts.values().all(|count| (70..130).contains(count)),
            "{counts:?}"
        );
    }

    #[test]
    fn a_loaded_node_gets_fewer_shards() {
        let count = |weight: f64| {
            let nodes = [("a", weight), ("b", 1.0)];
            let first = (0..400).map(|number| rank(&number.to_string(), nodes.into_iter())[0]);
            first.filter(|node| *node == "a").count()
        };
        assert!((170..230).contains(&count(1.0)), "{}", count(1.0));
        assert!((100..165).contains(&count(0.5)), "{}", count(0.5));
    }
}
