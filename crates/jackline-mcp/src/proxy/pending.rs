//! Requests that the server has not answered yet: who waits for what, and until when.

use std::collections::BTreeMap;
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::batch::Batch;
use super::judge::Called;
use crate::message::Id;

/// Requests in flight: clients have a handful, and each holds its arguments.
const PENDING_MAX: usize = 1024;
/// Milliseconds between two looks for calls that took too long, while there are any.
const TICK_MS: u64 = 250;

/// A request that is not answered yet.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) what: What,
    /// The batch that its answer belongs into.
    pub(super) batch: Option<Arc<Batch>>,
    pub(super) deadline: Option<Instant>,
    /// Goes when its answer is given: until then someone waits, though it was taken out of the table to be answered.
    owed: Option<Owed>,
}

/// One answer that is owed; how many are is counted.
type Owed = Arc<()>;

impl Waiting {
    pub(super) const fn new(what: What, batch: Option<Arc<Batch>>, deadline: Option<Instant>) -> Self {
        Self { what, batch, deadline, owed: None }
    }
}

/// What an answer is wanted for.
#[derive(Debug)]
pub(super) enum What {
    /// The client alone.
    Passed,
    /// The client, and its answer says what the server is called.
    Introduction,
    /// The client, and its answer says what the server offers; `first` for the first page of it.
    List { first: bool },
    /// A call that was judged.
    Call(Box<Called>),
    /// A call that is not judged yet, and not sent.
    Held,
    /// Something that we asked for.
    Own(SyncSender<Result<Value, String>>),
}

impl What {
    /// Whether the server was asked, by the client.
    pub(super) const fn is_clients(&self) -> bool {
        matches!(self, Self::Passed | Self::Introduction | Self::List { .. } | Self::Call(_))
    }

    /// Whether the server was asked, by whomever.
    pub(super) const fn is_sent(&self) -> bool {
        !matches!(self, Self::Held)
    }
}

/// Why a request cannot wait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Refused {
    Doubled,
    TooMany,
    /// The server is gone, for this reason.
    Closed(String),
}

impl Refused {
    pub(super) fn told(&self) -> String {
        match self {
            Self::Doubled => "a request with this id is in flight".to_owned(),
            Self::TooMany => "too many requests are in flight".to_owned(),
            Self::Closed(why) => why.clone(),
        }
    }
}

#[derive(Debug, Default)]
struct Table {
    waiting: BTreeMap<Id, Waiting>,
    closed: Option<String>,
    /// Nobody looks at the clock.
    idle: bool,
}

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Pending {
    table: Mutex<Table>,
    changed: Condvar,
    owed: Owed,
}

impl Pending {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether we asked for what has this id.
    pub(super) fn is_ours(&self, id: &Id) -> bool {
        self.table().waiting.get(id).is_some_and(|waiting| matches!(waiting.what, What::Own(_)))
    }

    /// Adds a request; must be done before it is sent.
    pub(super) fn add(&self, id: &Id, mut waiting: Waiting) -> Result<(), Refused> {
        let mut table = self.table();
        if let Some(why) = &table.closed {
            return Err(Refused::Closed(why.clone()));
        }
        // Two requests of one id: whose answer is judged could not be told.
        if table.waiting.contains_key(id) {
            return Err(Refused::Doubled);
        }
        if table.waiting.len() >= PENDING_MAX {
            return Err(Refused::TooMany);
        }
        let wake = table.idle && waiting.deadline.is_some();
        table.idle &= !wake;
        waiting.owed = Some(Arc::clone(&self.owed));
        table.waiting.insert(id.clone(), waiting);
        if wake {
            self.changed.notify_all();
        }
        Ok(())
    }

    /// Takes a request that nobody is to answer but who takes it.
    pub(super) fn take(&self, id: &Id) -> Option<Waiting> {
        self.table().waiting.remove(id)
    }

