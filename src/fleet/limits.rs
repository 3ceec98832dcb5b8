//! Limits of the number of devices that run at once: in total, per site, per jump host.
//!
//! Permits are acquired before a connection is opened, always in the same order, so that memory
//! follows the permits and two runs cannot wait for each other.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::inventory::{Device, Inventory};

/// The limits of one fleet run.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    all: Arc<Semaphore>,
    sites: BTreeMap<String, Arc<Semaphore>>,
    jump_hosts: BTreeMap<String, Arc<Semaphore>>,
}

/// The groups of a device that have limits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Membership {
    pub(crate) site: Option<String>,
    pub(crate) jump_host: Option<String>,
}

impl Membership {
    /// The groups of a device of the inventory.
    pub(crate) fn of(device: &Device) -> Self {
        Self {
            site: device.site().map(str::to_owned),
            jump_host: device.settings.jump_host().map(str::to_owned),
        }
    }
}

/// The permit of a running device; released when dropped.
#[derive(Debug)]
pub(crate) struct Permit {
    limits: Limits,
    member: Membership,
    held: Vec<OwnedSemaphorePermit>,
}

impl Permit {
    /// Lets another device run.
    pub(crate) fn release(&mut self) {
        self.held.clear();
    }

    /// Waits until the device may run again.
    ///
    /// # Cancellation
    /// May be dropped at any time.
    pub(crate) async fn acquire_again(&mut self) {
        self.held = self.limits.permits(&self.member).await;
    }
}

impl Limits {
    /// The limits of the inventory, and `concurrency` devices at once.
    pub(crate) fn of_inventory<'a>(
        inventory: &Inventory,
        concurrency: usize,
        members: impl IntoIterator<Item = &'a Membership>,
    ) -> Self {
        let limits = inventory.limits;
        let all = limits
            .concurrency
            .map_or(concurrency, |limit| limit.min(concurrency));
        Self::new(all, limits.per_site, limits.per_jump, members)
    }

    /// `all` devices at once (at least one). `members` are all devices of the run; each site and
    /// jump host among them gets `per_site` and `per_jump_host` permits, or no limit of its own.
    pub(crate) fn new<'a>(
        all: usize,
        per_site: Option<usize>,
        per_jump_host: Option<usize>,
        members: impl IntoIterator<Item = &'a Membership>,
    ) -> Self {
        let mut limits = Self {
            all: Arc::new(Semaphore::new(all.max(1))),
            sites: BTreeMap::new(),
            jump_hosts: BTreeMap::new(),
        };
        let add = |group: &mut BTreeMap<_, _>, name: &Option<String>, size: Option<usize>| {
            if let (Some(name), Some(size)) = (name, size) {
                group
                    .entry(name.clone())
                    .or_insert_with(|| Arc::new(Semaphore::new(size.max(1))));
            }
        };
        for member in members {
            add(&mut limits.sites, &member.site, per_site);
            add(&mut limits.jump_hosts, &member.jump_host, per_jump_host);
        }
        limits
    }

    /// Waits until the device may start. The permit of the jump host comes first: a device that
    /// waits for it must not hold a permit that another site could use.
    ///
    /// # Cancellation
    /// May be dropped at any time.
    pub(crate) async fn acquire(&self, member: &Membership) -> Permit {
        Permit {
            held: self.permits(member).await,
            limits: self.clone(),
            member: member.clone(),
        }
    }

    async fn permits(&self, member: &Membership) -> Vec<OwnedSemaphorePermit> {
        let jump_host = member
            .jump_host
            .as_ref()
            .and_then(|name| self.jump_hosts.get(name));
        let site = member.site.as_ref().and_then(|name| self.sites.get(name));
        let mut held = Vec::with_capacity(3);
        for semaphore in [jump_host, site, Some(&self.all)].into_iter().flatten() {
            let permit = Arc::clone(semaphore).acquire_owned().await;
            held.push(permit.expect("the semaphores are never closed"));
        }
        held
    }

    /// Whether all these devices may run at once, while no other one does.
    pub(crate) fn admit_all<'a>(
        &self,
        members: impl Iterator<Item = &'a Membership> + Clone,
    ) -> bool {
        let fits = |group: &BTreeMap<String, Arc<Semaphore>>,
                    of: fn(&Membership) -> &Option<String>| {
            group.iter().all(|(name, permits)| {
                let count = members
                    .clone()
                    .filter(|member| of(member).as_ref() == Some(name));
                count.count() <= permits.available_permits()
            })
        };
        members.clone().count() <= self.all.available_permits()
            && fits(&self.sites, |member| &member.site)
            && fits(&self.jump_hosts, |member| &member.jump_host)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(site: &str, jump_host: Option<&str>) -> Membership {
        Membership {
            site: Some(site.to_owned()),
            jump_host: jump_host.map(str::to_owned),
        }
    }

    #[tokio::test]
    async fn acquire_applies_each_limit() {
        let members = [
            member("a", None),
            member("a", Some("j")),
            member("b", Some("j")),
            member("c", None),
        ];
        let limits = Limits::new(3, Some(1), Some(1), &members);
        let first = limits.acquire(&members[0]).await;
        // Site a is full; site b is free.
        let waits =
            tokio::time::timeout(std::time::Duration::ZERO, limits.acquire(&members[1])).await;
        assert!(waits.is_err(), "site a admits one");
        let second = limits.acquire(&members[2]).await;
        let third = limits.acquire(&members[3]).await;
        let other = tokio::time::timeout(
            std::time::Duration::ZERO,
            limits.acquire(&Membership {
                site: None,
                jump_host: None,
            }),
        )
        .await;
        assert!(other.is_err(), "three in all");
        drop((first, second, third));
        limits.acquire(&members[1]).await;
    }
}
