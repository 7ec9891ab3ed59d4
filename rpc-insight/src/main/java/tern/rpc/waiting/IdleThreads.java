package tern.rpc.waiting;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** Classifies idle threads of pools, event loops and timers, and the threads of the JVM. */
final class IdleThreads implements StackClassifier {

    /** The class and method of an idle thread. */
    private record Place(String className, String method) {}

    private static final List<Place> PLACES = List.of(
            // pools
            new Place("java.util.concurrent.ThreadPoolExecutor", "getTask"),
            new Place("org.apache.tomcat.util.threads.ThreadPoolExecutor", "getTask"),
            new Place("java.util.concurrent.ForkJoinPool", "awaitWork"),
            new Place("tern.rpc.concurrent.WorkerPool", "waitForWork"),
            // event loops
            new Place("sun.nio.ch.SelectorImpl", "select"),
            new Place("io.netty.channel.epoll.Native", "epollWait"),
            new Place("io.netty.channel.uring.Native", "ioUringEnter"),
            new Place("io.netty.util.concurrent.SingleThreadEventExecutor", "takeTask"),
            new Place("io.netty.util.concurrent.GlobalEventExecutor", "takeTask"),
            new Place("java.net.ServerSocket", "accept"),
            new Place("sun.nio.ch.ServerSocketChannelImpl", "accept"),
            // timers and cleaners
            new Place("java.util.TimerThread", "mainLoop"),
            new Place("io.netty.util.HashedWheelTimer$Worker", "waitForNextTick"),
            new Place("java.lang.ref.ReferenceQueue", "remove"),
            new Place("java.lang.ref.Reference", "waitForReferencePendingList"),
            new Place("com.alibaba.druid.pool.DruidDataSource$CreateConnectionThread", "run"),
            new Place("com.alibaba.druid.pool.DruidDataSource$DestroyConnectionThread", "run"),
            new Place("com.mysql.cj.jdbc.AbandonedConnectionCleanupThread", "run"));

    /** The methods in which a library's thread takes the next task. The waiting part of its stack ends there. */
    private static final List<Place> TAKERS = List.of(
            new Place("com.lmax.disruptor.BatchEventProcessor", "processEvents"),
            new Place("ch.qos.logback.core.AsyncAppenderBase$Worker", "run"),
            new Place("org.apache.logging.log4j.core.appender.AsyncAppenderEventDispatcher", "dispatchAll"));

    @Override
    public @Nullable Wait classify(ThreadStack thread) {
        if (thread.frames().isEmpty()
                || PLACES.stream().anyMatch(place -> thread.isIn(place.className, place.method))) {
            return Wait.IDLE;
        }
        return TAKERS.stream().anyMatch(place -> takes(thread, place)) ? Wait.IDLE : null;
    }

    /** Whether only queues and waits are above. Otherwise the thread has taken a task and works on it. */
    private static boolean takes(ThreadStack thread, Place place) {
        for (StackTraceElement frame : thread.frames()) {
            String type = frame.getClassName();
            if (type.equals(place.className) && frame.getMethodName().equals(place.method)) {
                return true;
            }
            if (!type.startsWith("java.") && !type.startsWith("jdk.") && !type.startsWith("com.lmax.disruptor.")) {
                return false;
            }
        }
        return false;
    }
}
