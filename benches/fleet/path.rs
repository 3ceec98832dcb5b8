//! A path to a device that tells when the first byte of a connection arrives.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

/// A port of loopback whose connections lead to another one.
pub(crate) struct Path {
    pub(crate) port: u16,
    arrivals: Receiver<Instant>,
}

impl Path {
    pub(crate) fn to(target: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
        let port = listener
            .local_addr()
            .expect("a listener has an address")
            .port();
        let (sender, arrivals) = channel();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let sender = sender.clone();
                std::thread::spawn(move || forward(stream, target, &sender));
            }
        });
        Self { port, arrivals }
    }

    /// Forgets what has arrived.
    pub(crate) fn clear(&self) {
        while self.arrivals.try_recv().is_ok() {}
    }

    /// When the next connection has its first byte.
    pub(crate) fn arrival(&self, limit: Duration) -> Instant {
        let arrival = self.arrivals.recv_timeout(limit);
        arrival.expect("the run connects to its device")
    }
}

fn forward(mut stream: TcpStream, target: u16, arrivals: &Sender<Instant>) {
    let Ok(mut device) = TcpStream::connect(("127.0.0.1", target)) else {
        return;
    };
    let _ = (stream.set_nodelay(true), device.set_nodelay(true));
    let (Ok(mut back), Ok(mut answers)) = (stream.try_clone(), device.try_clone()) else {
        return;
    };
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut answers, &mut back);
        let _ = back.shutdown(std::net::Shutdown::Both);
    });
    let mut first = [0; 1];
    if stream.read_exact(&mut first).is_ok() {
        let _ = arrivals.send(Instant::now());
        let _ = device.write_all(&first);
        let _ = std::io::copy(&mut stream, &mut device);
    }
    let _ = device.shutdown(std::net::Shutdown::Both);
}
