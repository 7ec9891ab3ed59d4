package tern.rpc.concurrent;

import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;

/** Creates factories of named daemon threads. */
public final class DaemonThreads {

    private DaemonThreads() {}

    /** Returns a factory whose threads all have the same name. */
    public static ThreadFactory named(String name) {
        return task -> daemon(task, name);
    }

    /** Returns a factory that appends a number, starting from 1, to the names of its threads. */
    public static ThreadFactory numbered(String prefix) {
        AtomicInteger number = new AtomicInteger();
        return task -> daemon(task, prefix + number.incrementAndGet());
    }

    private static Thread daemon(Runnable task, String name) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        return thread;
    }
}
