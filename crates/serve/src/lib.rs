//! Recalls over HTTP: the WLCG Tape REST API in front of an archive, and what an operator wants to see of it.
//!
//! A [`Service`] answers HTTP; it moves no tape. What it is asked for goes into the archive's catalogue, and whoever
//! has the drives carries it out and says in [`Work`] what it does. So a request survives the end of either.
//!
//! | module | what it knows |
//! |---|---|
//! | `service` | an archive, who may ask, and how much |
//! | `settings` | what `serve.toml` says |
//! | `area` | a directory and all below it |
//! | `limits` | how much may be asked for |
//! | `access/` | who may do what: users, WLCG tokens, their keys and scopes |
//! | `rate` | how often somebody may ask |
//! | `connections` | what comes to a socket, answered one beside the other, and ended when nothing more comes |
//! | `audit` | who asked for what, and what came of it |
//! | `body` | what calls are sent, read strictly |
//! | `once` | JSON whose objects have each key once |
//! | `tls` | the certificate, and encrypted connections |
//! | `peer` | who is at the other end |
//! | `http` | which address is answered by what, and who is let in |
//! | `tape` | the WLCG Tape REST API, version 1 |
//! | `names` | what a path in a request means in the archive |
//! | `lifetime` | how long a staged file stays in the cache |
//! | `files` | contents of staged files |
//! | `dav` | what WebDAV clients ask before they read: the properties of files and directories |
//! | `range` | what part of a file a client wants |
//! | `drives` | what drives did, from their events |
//! | `requests` | our own API: requests of all, priorities, hold and cancel; drives and history |
//! | `failed` | recalls that failed, until somebody deals with them |
//! | `forecast` | when each recall is likely to be answered |
//! | `fitness` | whether requests can be taken |
//! | `metrics` | what Prometheus collects, and whether all is well |
//! | `status` | what happens now, for programs |
//! | `openapi` | the description of all of it |
//! | `page` | the page for people |
//! | `problem` | errors as RFC 7807 wants them |
//! | `token` | the file with the secret that lets a client in |
//! | `trace/` | what was done for each request, for collectors of OpenTelemetry |
//! | `work` | what the drives' side is doing |

mod access;
mod area;
mod audit;
mod body;
mod connections;
mod dav;
mod drives;
mod failed;
mod files;
mod fitness;
mod forecast;
mod http;
mod lifetime;
mod limits;
mod metrics;
mod names;
mod once;
mod open_files;
mod openapi;
mod page;
mod peer;
mod problem;
mod range;
mod rate;
mod requests;
mod service;
mod settings;
mod status;
mod tape;
mod tls;
mod token;
mod trace;
mod visible;
mod work;

pub use access::{Access, AccessError};
pub use area::Area;
pub use audit::open as open_audit_file;
pub use drives::Drives;
pub use http::{listen, router};
pub use limits::Limits;
pub use metrics::router_of_mover;
pub use service::{Parts, Service, Site};
pub use settings::{
    A_DIRECTORY, Directory, IssuerSettings, May, ServeSettings, SettingsError, Sha256Hex,
    TlsSettings, UserSettings, user_lines,
};
pub use tls::{Certificate, CertificateError};
pub use token::{Token, TokenError, new_secret};
pub use trace::{Collector, Lost, Tracer, recalls_of};
pub use work::{Counts, Doing, Work};
