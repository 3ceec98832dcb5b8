//! The mock devices as their clients see them, over real sockets.

mod fleet;
mod grammar;
mod load_balancer;
mod structural;
mod structural_rest;
mod switch;
