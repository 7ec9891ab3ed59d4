package tern.rpc.diagnosis.account;

/**
 * A part of a call's time: an activity of the call, or a wait.
 *
 * @param name the stack frame, statement, host or pool that is responsible; empty if the kind alone identifies the part
 */
public record Part(Kind kind, String name) {

    /** The name prefix of waits for a semaphore permit. */
    public static final String SEMAPHORE = "Semaphore ";

    /** The refusal reason for a caller that does not read its answers. */
    public static final String UNREAD = "unread";

    /**
     * The prefix of the refusal reason for a web request that the application itself refused, for example {@code status
     * 503}.
     */
    public static final String STATUS = "status ";

    /** The failure text for a peer that does not answer connection attempts. */
    public static final String NOT_ACCEPTED = "connections are not accepted in time";

    /**
     * The text for a peer or store that does not answer. In the name of a failure, this text follows the name of the
     * peer or store and a colon.
     */
    public static final String SILENT = "does not answer";

    /** The text for a database that has ended connections, in the place of {@link #SILENT}. */
    public static final String LOST = "connection lost";

    /** The name prefix of waits in which tasks of an executor wait for other tasks of the same executor. */
    public static final String TASKS_OF = "tasks of ";

    /** The kinds of activities, waits, pauses and failures. */
    public enum Kind {
        /** The wait for a free worker thread. */
        QUEUE(true),
        /** The time spent reading the request. */
        DECODE(false),
        /** The execution of code on a processor. The name contains the application's innermost stack frame. */
        COMPUTING(false),
        /** The wait for a lock. The name contains the lock and the stack frame of the lock's owner. */
        LOCK(false),
        /** The wait for a caller that slowly sends its request or reads its answer. */
        CALLER(false),
        /** A pause in the code, such as a sleep. */
        SLEEP(false),
        /**
         * The wait for a result, a signal or a queue item from another thread. The name contains the waiting stack
         * frame.
         */
        RESULT(true),
        /** Access to a file. The name contains the stack frame that reads or writes the file. */
        FILE(false),
        /**
         * Access to a socket that does not belong to a recorded operation. The name contains the stack frame that uses
         * the socket.
         */
        SOCKET(false),
        /** A wait on the thread of an event loop. The name contains the stack frame that waits. */
        EVENT_LOOP(false),

        /** The lookup of a host name. The name contains the stack frame that looks up the host name. */
        RESOLVER(false),
        /** The loading of a class. */
        CLASS_LOADING(false),
        /**
         * The initialization of a class by the thread, or the wait until another thread has initialized the class. The
         * name contains the class.
         */
        CLASS_INITIALIZATION(false),
        /** Native code in which a thread appears to run but uses no processor time. */
        NATIVE(false),
        /** The wait for a connection from a pool. */
        POOL(true),
        SQL(false),
        REDIS(false),
        HTTP(false),
        RPC(false),
        /** Tasks that the calling thread runs itself, because the executor is full. */
        CALLER_RUNS(false),
        LOG(false),
        /** The wait of a runnable thread for a processor. */
        RUN_QUEUE(true),
        /** The wait of a runnable virtual thread for a free carrier thread. */
        CARRIER(true),
        /** The time during which the process was throttled because its container had used up its CPU quota. */
        THROTTLED(false),
        /** The time by which many operations exceed their usual times, if they became a little slower together. */
        SLOWDOWN(false),
        /** The wait for memory that the kernel reclaims or reads back from a disk. */
        MEMORY(false),
        /** The wait for a disk that other processes keep busy. */
        DISK(false),
        /** A pause caused by the garbage collector. */
        COLLECTOR(false),
        /** A pause of the JVM that no garbage collection caused. */
        JVM_PAUSE(false),
        /**
         * A pause of the whole process with a cause outside the process: something stopped the process or the machine.
         */
        OUTSIDE(false),
        /** The time during which no thread is working on the call, because an asynchronous method is waiting. */
        ELSEWHERE(true),
        /**
         * A full executor that rejects tasks. The name contains the executor, if it is known, and the stack frame that
         * submits the tasks.
         */
        EXECUTOR(true),
        /** A failure of another process. The name contains the process's address and the failure. */
        PEER_FAILS(false),
        /** An exception in the code. The name contains the exception and its stack frame. */
        FAILURE(false),
        /**
         * A timeout that ended a call, if no operation of the call explains the timeout. The name contains the
         * exception and its stack frame.
         */
        TIMEOUT(false),
        /** A limit on concurrent calls, other than the number of workers, that refuses calls. */
        LIMIT(false),
        /** Time that no evidence explains. */
        UNEXPLAINED(false);

        private final boolean passedOn;

        Kind(boolean passedOn) {
            this.passedOn = passedOn;
        }

        /**
         * Returns whether this kind is a wait for other work. Such a wait is only a symptom, so its time is attributed
         * to the awaited work.
         */
        boolean isPassedOn() {
            return passedOn;
        }
    }

    public static Part of(Kind kind) {
        return new Part(kind, "");
    }
}
