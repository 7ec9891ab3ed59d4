package tern.rpc.grpc;

import io.grpc.Metadata;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import tern.rpc.RpcException;
import tern.rpc.ServerContext;
import tern.rpc.StatusCode;

/** Sends a call's only answer together with the end of the call. */
final class OneAnswer implements Answers {

    private final String method;
    private final ServerContext serving;
    private final boolean takesStream;
    private final CompletableFuture<Object> stage = new CompletableFuture<>();
    private @Nullable Object answer; // only one thread at a time uses this field

    /**
     * @param takesStream whether the caller sends a stream; such a caller may wait for the headers before it sends
     *     messages
     */
    OneAnswer(String method, ServerContext serving, boolean takesStream) {
        this.method = method;
        this.serving = serving;
        this.takesStream = takesStream;
    }

    CompletionStage<Object> stage() {
        return stage;
    }

    @Override
    public void headers(Metadata headers) {
        GrpcMetadata.addTo(serving.responseHeaders(), headers);
        if (takesStream) {
            serving.sendHeaders();
        }
    }

    @Override
    public void send(Object sent) {
        if (answer != null) {
            RpcException twice = new RpcException(StatusCode.INTERNAL, method + " answered twice; it has one answer");
            stage.completeExceptionally(twice);
            throw twice;
        }
        answer = sent;
    }

    @Override
    public boolean isReady() {
        return !stage.isDone();
    }

    @Override
    public void onReady(Runnable task) {
        task.run();
    }

    @Override
    public void complete() {
        Object sent = answer;
        if (sent == null) {
            stage.completeExceptionally(
                    new RpcException(StatusCode.INTERNAL, method + " ended successfully but without an answer"));
        } else {
            stage.complete(sent);
        }
    }

    @Override
    public void fail(Throwable failure) {
        stage.completeExceptionally(failure);
    }
}
