package tern.rpc.grpc;

import io.grpc.Metadata;
import tern.rpc.ServerContext;
import tern.rpc.StreamObserver;

/** Sends a stream of answers. A thread that sends an answer blocks while the caller reads too slowly. */
record ManyAnswers(StreamObserver<Object> caller, ServerContext serving) implements Answers {

    @Override
    public void headers(Metadata headers) {
        GrpcMetadata.addTo(serving.responseHeaders(), headers);
        serving.sendHeaders();
    }

    @Override
    public void send(Object answer) {
        caller.onNext(answer);
    }

    @Override
    public boolean isReady() {
        return caller.isReady();
    }

    @Override
    public void onReady(Runnable task) {
        caller.onReady(task);
    }

    @Override
    public void complete() {
        caller.onCompleted();
    }

    @Override
    public void fail(Throwable failure) {
        caller.onError(failure);
    }
}
