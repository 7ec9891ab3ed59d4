package tern.rpc;

import java.util.concurrent.CompletionStage;

/** Executes calls. Each filter passes its call to an invoker: the next filter or the last step in the chain. */
@FunctionalInterface
public interface Invoker {

    /**
     * Executes the call and does not wait for the answer. If the call fails, the stage completes with an {@link
     * RpcException} or with the exception that the method threw.
     */
    CompletionStage<Response> invoke(Invocation call);
}
