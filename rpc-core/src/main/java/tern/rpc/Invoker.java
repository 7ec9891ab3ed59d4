package tern.rpc;

import java.util.concurrent.CompletionStage;

/** Executes a call: takes the invocation and returns its response. */
@FunctionalInterface
public interface Invoker {

    /**
     * Executes the call without blocking for the answer. A failure completes the stage with an {@link RpcException} or
     * with the exception of the method.
     */
    CompletionStage<Response> invoke(Invocation call);
}
