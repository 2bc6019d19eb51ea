//! The pages of the book that explain, by the name of their file.

macro_rules! guides {
    ($($name:literal),* $(,)?) => {
        /// The guides: how to do things, and why they are as they are.
        pub const GUIDES: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../../guides/", $name, ".md")))),*];
    };
}

guides![
    "accept-a-drive",
    "accept-a-library",
    "add-a-profile",
    "bench-a-library",
    "bounds",
    "campaign",
    "cern-2018",
    "check-a-drive",
    "durability",
    "fit-a-profile",
    "fit-from-site-logs",
    "fitting",
    "fitting-without-positions",
    "four-persons",
    "fuzzing",
    "glossary",
    "gniewek-1999",
    "hillyer-1996",
    "how-the-emulator-moves",
    "johnson-miller-1998",
    "landing-points",
    "library-bench",
    "link-from-c",
    "measure-a-drive",
    "measuring",
    "nersc-2001",
    "next-mount",
    "objectives",
    "order-an-ltfs-tape",
    "order-block-lists-csv",
    "order-by-priority-or-deadline",
    "orders",
    "plan-in-a-browser",
    "positions",
    "prove-an-order",
    "pull-cartridges-and-share-drives",
    "python",
    "queueing",
    "recall-from-an-ltfs-tape",
    "reproduce-the-papers",
    "robustness",
    "serve-recalls",
    "simulation-statistics",
    "size-a-library",
    "start",
    "stress-a-library",
    "test-recall-order-in-ci",
    "tutorial",
    "use-a-drive",
    "use-a-table-of-wrap-ends",
    "use-from-python",
    "where-did-the-drive-hours-go",
];
