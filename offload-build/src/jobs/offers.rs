//! Actions that wait for a processor here, and that another machine may take as well: one at a time, or several at once
//! where its workers are busy.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use offload_format::remote::{Action, Executed, Room};

/// An action that a thread waits with.
#[derive(Debug)]
pub(super) struct Offer {
    action: Action,
    /// What it came to, once somebody has taken it along: nothing if it has to be done here.
    outcome: Mutex<Option<Option<Executed>>>,
    ended: Condvar,
}

/// All offers that nobody has taken, the oldest first, and how much other machines are given.
#[derive(Debug)]
pub(super) struct Offers {
    waiting: Vec<Arc<Offer>>,
    /// As the process says that reaches them; it knows those of other build scripts too.
    room: Room,
    most: usize,
    /// How many bundles are there.
    open: usize,
    /// The processors of this machine.
    here: usize,
}

/// So many commands travel together at most.
const LARGEST: usize = 8;

impl Offer {
    pub(super) fn new(action: Action) -> Arc<Offer> {
        Arc::new(Offer { action, outcome: Mutex::default(), ended: Condvar::new() })
    }

    pub(super) fn action(&self) -> &Action {
        &self.action
    }

    /// Waits for whoever has taken it.
    pub(super) fn outcome(&self) -> Option<Executed> {
        let mut outcome = self.lock();
        loop {
            if let Some(outcome) = outcome.take() {
                return outcome;
            }
            outcome = self.ended.wait(outcome).unwrap_or_else(PoisonError::into_inner);
        }
    }

    pub(super) fn end(&self, outcome: Option<Executed>) {
        *self.lock() = Some(outcome);
        self.ended.notify_all();
    }

    /// Whether both can be one command. Workers need a shell for that, which those of compilers that travel may lack.
    fn goes_with(&self, other: &Offer) -> bool {
        let (one, other) = (&self.action, &other.action);
        !one.programs.is_empty() && one.programs == other.programs && one.variables == other.variables
    }

    fn lock(&self) -> MutexGuard<'_, Option<Option<Executed>>> {
        self.outcome.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Offers {
    /// Up to `most` bundles at once; one until it is known for how many there is room.
    pub(super) fn new(most: usize) -> Offers {
        let here = std::thread::available_parallelism().map_or(1, usize::from);
        let room = Room { commands: 1, was_full: false };
        Offers { waiting: Vec::new(), room, most, open: 0, here }
    }

    pub(super) fn has_room(&mut self, room: Room) {
        self.room = room;
    }

    pub(super) fn add(&mut self, offer: &Arc<Offer>) {
        self.waiting.push(Arc::clone(offer));
    }

    pub(super) fn has(&self, offer: &Arc<Offer>) -> bool {
        self.waiting.iter().any(|other| Arc::ptr_eq(other, offer))
    }

    pub(super) fn withdraw(&mut self, offer: &Arc<Offer>) {
        self.waiting.retain(|other| !Arc::ptr_eq(other, offer));
    }

    /// `offer` with others that wait, if other machines have room. They wait no longer.
    pub(super) fn take(&mut self, offer: &Arc<Offer>) -> Option<Vec<Arc<Offer>>> {
        let size = self.enter()?;
        self.withdraw(offer);
        let mut taken = vec![Arc::clone(offer)];
        self.waiting.retain(|other| {
            let goes = taken.len() < size && offer.goes_with(other);
            if goes {
                taken.push(Arc::clone(other));
            }
            !goes
        });
        Some(taken)
    }

    /// What was taken has ended elsewhere.
    pub(super) fn leave(&mut self) {
        self.open = self.open.saturating_sub(1);
    }

    #[cfg(test)]
    pub(super) fn open(&self) -> usize {
        self.open
    }

    /// How many of those that wait go together, if there is room. Where workers are free each goes alone, which is
    /// soonest. Where they are busy, bundles become smaller towards the end, and the processors of this machine take the
    /// last ones: they would wait for other machines.
    fn enter(&mut self) -> Option<usize> {
        let Room { commands, was_full } = self.room;
        let size = usize::try_from(commands).unwrap_or(usize::MAX).min(self.most);
        if self.open >= size || was_full && self.waiting.len() <= self.here {
            return None;
        }
        self.open = self.open.saturating_add(1);
        let shares = size.saturating_mul(2).max(1);
        Some(if was_full { (self.waiting.len() / shares).clamp(1, LARGEST) } else { 1 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use offload_format::remote::Program;

    fn offer(program: &str) -> Arc<Offer> {
        let names = Vec::new;
        let path = program.to_string();
        let program = Program { path, library_directories: names(), opened: names(), others: names() };
        Offer::new(Action {
            arguments: names(),
            variables: Vec::new(),
            directory: String::new(),
            inputs: Vec::new(),
            outputs: names(),
            programs: vec![program],
            seconds: 0,
        })
    }

    /// How many commands each bundle has while there is room.
    fn sizes(offers: &mut Offers) -> Vec<usize> {
        let mut sizes = Vec::new();
        while let Some(first) = offers.waiting.first().cloned() {
            let Some(taken) = offers.take(&first) else { break };
            sizes.push(taken.len());
        }
        sizes
    }

    fn waiting(count: usize) -> Offers {
        let mut offers = Offers::new(128);
        offers.here = 2;
        (0..count).for_each(|_| offers.add(&offer("clang")));
        offers
    }

    #[test]
    fn free_workers_get_as_many_as_there_is_room_for_each_alone() {
        let mut offers = waiting(1000);
        assert_eq!(sizes(&mut offers), [1]);
        offers.has_room(Room { commands: 16, was_full: false });
        assert_eq!(sizes(&mut offers), [1; 15]);
        offers.has_room(Room { commands: u64::MAX, was_full: false });
        assert_eq!(sizes(&mut offers), [1; 112]);
        offers.leave();
        assert_eq!(sizes(&mut offers), [1]);
    }

    #[test]
    fn busy_workers_get_bundles_which_become_small_at_the_end() {
        let mut offers = waiting(60);
        offers.has_room(Room { commands: 1, was_full: true });
        let mut last = Vec::new();
        loop {
            let more = sizes(&mut offers);
            if more.is_empty() {
                break;
            }
            last.extend(more);
            offers.leave();
        }
        // The processors here take two.
        assert_eq!(last.iter().sum::<usize>(), 58);
        assert_eq!((last[0], last.last()), (8, Some(&1)));
    }

    #[test]
    fn other_tools_go_alone() {
        let mut offers = waiting(40);
        let other = offer("lld");
        offers.add(&other);
        offers.has_room(Room { commands: 1, was_full: true });
        assert_eq!(offers.take(&other).unwrap().len(), 1);
        assert_eq!(offers.waiting.len(), 40);
        let uploaded = Offer::new(Action { programs: Vec::new(), ..other.action().clone() });
        assert!(!uploaded.goes_with(&uploaded));
    }
}
