package tern.rpc.load.peer;

import tern.rpc.StreamObserver;
import tern.rpc.load.peer.proto.FeedRequest;
import tern.rpc.load.peer.proto.Item;

/** The streams of Dubbo's proxy. */
record DubboStreamCalls(DubboStreams proxy) implements ProtobufStreams {

    @Override
    public void feed(FeedRequest request, StreamObserver<Item> items) {
        proxy.feed(request, new Receiver(items));
    }

    @Override
    public StreamObserver<Item> ping(StreamObserver<Item> answers) {
        return new Sender(proxy.ping(new Receiver(answers)));
    }

    private record Receiver(StreamObserver<Item> to) implements org.apache.dubbo.common.stream.StreamObserver<Item> {

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

    private record Sender(org.apache.dubbo.common.stream.StreamObserver<Item> to) implements StreamObserver<Item> {

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
