//! Carries: loads sessions, answers probes, commits records around the pure core.

pub mod checkpoint;
