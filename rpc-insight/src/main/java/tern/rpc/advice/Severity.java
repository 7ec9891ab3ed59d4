package tern.rpc.advice;

/** How much a finding matters, the most first. */
public enum Severity {
    /** The target is missed now, because of this. */
    BLOCKS,
    /** The target cannot be reached, or not be held, with this. */
    RISKS,
    /** Worth knowing. */
    HINTS
}