    /// The same, if it waits for something of this kind.
    pub(super) fn take_if(&self, id: &Id, kind: impl Fn(&What) -> bool) -> Option<Waiting> {
        let mut table = self.table();
        table.waiting.get(id).filter(|waiting| kind(&waiting.what))?;
        table.waiting.remove(id)
    }

    /// The call of this id and deadline that is held, if it still is: an id may be used again.
    fn held<'t>(table: &'t mut Table, (id, deadline): (&Id, Instant)) -> Option<&'t mut Waiting> {
        let held = |waiting: &&mut Waiting| matches!(waiting.what, What::Held) && waiting.deadline == Some(deadline);
        table.waiting.get_mut(id).filter(held)
    }

    /// Whether a call that is held was not answered meanwhile.
    pub(super) fn holds(&self, call: (&Id, Instant)) -> bool {
        Self::held(&mut self.table(), call).is_some()
    }

    /// Takes a call that is held, to be answered by us.
    pub(super) fn take_held(&self, call: (&Id, Instant)) -> Option<Waiting> {
        let mut table = self.table();
        Self::held(&mut table, call)?;
        table.waiting.remove(call.0)
    }

    /// A call that is held goes to the server. Gives it back where nobody waits for it any more.
    ///
    /// INVARIANT: done in its place. Who looks in between must not find that nobody waits.
    pub(super) fn sent(&self, call: (&Id, Instant), called: Box<Called>) -> Result<(), Box<Called>> {
        match Self::held(&mut self.table(), call) {
            Some(waiting) => waiting.what = What::Call(called),
            None => return Err(called),
        }
        Ok(())
    }

    /// The only request in flight, where there is just one.
    pub(super) fn only(&self) -> Option<Id> {
        let table = self.table();
        let mut ids = table.waiting.iter().filter(|(_, waiting)| waiting.what.is_sent()).map(|(id, _)| id);
        ids.next().filter(|_| ids.next().is_none()).cloned()
    }

    /// Whether nobody waits for anything that must come to an end, and no answer is being given.
    pub(super) fn is_settled(&self) -> bool {
        let table = self.table();
        table.waiting.values().all(|waiting| waiting.deadline.is_none()) && !self.is_answering(&table)
    }

    /// Whether no answer is being given.
    pub(super) fn is_quiet(&self) -> bool {
        !self.is_answering(&self.table())
    }

    /// Whether something was taken out of the table and is not answered yet.
    fn is_answering(&self, table: &Table) -> bool {
        // One is ours, and each that waits holds one.
        Arc::strong_count(&self.owed) > 1 + table.waiting.len()
    }

    /// Whether the server has not yet answered a greeting.
    pub(super) fn awaits_introduction(&self) -> bool {
        self.table().waiting.values().any(|waiting| matches!(waiting.what, What::Introduction))
    }

    /// Takes all that the server was sent.
    pub(super) fn take_sent(&self) -> Vec<(Id, Waiting)> {
        let mut table = self.table();
        let all = std::mem::take(&mut table.waiting);
        let (sent, held): (Vec<_>, Vec<_>) = all.into_iter().partition(|(_, waiting)| waiting.what.is_sent());
        table.waiting.extend(held);
        sent
    }

    /// Lets nobody wait any more, for this reason; takes all that did.
    pub(super) fn close(&self, why: &str) -> Vec<(Id, Waiting)> {
        let mut table = self.table();
        table.closed.get_or_insert_with(|| why.to_owned());
        self.changed.notify_all();
        std::mem::take(&mut table.waiting).into_iter().collect()
    }

    /// Waits until requests took too long, and takes them; `None` once it is closed.
    ///
    /// Looks at the clock only while a call is in flight, and is not woken for each: that would cost more than a call.
    pub(super) fn expired(&self) -> Option<Vec<(Id, Waiting)>> {
        let mut table = self.table();
        loop {
            if table.closed.is_some() {
                return None;
            }
            if table.waiting.values().all(|waiting| waiting.deadline.is_none()) {
                table.idle = true;
                table = self.changed.wait(table).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            let now = Instant::now();
            let late = |waiting: &Waiting| waiting.deadline.is_some_and(|deadline| deadline <= now);
            let ids: Vec<Id> =
                table.waiting.iter().filter(|(_, waiting)| late(waiting)).map(|(id, _)| id.clone()).collect();
            if !ids.is_empty() {
                return Some(ids.into_iter().filter_map(|id| table.waiting.remove_entry(&id)).collect());
            }
            let tick = Duration::from_millis(TICK_MS);
            table = self.changed.wait_timeout(table, tick).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(deadline: Option<Instant>) -> Waiting {
        Waiting::new(What::Passed, None, deadline)
    }

    #[test]
    fn one_id_waits_once_and_so_many_wait_at_most() {
        let pending = Pending::default();
        let id = Id::own("a");
        assert_eq!(pending.add(&id, waiting(None)), Ok(()));
        assert_eq!(pending.add(&id, waiting(None)), Err(Refused::Doubled));
        assert_eq!(pending.only(), Some(id.clone()));
        for n in 1..PENDING_MAX {
            assert_eq!(pending.add(&Id::own(&n.to_string()), waiting(None)), Ok(()));
        }
        assert_eq!(pending.add(&Id::own("b"), waiting(None)), Err(Refused::TooMany));
        assert!(pending.take(&id).is_some() && pending.take(&id).is_none() && pending.only().is_none());
    }

    #[test]
    fn what_takes_too_long_is_taken_and_what_has_no_deadline_stays() {
        let pending = Pending::default();
        pending.add(&Id::own("late"), waiting(Some(Instant::now()))).unwrap();
        pending.add(&Id::own("patient"), waiting(None)).unwrap();
        let expired = pending.expired().unwrap();
        assert_eq!(expired.iter().map(|(id, _)| id.clone()).collect::<Vec<_>>(), [Id::own("late")]);
        assert_eq!(pending.close("gone").len(), 1);
        assert!(pending.expired().is_none());
        assert_eq!(pending.add(&Id::own("new"), waiting(None)), Err(Refused::Closed("gone".to_owned())));
    }

    #[test]
    fn nothing_is_settled_before_the_last_answer_is_given() {
        let pending = Pending::default();
        let (id, soon) = (Id::own("a"), Instant::now() + Duration::from_secs(60));
        pending.add(&Id::own("lasting"), waiting(None)).unwrap();
        assert!(pending.is_settled() && pending.is_quiet());
        pending.add(&id, waiting(Some(soon))).unwrap();
        assert!(!pending.is_settled() && pending.is_quiet());
        let taken = pending.take(&id).unwrap();
        assert!(!pending.is_settled() && !pending.is_quiet(), "it is being answered");
        drop(taken);
        assert!(pending.is_settled() && pending.is_quiet());
    }

    #[test]
    fn what_is_held_is_taken_by_nobody_elses_answer_and_goes_on_once() {
        let pending = Pending::default();
        let (id, deadline) = (Id::own("a"), Instant::now() + Duration::from_secs(60));
        let call = (&id, deadline);
        pending.add(&id, Waiting::new(What::Held, None, Some(deadline))).unwrap();
        assert!(pending.take_if(&id, What::is_sent).is_none() && pending.only().is_none());
        assert!(pending.take_sent().is_empty() && pending.holds(call) && !pending.is_settled());
        assert!(!pending.holds((&id, deadline + Duration::from_secs(1))), "another call of the same id");
        assert!(pending.take_held(call).is_some() && pending.take_held(call).is_none() && pending.is_settled());
    }

    #[test]
    fn a_call_wakes_who_looks_at_the_clock() {
        let pending = Arc::new(Pending::default());
        let watching = Arc::clone(&pending);
        let watcher = std::thread::spawn(move || watching.expired().map(|expired| expired.len()));
        std::thread::sleep(Duration::from_millis(50));
        pending.add(&Id::own("late"), waiting(Some(Instant::now()))).unwrap();
        assert_eq!(watcher.join().unwrap(), Some(1));
    }
}
