package tern.rpc;

import java.util.List;
import java.util.concurrent.CompletionStage;

/**
 * Code that runs around every call. It can inspect or change the call, answer it itself, or pass it to {@code next} and
 * inspect the answer. Runs on the caller's thread (client) or a worker thread (server), in many threads at once.
 *
 * <p>A stream is one call too. Its stage completes at the end of the stream, and {@code next} may be called once.
 */
@FunctionalInterface
public interface Filter {

    CompletionStage<Response> invoke(Invocation call, Invoker next);

    /** Chains the filters. The first filter of the list is the outermost. */
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
