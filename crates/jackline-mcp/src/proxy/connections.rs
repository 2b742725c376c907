//! Connections to a server that is reached by its address: each request in flight has its own, so that the one of a request
//! that nobody waits for can be cut. A server need not answer what was cancelled, and then nothing would ever come there.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ureq::Agent;
use ureq::config::Config;

use crate::message::Id;

/// Requests in flight: each has a thread of its own.
const REQUESTS_MAX: usize = 64;
/// Threads that carry requests: as many again may be on their way out, because nobody waits for them any more.
const CARRIERS_MAX: usize = 2 * REQUESTS_MAX;
/// Connections kept for later requests; more are seldom used at once.
const IDLE_MAX: usize = 8;

/// What a request goes through.
#[derive(Debug, Clone)]
pub(super) struct Connection {
    /// Tells two of one id apart: a client may use an id again.
    number: u64,
    /// One that no other request uses, so that ending it ends nothing else.
    pub(super) agent: Agent,
}

#[derive(Debug, Default)]
struct Table {
    used: BTreeMap<Id, Connection>,
    idle: Vec<Agent>,
    carriers: usize,
    numbers: u64,
}

/// All of them.
#[derive(Debug)]
pub(super) struct Connections {
    config: Config,
    table: Mutex<Table>,
}

impl Connections {
    pub(super) fn new(config: Config) -> Self {
        Self { config, table: Mutex::default() }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One for a request; none where too many are in flight.
    pub(super) fn take(&self, id: &Id) -> Option<Connection> {
        let mut table = self.table();
        if table.used.len() >= REQUESTS_MAX || table.carriers >= CARRIERS_MAX {
            return None;
        }
        table.carriers += 1;
        table.numbers += 1;
        let agent = table.idle.pop().unwrap_or_else(|| Agent::new_with_config(self.config.clone()));
        let connection = Connection { number: table.numbers, agent };
        table.used.insert(id.clone(), connection.clone());
        Some(connection)
    }

    /// A request is over; whether it was, rather than cut.
    pub(super) fn give_back(&self, id: &Id, connection: Connection) -> bool {
        let mut table = self.table();
        table.carriers = table.carriers.saturating_sub(1);
        if table.used.get(id).is_none_or(|used| used.number != connection.number) {
            return false;
        }
        table.used.remove(id);
        if table.idle.len() < IDLE_MAX {
            table.idle.push(connection.agent);
        }
        true
    }

    /// Nobody waits for this request: whoever carries it stops.
    pub(super) fn cut(&self, id: &Id) {
        let cut = self.table().used.remove(id);
        cut.into_iter().for_each(|connection| connection.agent.shutdown());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connections() -> Connections {
        Connections::new(Agent::config_builder().build())
    }

    #[test]
    fn what_is_cut_makes_room_at_once_and_comes_back_once() {
        let (connections, id) = (connections(), |n: usize| Id::own(&n.to_string()));
        let taken: Vec<Connection> = (0..REQUESTS_MAX).map(|n| connections.take(&id(n)).unwrap()).collect();
        assert!(connections.take(&id(REQUESTS_MAX)).is_none());
        (0..REQUESTS_MAX).for_each(|n| connections.cut(&id(n)));
        let again = connections.take(&id(0)).unwrap();
        for (n, connection) in taken.into_iter().enumerate() {
            assert!(!connections.give_back(&id(n), connection), "{n} was cut");
        }
        assert!(connections.give_back(&id(0), again), "another request of that id was not");
        let table = connections.table();
        assert_eq!((table.carriers, table.idle.len()), (0, 1));
    }

    #[test]
    fn what_is_on_its_way_out_is_bounded_too() {
        let connections = connections();
        for n in 0..CARRIERS_MAX {
            let id = Id::own(&n.to_string());
            assert!(connections.take(&id).is_some(), "{n}");
            connections.cut(&id);
        }
        assert!(connections.take(&Id::own("more")).is_none());
    }
}
