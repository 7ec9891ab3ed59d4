package tern.rpc.client;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.MethodDescriptor;

/**
 * Warns about blocking calls on threads that must not block, such as WebFlux event loops. A blocking call delays all
 * other requests on the same event loop. Reactor marks these threads with an interface. The interface is recognized by
 * its name, because Reactor is an optional dependency. Thread-safe.
 */
final class NonBlockingThreads {

    private static final Logger LOG = LoggerFactory.getLogger(NonBlockingThreads.class);

    private static final String MARK = "reactor.core.scheduler.NonBlocking";

    /** True for each thread class that implements Reactor's marker interface. */
    private static final ClassValue<Boolean> MARKED = new ClassValue<>() {
        @Override
        protected Boolean computeValue(Class<?> type) {
            return isMarked(type);
        }
    };

    private static final int MAX_METHODS = 1_000;

    /** The methods whose warning has already been logged. */
    private static final Set<String> WARNED = ConcurrentHashMap.newKeySet();

    private NonBlockingThreads() {}

    private static boolean isMarked(Class<?> type) {
        for (Class<?> parent : type.getInterfaces()) {
            if (parent.getName().equals(MARK) || isMarked(parent)) {
                return true;
            }
        }
        Class<?> superclass = type.getSuperclass();
        return superclass != null && isMarked(superclass);
    }

    /** Logs one warning for each method that is called on a thread that must not block. */
    static void check(Thread caller, MethodDescriptor method) {
        Class<?> type = caller.getClass();
        if (type != Thread.class && MARKED.get(type) && WARNED.size() < MAX_METHODS && WARNED.add(method.fullName())) {
            LOG.warn(
                    "{} blocks the thread {}, which must not block, for example because it serves all requests of"
                            + " WebFlux. Let the method return a Mono or a CompletableFuture, or make the call on"
                            + " Schedulers.boundedElastic()",
                    method,
                    caller.getName());
        }
    }
}
