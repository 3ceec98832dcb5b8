//! The mock switch as its clients see it, over real sockets.

mod faults;
mod lines;
mod session;
mod shows;
mod terminal;
