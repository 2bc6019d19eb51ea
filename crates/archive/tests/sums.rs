//! Checksums against the check values that their specifications publish.

use tapewise_archive::sums::{Kind, Sum, Summer};

/// What the nine bytes "123456789" sum up to, and for the hashes "abc".
const PUBLISHED: [(&str, &str); 10] = [
    ("123456789", "crc32:cbf43926"),
    ("123456789", "crc32c:e3069283"),
    ("123456789", "crc64nvme:ae8b14860a799888"),
    ("123456789", "adler32:091e01de"),
    ("abc", "xxh64:44bc2cf5ad770999"),
    ("abc", "xxh3:78af5f94892f3950"),
    ("abc", "md5:900150983cd24fb0d6963f7d28e17f72"),
    ("abc", "sha1:a9993e364706816aba3e25717850c26c9cd0d89d"),
    (
        "abc",
        "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    ),
    (
        "abc",
        "sha512:ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
    ),
];

#[test]
fn sums_are_those_their_specifications_publish_however_the_bytes_arrive() {
    for ((text, published), kind) in PUBLISHED.into_iter().zip(Kind::ALL) {
        let sum: Sum = published.parse().expect("a sum");
        assert_eq!(sum.kind, kind);
        assert_eq!(Sum::of(kind, text.as_bytes()), sum);
        let mut summer = Summer::new([kind]);
        for byte in text.bytes() {
            summer.update(&[byte]);
        }
        assert_eq!(summer.finish()[0].to_string(), published);
    }
}

#[test]
fn what_is_no_checksum_is_refused() {
    for text in [
        "",
        "md5",
        "md5:12",
        "crc32:cbf4392g",
        "sha3:00",
        "crc32:ääää",
    ] {
        assert!(text.parse::<Sum>().is_err(), "{text}");
    }
}
