package tern.rpc;

import java.util.concurrent.CompletionStage;

/** Executes calls. Each filter passes its call to an invoker: the next filter or the last step in the chain. */
@FunctionalInterface
public interface Invoker {

    /**
     * Executes the call. On the client, does not wait for the answer. On the server, runs the service's method on the
     * calling thread. If the service's method is not asynchronous, it has ended when {@code invoke} returns.
     *
     * @return a stage of the answer, never null. If the call fails, the stage fails with an {@link RpcException} or
     *     with the exception that the service's method threw
     * @throws RuntimeException if a filter behind this invoker throws it
     */
    CompletionStage<Response> invoke(Invocation call);
}
