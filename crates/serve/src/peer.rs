//! Who is at the other end of a connection.

use axum::extract::Request;
use axum::extract::connect_info::ConnectInfo;
use std::net::IpAddr;

/// The address of a connection's other end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer(pub IpAddr);

/// The client's address. A proxy on this machine is believed when it says whom it speaks for: the last address of the last
/// header is its own word, and all before it is the client's.
pub(crate) fn origin(request: &Request) -> Option<IpAddr> {
    let peer = request.extensions().get::<ConnectInfo<Peer>>();
    let ConnectInfo(Peer(peer)) = peer?;
    // A socket for both kinds of addresses has those of IPv4 in the other form.
    let peer = peer.to_canonical();
    let forwarded = request.headers().get_all("x-forwarded-for");
    let forwarded = forwarded.iter().next_back();
    let forwarded = forwarded.and_then(|value| value.to_str().ok()?.rsplit(',').next());
    let forwarded = forwarded.and_then(|text| text.trim().parse().ok());
    Some(forwarded.filter(|_| peer.is_loopback()).unwrap_or(peer))
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;

    #[test]
    fn only_the_last_word_of_a_proxy_on_this_machine_is_believed() {
        let of = |peer: &str, forwarded: &[&str]| {
            let mut request = Request::new(Body::empty());
            let peer = peer.parse().expect("an address");
            request.extensions_mut().insert(ConnectInfo(Peer(peer)));
            for value in forwarded {
                let value = value.parse().expect("a value");
                request.headers_mut().append("x-forwarded-for", value);
            }
            origin(&request).expect("an address").to_string()
        };
        assert_eq!(of("127.0.0.1", &[]), "127.0.0.1");
        assert_eq!(of("127.0.0.1", &["6.6.6.6, 192.0.2.9"]), "192.0.2.9");
        // HAProxy adds a header of its own below that of the client.
        assert_eq!(of("127.0.0.1", &["6.6.6.6", "192.0.2.9"]), "192.0.2.9");
        assert_eq!(of("::ffff:127.0.0.1", &["192.0.2.9"]), "192.0.2.9");
        assert_eq!(of("::ffff:192.0.2.1", &["6.6.6.6"]), "192.0.2.1");
    }
}
