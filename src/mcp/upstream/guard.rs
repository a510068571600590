//! Ends the processes of MCP servers that a killed Toolwire process leaves behind. A child process does so, since its
//! standard input ends when Toolwire does.
//!
//! It finds them by a variable in their environments, which the processes that they start inherit, in whatever session
//! they are. Where there is no `/proc` it finds none: MCP servers then only see the end of their input.

use std::{
    collections::HashMap,
    env, fs, io,
    process::{Child, Command, Stdio},
    sync::OnceLock,
    thread,
    time::Duration,
};

use rustix::process::{Pid, Signal, getpid, kill_process};
use uuid::Uuid;

/// In the environment of every process of an MCP server.
const VARIABLE: &str = "TOOLWIRE_STARTED_BY";
/// Its value, once there is a guard.
static MARK: OnceLock<String> = OnceLock::new();

/// How long they may take to end at the end of their input, after SIGTERM, and after SIGKILL.
const STEPS: [(Option<Signal>, Duration); 3] = [
    (None, Duration::from_millis(500)),
    (Some(Signal::TERM), Duration::from_secs(1)),
    (Some(Signal::KILL), Duration::from_secs(5)),
];
/// Between two looks at the processes.
const INTERVAL: Duration = Duration::from_millis(50);

/// The child process. It ends what is left when this is dropped, too.
#[derive(Debug)]
pub struct Guard {
    _process: Child,
}

impl Guard {
    /// Starts this program with an argument by which it calls [`end_orphans`], and with the mark after it. Processes
    /// that start later are guarded.
    pub fn start(argument: &str) -> io::Result<Self> {
        let mark = Uuid::new_v4().to_string();
        let mut command = Command::new(env::current_exe()?);
        command.args([argument, &mark]).stdin(Stdio::piped()).stdout(Stdio::null());
        // An interrupt at the terminal is not for it.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let process = command.spawn()?;
        let _ = MARK.set(mark);
        Ok(Self { _process: process })
    }
}

/// The variable that marks a process as one to be ended.
pub(super) fn mark() -> Option<(&'static str, &'static str)> {
    MARK.get().map(|mark| (VARIABLE, mark.as_str()))
}

/// Waits for the end of standard input, and ends all marked processes. Returns how many there were.
pub fn end_orphans(mark: &str) -> usize {
    let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
    let mut orphans = Orphans { entry: format!("{VARIABLE}={mark}").into_bytes(), known: HashMap::new() };
    let mut most = 0;
    for (signal, length) in STEPS {
        let mut left = length;
        while !left.is_zero() {
            let is_first = left == length;
            orphans.look();
            most = most.max(orphans.known.len());
            if orphans.known.is_empty() {
                return most;
            }
            // Once politely; what is killed may have started others meanwhile.
            if let Some(signal) = signal.filter(|it| is_first || *it == Signal::KILL) {
                orphans.signal(signal);
            }
            thread::sleep(INTERVAL);
            left = left.saturating_sub(INTERVAL);
        }
    }
    most
}

/// The processes that are marked, and those that came of them.
struct Orphans {
    entry: Vec<u8>,
    /// When each was started: another process may get its number.
    known: HashMap<i32, u64>,
}

/// A process that has not ended.
struct Process {
    id: i32,
    parent: i32,
    group: i32,
    started: u64,
}

impl Orphans {
    fn look(&mut self) {
        let processes: Vec<_> = processes().collect();
        self.known.retain(|id, started| processes.iter().any(|it| it.id == *id && it.started == *started));
        let marked: Vec<_> = processes.iter().filter(|it| self.is_marked(it.id)).collect();
        self.known.extend(marked.into_iter().map(|it| (it.id, it.started)));
        // A process whose parent has cleared its environment, and what is in a group with one of them.
        loop {
            let groups: Vec<_> =
                processes.iter().filter(|it| self.known.contains_key(&it.id)).map(|it| it.group).collect();
            let is_new = |it: &&Process| {
                !self.known.contains_key(&it.id)
                    && (self.known.contains_key(&it.parent) || groups.contains(&it.group))
            };
            let new: Vec<_> = processes.iter().filter(is_new).map(|it| (it.id, it.started)).collect();
            if new.is_empty() {
                return;
            }
            self.known.extend(new);
        }
    }

    fn is_marked(&self, id: i32) -> bool {
        self.known.contains_key(&id)
            || fs::read(format!("/proc/{id}/environ"))
                .is_ok_and(|it| it.split(|byte| *byte == 0).any(|entry| entry == self.entry))
    }

    fn signal(&self, signal: Signal) {
        for id in self.known.keys().filter_map(|id| Pid::from_raw(*id)) {
            // It may be gone.
            let _ = kill_process(id, signal);
        }
    }
}

fn processes() -> impl Iterator<Item = Process> {
    let own = getpid().as_raw_nonzero().get();
    let ids = fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = ids.filter_map(|it| it.file_name().to_str()?.parse().ok()).filter(move |id| *id != own);
    ids.filter_map(|id: i32| Process::parse(id, &fs::read_to_string(format!("/proc/{id}/stat")).ok()?))
}

impl Process {
    /// Reads `/proc/ID/stat`. `None` for one that has ended and waits for its parent.
    fn parse(id: i32, stat: &str) -> Option<Self> {
        // Its name, in parentheses, may have any character.
        let fields: Vec<_> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let [state, parent, group, ..] = fields[..] else { return None };
        let started = fields.get(19)?.parse().ok()?;
        let is_alive = !matches!(state, "Z" | "X");
        is_alive.then_some(Self { id, parent: parent.parse().ok()?, group: group.parse().ok()?, started })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_read_whatever_its_name() {
        let stat = "7 (a) Z (b) S 3 5 5 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 9876 1 2";
        let process = Process::parse(7, stat).expect("alive");
        assert_eq!((process.parent, process.group, process.started), (3, 5, 9876));
        assert!(Process::parse(7, &stat.replace(") S", ") Z")).is_none());
        assert!(Process::parse(7, "7 (a").is_none() && Process::parse(7, "7 (a) S 3").is_none());
    }
}
