package tern.rpc;

import java.util.List;
import java.util.concurrent.CompletionStage;

/**
 * Something done to every call: look at it, change it, answer in its place, or pass it on to {@code next} and look at
 * the answer. Called on the caller's thread (client) or a worker thread (server), by many threads at once.
 *
 * <p>A stream is one call too: its stage completes when the stream has ended, and {@code next} is asked at most once.
 */
@FunctionalInterface
public interface Filter {

    CompletionStage<Response> invoke(Invocation call, Invoker next);

    /** The first of the list is the outermost. */
    static Invoker chain(List<? extends Filter> filters, Invoker last) {
        Invoker chain = last;
        for (int i = filters.size() - 1; i >= 0; i--) {
            Filter filter = filters.get(i);
            Invoker next = chain;
            chain = call -> filter.invoke(call, next);
        }
        return chain;
    }
}
