//! What is particular to hosts where a decision hangs on it. Their tools are in [`crate::tools`].

/// What we know of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Host {
    pub name: &'static str,
    /// Stops in a row that it lets us hold; it lets the next one through by itself.
    pub stops_held_max: Option<u32>,
}

/// The hosts that cap something by themselves.
const HOSTS: &[Host] = &[
    Host { name: "claude", stops_held_max: Some(8) },
    Host { name: "copilot", stops_held_max: Some(8) },
    Host { name: "qwen", stops_held_max: Some(8) },
];

/// How many stops in a row are held on a host: what it lets through by itself shall be on record as let through.
#[must_use]
pub fn stops_held_max(host: Option<&str>, wanted: u32) -> u32 {
    let cap = HOSTS.iter().find(|known| host == Some(known.name)).and_then(|known| known.stops_held_max);
    cap.map_or(wanted, |cap| wanted.min(cap))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hosts_own_cap_holds_where_it_is_lower() {
        assert_eq!(stops_held_max(Some("claude"), 6), 6);
        assert_eq!(stops_held_max(Some("claude"), 100), 8);
        assert_eq!((stops_held_max(Some("my-loop"), 100), stops_held_max(None, 100)), (100, 100));
    }
}
