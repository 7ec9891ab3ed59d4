package tern.rpc.load.peer;

import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import tern.rpc.load.peer.proto.FeedRequest;
import tern.rpc.load.peer.proto.Item;
import tern.rpc.load.peer.proto.StreamsGrpc;

/**
 * Implements the streaming methods of gRPC's generated service. Sends messages only while the call is ready, because
 * gRPC's {@code onNext} never blocks.
 */
final class GrpcStreamAnswers extends StreamsGrpc.StreamsImplBase {

    @Override
    public void feed(FeedRequest request, StreamObserver<Item> items) {
        ServerCallStreamObserver<Item> call = (ServerCallStreamObserver<Item>) items;
        call.setOnReadyHandler(new Writer(request.getItems(), call));
    }

    @Override
    public void watch(FeedRequest request, StreamObserver<Item> items) {
        feed(request, items);
    }

    /** Writes the items of one stream. {@link #run} is called by one thread at a time. */
    private static final class Writer implements Runnable {

        private final int items;
        private final ServerCallStreamObserver<Item> call;
        private int next;
        private boolean completed;

        Writer(int items, ServerCallStreamObserver<Item> call) {
            this.items = items;
            this.call = call;
        }

        @Override
        public void run() {
            while (next < items && call.isReady()) {
                call.onNext(Items.item(next++));
            }
            if (next == items && !completed) {
                completed = true;
                call.onCompleted();
            }
        }
    }

    @Override
    public StreamObserver<Item> ping(StreamObserver<Item> answers) {
        return answers; // each message of the stream is sent back unchanged
    }
}
