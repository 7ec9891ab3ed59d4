package tern.rpc.diagnosis;

/**
 * Something that a call spent time on or waited for.
 *
 * @param name the culprit: a frame, a statement, a host or a pool; empty if the kind says everything
 */
record Part(Kind kind, String name) {

    /** The kinds of parts. */
    enum Kind {
        /** The wait for a worker. */
        QUEUE(true),
        /** Reading the request. */
        DECODE(false),
        /** Code that computes. The name is the innermost frame of the application. */
        COMPUTING(false),
        /** The wait for a lock. The name is the lock with the stack frame of its owner. */
        LOCK(false),
        /** A pause in the code, such as a sleep. */
        SLEEP(false),
        /** The wait for a result, a signal or a queue of other threads. The name is the waiting stack frame. */
        RESULT(true),
        /** Access to a file. The name is the stack frame that reads or writes. */
        FILE(false),
        /** Access to a socket outside the known phases. The name is the stack frame. */
        SOCKET(false),
        /** The lookup of a host name. The name is the stack frame. */
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
        /** The process was stopped because the quota of its container was used up. */
        THROTTLED(false),
        /** A pause of the garbage collector. */
        COLLECTOR(false),
        /** A pause of the JVM that no collection explains. */
        JVM_PAUSE(false),
        /** The whole process stood still, because the process or the machine was frozen. */
        OUTSIDE(false),
        /** Time without a thread, in which an asynchronous method waits for others. */
        ELSEWHERE(true),
        /** A full executor. The name is that of the executor. */
        EXECUTOR(true),
        /** Another process that fails. The name is its address and the failure. */
        PEER_FAILS(false),
        /** A failure of the code. The name is the exception with its frame. */
        FAILURE(false),
        /** A limit of concurrent calls other than the number of workers. */
        LIMIT(false),
        /** Time that no evidence explains. */
        UNEXPLAINED(false);

        private final boolean passedOn;

        Kind(boolean passedOn) {
            this.passedOn = passedOn;
        }

        /** Whether the time is only a symptom. It is then assigned to the thing that the call waited for. */
        boolean isPassedOn() {
            return passedOn;
        }
    }

    static Part of(Kind kind) {
        return new Part(kind, "");
    }
}
