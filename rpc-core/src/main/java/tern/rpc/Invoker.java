package tern.rpc;

import java.util.concurrent.CompletionStage;

/** The one verb: a call goes in, its answer comes out. */
@FunctionalInterface
public interface Invoker {

    /**
     * Never blocks for the answer. A failure completes the stage: with an {@link RpcException}, or with what the method
     * itself threw.
     */
    CompletionStage<Response> invoke(Invocation call);
}
