//! Whether this process takes calls, by what is wrong with its state.

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Readiness {
    #[default]
    Ready,
    /// All processes that share the state cannot use it, such as a database that is away or whose disk is full. Taking
    /// them out would end what needs no state too.
    Degraded,
    /// What is wrong is of this process alone, such as its disk or its clock.
    NotReady,
}
