package tern.rpc.client;

import org.jspecify.annotations.Nullable;
import tern.rpc.MethodDescriptor;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.StreamObserver;

/**
 * Receives the single answer to a stream of requests, and rejects a second answer. Several threads may use this object,
 * but only one at a time.
 */
final class SingleAnswer implements StreamObserver<Object> {

    private final MethodDescriptor method;
    private @Nullable Object value;
    private boolean arrived;

    SingleAnswer(MethodDescriptor method) {
        this.method = method;
    }

    @Override
    public void onNext(@Nullable Object answer) {
        if (arrived) {
            throw new RpcException(
                    StatusCode.INTERNAL,
                    method + " was answered twice; its Java signature has one answer",
                    Executed.YES,
                    null);
        }
        arrived = true;
        value = answer;
    }

    @Override
    public void onError(Throwable failure) {
        // Does nothing, because the client fails the call with this exception.
    }

    @Override
    public void onCompleted() {
        // Does nothing, because the completion of the call reports the end of the stream.
    }

    /**
     * Returns the answer.
     *
     * @throws RpcException if no answer was received
     */
    @Nullable
    Object value() {
        if (!arrived) {
            throw new RpcException(StatusCode.INTERNAL, method + " ended without an answer", Executed.YES, null);
        }
        return value;
    }
}
