package tern.rpc.netty.peer;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import tern.rpc.transport.ServerTransport;

/**
 * Fails a test class that leaves resources in use. The resources of each watched server are its calls in flight,
 * limiter permits, bytes in budgets or queues, and connections. Tern's threads are checked too. Timers and scheduled
 * tasks need no check, because they end with these threads. The check is registered for every test class of this
 * module, and has an effect only if the class has a watched server. {@link LeakCheck} checks buffers.
 */
public final class ResourceLedger implements BeforeAllCallback, AfterAllCallback {

    private static final String OURS = "rpc-";
    private static final Set<WatchedTransport> WATCHED = ConcurrentHashMap.newKeySet();
    private static volatile Set<Thread> before = Set.of();

    /** Watches a transport, which must have no resources in use when the test class ends. */
    public static ServerTransport watch(ServerTransport transport) {
        return watched(transport);
    }

    static WatchedTransport watched(ServerTransport transport) {
        WatchedTransport watched = new WatchedTransport(transport);
        WATCHED.add(watched);
        return watched;
    }

    @Override
    public void beforeAll(ExtensionContext context) {
        if (!isInner(context)) {
            WATCHED.clear();
            before = threads();
        }
    }

    @Override
    public void afterAll(ExtensionContext context) {
        if (isInner(context) || WATCHED.isEmpty()) {
            return; // the enclosing test class runs the check, or no server is watched
        }
        try {
            Await.until("nothing is left", () -> left(before).isEmpty());
        } catch (AssertionError e) {
            throw new AssertionError("left behind: " + left(before), e);
        }
    }

    private static boolean isInner(ExtensionContext context) {
        return context.getTestClass().map(Class::isMemberClass).orElse(false);
    }

    /** Describes all resources that are still in use, except the given threads. */
    static List<String> left(Set<Thread> known) {
        List<String> left = new ArrayList<>();
        WATCHED.forEach(transport -> left.addAll(transport.heldAfterwards()));
        threads().stream()
                .filter(thread -> !known.contains(thread))
                .map(thread -> "thread " + thread.getName())
                .forEach(left::add);
        return left;
    }

    /** Stops watching a transport. Used only by the test of this class. */
    static void forget(WatchedTransport transport) {
        WATCHED.remove(transport);
    }

    static Set<Thread> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith(OURS))
                .collect(Collectors.toSet());
    }
}
