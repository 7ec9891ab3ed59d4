package tern.rpc;

import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Code that runs around every call. A filter can inspect or change the call. The filter then answers the call itself,
 * or passes the call to {@code next} and can inspect the answer. A filter runs on the caller's thread (client) or a
 * worker thread (server). Many threads may run it at the same time.
 *
 * <p>A stream passes through the filters as one call. The stage that {@code next} returns completes when the stream
 * ends. A filter may call {@code next} only once for a stream.
 */
@FunctionalInterface
public interface Filter {

    /**
     * Passes the call on, or answers it. Must not block until the answer arrives, because the calling thread may be
     * needed to complete the answer's stage.
     *
     * @param next executes the call: the next filter or the last step
     * @return a stage of the answer, never null, such as the stage that {@code next} returns. If the call is not passed
     *     on, the stage completes with this filter's own answer
     * @throws RuntimeException to fail the call. The caller gets the same failure as from a stage that fails
     */
    CompletionStage<Response> invoke(Invocation call, Invoker next);

    /** Chains the filters around the invoker {@code last}. The first filter in the list is the outermost. */
    static Invoker chain(List<? extends Filter> filters, Invoker last) {
        Invoker chain = last;
        for (int i = filters.size() - 1; i >= 0; i--) {
            Filter filter = filters.get(i);
            Invoker next = chain;
            chain = call -> required(filter, filter.invoke(call, next), call);
        }
        return chain;
    }

    private static CompletionStage<Response> required(
            Filter filter, @Nullable CompletionStage<Response> stage, Invocation call) {
        if (stage == null) {
            throw new RpcException(
                    StatusCode.INTERNAL,
                    "the filter " + filter.getClass().getName() + " around " + call
                            + " returned null; return the stage that next.invoke returns, or a stage with a response");
        }
        return stage;
    }

    /** Returns the class names of the filters, for logs and error messages. */
    static String names(List<? extends Filter> filters) {
        return filters.stream()
                .map(filter -> filter.getClass().getName())
                .distinct()
                .collect(Collectors.joining(", "));
    }
}
