//! Carries out plans on a drive: measurements and recalls, with the event log written as they go.
