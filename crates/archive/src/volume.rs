//! Our volumes: a label that explains itself, tar segments between filemarks.
