package tern.rpc.diagnosis.stack;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;

/**
 * Recognizes code that blocks an event loop. The thread of an event loop serves many connections, so every wait on this
 * thread delays all of these connections.
 */
public final class EventLoops {

    /**
     * The kinds of waits that block an event loop, and that code can avoid: it can use a non-blocking client, or run on
     * another thread.
     */
    private static final Set<Kind> BLOCKING = EnumSet.of(
            Kind.SLEEP, Kind.RESULT, Kind.FILE, Kind.SOCKET, Kind.SQL, Kind.REDIS, Kind.HTTP, Kind.RPC, Kind.POOL);

    /** The package prefixes of the event loops of Apache's asynchronous HTTP clients. */
    private static final List<String> APACHE =
            List.of("org.apache.hc.core5.reactor.", "org.apache.http.impl.nio.reactor.");

    private EventLoops() {}

    /**
     * Returns whether the thread is an event loop of Netty, Vert.x, Reactor Netty, Undertow, or Apache's asynchronous
     * HTTP client (which Elasticsearch's client also uses). The threads of Reactor's parallel scheduler count as event
     * loops too, because they must not block either. Classes of other packages do not count, even if their names
     * contain {@code EventLoop}. For example, Kotlin's {@code runBlocking} runs an event loop on a thread that may
     * block.
     */
    public static boolean isOne(ThreadSnapshot thread) {
        boolean isReactor = thread.name().startsWith("parallel-");
        for (StackTraceElement frame : thread.frames()) {
            String type = frame.getClassName();
            String simple = type.substring(type.lastIndexOf('.') + 1);
            if (isNetty(type) && (simple.startsWith("DefaultEventExecutor") || simple.startsWith("DefaultEventLoop"))) {
                return false; // a Netty executor for blocking work, not an event loop
            }
            boolean isOfLoop = (isNetty(type) && simple.startsWith("SingleThreadEventExecutor"))
                    || (simple.contains("EventLoop")
                            && (isNetty(type) || type.startsWith("io.vertx.") || type.startsWith("reactor.netty.")))
                    || (simple.startsWith("WorkerThread") && type.startsWith("org.xnio."));
            // Any thread may hand over work to a loop, as in SingleThreadEventExecutor.execute. Only the loop's own
            // thread is in one of its run methods.
            boolean isLoop = (isOfLoop && frame.getMethodName().startsWith("run"))
                    || APACHE.stream().anyMatch(type::startsWith);
            if (isLoop || (isReactor && type.startsWith("reactor.core.scheduler."))) {
                return true;
            }
        }
        return false;
    }

    /**
     * Returns whether the class belongs to Netty. Netty may have been copied into other packages, such as
     * {@code io.grpc.netty.shaded.io.netty}.
     */
    private static boolean isNetty(String type) {
        return type.startsWith("io.netty.") || type.contains(".io.netty.");
    }

    /**
     * Returns the activity of a call's thread. If the thread is an event loop that waits, the activity is the blocking
     * of the event loop, named after the code that waits. A thread that uses processor time is not blocked, for example
     * while a reactive driver decodes an answer.
     *
     * @param read what the stack of the thread shows
     */
    public static Part ofCall(Part read, ThreadSnapshot thread) {
        boolean waits = BLOCKING.contains(read.kind()) && !thread.computes() && StackReader.first(thread) != null;
        return waits && isOne(thread) ? new Part(Kind.EVENT_LOOP, StackReader.place(thread)) : read;
    }
}
