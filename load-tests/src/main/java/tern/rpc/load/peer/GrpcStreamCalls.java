package tern.rpc.load.peer;

import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import java.util.concurrent.Flow;
import tern.rpc.StreamObserver;
import tern.rpc.load.peer.proto.FeedRequest;
import tern.rpc.load.peer.proto.Item;
import tern.rpc.load.peer.proto.StreamsGrpc.StreamsStub;

/** Calls the streaming methods through gRPC's generated asynchronous stub. */
record GrpcStreamCalls(StreamsStub stub) implements ProtobufStreams {

    @Override
    public void feed(FeedRequest request, StreamObserver<Item> items) {
        stub.feed(request, new Receiver(items));
    }

    @Override
    public Flow.Publisher<Item> watch(FeedRequest request) {
        return subscriber -> stub.watch(request, new Demanded(subscriber));
    }

    /**
     * Passes the subscriber's demand to gRPC. Without this observer, gRPC requests messages automatically.
     */
    private record Demanded(Flow.Subscriber<? super Item> to) implements ClientResponseObserver<FeedRequest, Item> {

        @Override
        public void beforeStart(ClientCallStreamObserver<FeedRequest> call) {
            call.disableAutoRequestWithInitial(0);
            to.onSubscribe(new Flow.Subscription() {
                @Override
                public void request(long count) {
                    call.request((int) count);
                }

                @Override
                public void cancel() {
                    call.cancel("the reader is gone", null);
                }
            });
        }

        @Override
        public void onNext(Item item) {
            to.onNext(item);
        }

        @Override
        public void onError(Throwable failure) {
            to.onError(failure);
        }

        @Override
        public void onCompleted() {
            to.onComplete();
        }
    }

    @Override
    public StreamObserver<Item> ping(StreamObserver<Item> answers) {
        return new Sender(stub.ping(new Receiver(answers)));
    }

    private record Receiver(StreamObserver<Item> to) implements io.grpc.stub.StreamObserver<Item> {

        @Override
        public void onNext(Item item) {
            to.onNext(item);
        }

        @Override
        public void onError(Throwable failure) {
            to.onError(failure);
        }

        @Override
        public void onCompleted() {
            to.onCompleted();
        }
    }

    private record Sender(io.grpc.stub.StreamObserver<Item> to) implements StreamObserver<Item> {

        @Override
        public void onNext(Item item) {
            to.onNext(item);
        }

        @Override
        public void onError(Throwable failure) {
            to.onError(failure);
        }

        @Override
        public void onCompleted() {
            to.onCompleted();
        }
    }
}
