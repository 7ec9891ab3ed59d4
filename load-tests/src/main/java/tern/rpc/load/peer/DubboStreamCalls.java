package tern.rpc.load.peer;

import java.util.concurrent.Flow;
import tern.rpc.StreamObserver;
import tern.rpc.load.peer.proto.FeedRequest;
import tern.rpc.load.peer.proto.Item;

/** Calls the streaming methods through Dubbo's proxy. */
record DubboStreamCalls(DubboStreams proxy) implements ProtobufStreams {

    @Override
    public void feed(FeedRequest request, StreamObserver<Item> items) {
        proxy.feed(request, new Receiver(items));
    }

    /**
     * Throws an exception. Slow readers of Dubbo streams are not measured, because Dubbo's server keeps unread messages
     * in memory.
     */
    @Override
    public Flow.Publisher<Item> watch(FeedRequest request) {
        throw new UnsupportedOperationException("this peer has no slow readers here");
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
