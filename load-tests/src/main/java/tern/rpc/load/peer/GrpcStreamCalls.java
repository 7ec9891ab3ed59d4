package tern.rpc.load.peer;

import tern.rpc.StreamObserver;
import tern.rpc.load.peer.proto.FeedRequest;
import tern.rpc.load.peer.proto.Item;
import tern.rpc.load.peer.proto.StreamsGrpc.StreamsStub;

/** The streams of gRPC's generated asynchronous stub. */
record GrpcStreamCalls(StreamsStub stub) implements ProtobufStreams {

    @Override
    public void feed(FeedRequest request, StreamObserver<Item> items) {
        stub.feed(request, new Receiver(items));
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
