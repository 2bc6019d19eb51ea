//! Blocks between drive and disk on threads of their own, in buffers that are used again.
