//! Which file lies where: SQLite, behind a trait.
