//! Ports of loopback for programs that get their port on the command line.

use std::net::{Ipv4Addr, TcpListener};
use std::sync::atomic::{AtomicU32, Ordering};

/// Linux gives ports from 32768 on to connections and to listeners on port 0.
const PORTS: std::ops::Range<u32> = 16_384..32_768;

/// A port that nothing listens on.
///
/// The kernel gives it to nothing else, and this process gives it once: it is still free when a
/// program starts later.
///
/// # Panics
/// If no port is free.
pub fn free_port() -> u16 {
    static ALLOCATED: AtomicU32 = AtomicU32::new(0);
    // Another process of tests begins elsewhere.
    let first = std::process::id().wrapping_mul(64);
    PORTS
        .map(|_| {
            let allocated = ALLOCATED.fetch_add(1, Ordering::Relaxed);
            PORTS.start + first.wrapping_add(allocated) % (PORTS.end - PORTS.start)
        })
        .map(|port| u16::try_from(port).expect("the range is of u16"))
        .find(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok())
        .expect("a port of loopback is free")
}
