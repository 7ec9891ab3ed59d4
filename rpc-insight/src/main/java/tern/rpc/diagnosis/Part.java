package tern.rpc.diagnosis;

/**
 * Something that a call spent time on or waited for.
 *
 * @param name what exactly: a frame, a statement, a host, a pool; empty where the kind says all
 */
record Part(Kind kind, String name) {

    /** The kinds of parts. */
    enum Kind {
        /** The wait for a worker. */
        QUEUE(true),
        /** Reading the request. */
        DECODE(false),
        /** Code that computes; the name is its innermost frame of the application. */
        COMPUTING(false),
        /** A lock; the name is the lock with the frame of its owner. */
        LOCK(false),
        /** A pause that the code makes itself. */
        SLEEP(false),
        /** A result, signal or queue that other threads must serve; the name is the waiting frame. */
        RESULT(true),
        /** A file; the name is the frame that reads or writes. */
        FILE(false),
        /** A socket that no phase covers; the name is the frame. */
        SOCKET(false),
        /** The lookup of a host name; the name is the frame. */
        RESOLVER(false),
        /** The loading or initialization of a class. */
        CLASS_LOADING(false),
        /** Native code that uses no processor time. */
        NATIVE(false),
        /** The wait for a connection of a pool. */
        POOL(true),
        SQL(false),
        REDIS(false),
        HTTP(false),
        RPC(false),
        /** Tasks of a full pool that the caller runs. */
        CALLER_RUNS(false),
        LOG(false),
        /** The thread could run but had no processor. */
        RUN_QUEUE(true),
        /** The quota of the container was used up. */
        THROTTLED(false),
        /** A pause for the collector. */
        COLLECTOR(false),
        /** A pause of the JVM that no collector explains. */
        JVM_PAUSE(false),
        /** The whole process stood still: frozen, or the machine was. */
        OUTSIDE(false),
        /** Time without a thread: an asynchronous method waits for others. */
        ELSEWHERE(true),
        /** A full executor; the name is its own. */
        EXECUTOR(true),
        /** Another process that fails; the name is its address and the failure. */
        PEER_FAILS(false),
        /** A failure of the code; the name is the exception with its frame. */
        FAILURE(false),
        /** A limit of calls that run at once, other than the workers. */
        LIMIT(false),
        /** Time that no evidence explains. */
        UNEXPLAINED(false);

        private final boolean passedOn;

        Kind(boolean passedOn) {
            this.passedOn = passedOn;
        }

        /** Whether the time is a symptom, which belongs to what the awaited did. */
        boolean isPassedOn() {
            return passedOn;
        }
    }

    static Part of(Kind kind) {
        return new Part(kind, "");
    }
}
