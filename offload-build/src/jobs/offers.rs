//! Actions that wait for a processor here, and that another machine may take as well: one at a time, or several at once
//! where its workers are busy.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use offload_format::remote::{Action, Executed, Times};

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
    window: Window,
}

/// How many bundles are on other machines at once.
#[derive(Debug)]
struct Window {
    /// As many as seem to be of use.
    size: usize,
    most: usize,
    open: usize,
    /// The processors of this machine.
    here: usize,
    /// Whether one had to wait for a worker.
    was_full: bool,
}

/// So many commands are tried at first. They become twice as many in the time that one takes, where workers are free.
const FIRST: usize = 2;
/// Whoever waits for a worker longer than this share of the work has met busy ones.
const PATIENCE: u64 = 4;
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
    /// Up to `most` bundles at once.
    pub(super) fn new(most: usize) -> Offers {
        let here = std::thread::available_parallelism().map_or(1, usize::from);
        let window = Window { size: most.min(FIRST), most, open: 0, here, was_full: false };
        Offers { waiting: Vec::new(), window }
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
        let size = self.window.enter(self.waiting.len())?;
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

    /// What was taken has ended elsewhere, and took that long.
    pub(super) fn leave(&mut self, times: Option<Times>) {
        self.window.leave(times);
    }

    #[cfg(test)]
    pub(super) fn open(&self) -> usize {
        self.window.open
    }
}

impl Window {
    /// How many of `waiting` commands go together, if there is room. Where workers are free each goes alone, which is
    /// soonest. Where they are busy, bundles become smaller towards the end, and the processors of this machine take the
    /// last ones: they would wait for other machines.
    fn enter(&mut self, waiting: usize) -> Option<usize> {
        if self.open >= self.size || self.was_full && waiting <= self.here {
            return None;
        }
        self.open = self.open.saturating_add(1);
        let shares = self.size.saturating_mul(2).max(1);
        Some(if self.was_full { (waiting / shares).clamp(1, LARGEST) } else { 1 })
    }

    /// Commands that wait for workers are too many. A server that does not tell gets as many as it may.
    fn leave(&mut self, times: Option<Times>) {
        self.open = self.open.saturating_sub(1);
        let Some(Times { waited, worked }) = times else { return };
        if waited > worked / PATIENCE {
            self.was_full = true;
            self.size = self.size.saturating_sub(1).max(1);
        } else {
            self.size = self.size.saturating_add(1).min(self.most);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use offload_format::remote::Program;

    const QUICK: Option<Times> = Some(Times { waited: 10, worked: 100 });
    const LATE: Option<Times> = Some(Times { waited: 300, worked: 100 });

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

    fn waiting(most: usize, count: usize) -> Offers {
        let mut offers = Offers::new(most);
        offers.window.here = 2;
        (0..count).for_each(|_| offers.add(&offer("clang")));
        offers
    }

    #[test]
    fn free_workers_get_more_and_more_each_alone() {
        let mut offers = waiting(128, 1000);
        let mut given = Vec::new();
        for _ in 0..5 {
            let sizes = sizes(&mut offers);
            assert!(sizes.iter().all(|size| *size == 1));
            given.push(sizes.len());
            sizes.iter().for_each(|_| offers.leave(QUICK));
        }
        assert_eq!(given, [2, 4, 8, 16, 32]);
        assert_eq!(offers.window.size, 64);
    }

    #[test]
    fn busy_workers_get_bundles_which_become_small_at_the_end() {
        let mut offers = waiting(128, 100);
        assert_eq!(sizes(&mut offers), [1; 2]);
        (0..2).for_each(|_| offers.leave(QUICK));
        assert_eq!(sizes(&mut offers), [1; 4]);
        (0..4).for_each(|number| offers.leave(if number < 2 { QUICK } else { LATE }));
        assert_eq!(offers.window.size, 4);
        assert_eq!(sizes(&mut offers), [8; 4]);
        (0..4).for_each(|_| offers.leave(LATE));
        assert_eq!(offers.window.size, 1);
        let mut last = Vec::new();
        loop {
            let more = sizes(&mut offers);
            if more.is_empty() {
                break;
            }
            last.extend(more);
            offers.leave(None);
        }
        // The processors here take two.
        assert_eq!(last.iter().sum::<usize>(), 60);
        assert_eq!((last[0], last.last()), (8, Some(&2)));
    }

    #[test]
    fn other_tools_go_alone() {
        let mut offers = waiting(128, 40);
        let other = offer("lld");
        offers.add(&other);
        offers.window.was_full = true;
        offers.window.size = 1;
        assert_eq!(offers.take(&other).unwrap().len(), 1);
        assert_eq!(offers.waiting.len(), 40);
        let uploaded = Offer::new(Action { programs: Vec::new(), ..other.action().clone() });
        assert!(!uploaded.goes_with(&uploaded));
    }
}
