//! Who is at the other end of a connection.

use axum::extract::Request;
use axum::extract::connect_info::ConnectInfo;
use std::net::IpAddr;

/// The address of a connection's other end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer(pub IpAddr);

/// The client's address. A proxy on this machine is believed when it says whom it speaks for.
pub(crate) fn origin(request: &Request) -> Option<IpAddr> {
    let peer = request.extensions().get::<ConnectInfo<Peer>>();
    let ConnectInfo(Peer(peer)) = peer?;
    let forwarded = request.headers().get("x-forwarded-for");
    let forwarded = forwarded.and_then(|value| value.to_str().ok()?.rsplit(',').next());
    let forwarded = forwarded.and_then(|text| text.trim().parse().ok());
    Some(forwarded.filter(|_| peer.is_loopback()).unwrap_or(*peer))
}
