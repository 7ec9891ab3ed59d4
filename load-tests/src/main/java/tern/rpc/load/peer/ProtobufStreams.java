package tern.rpc.load.peer;

import java.util.concurrent.Flow;
import tern.rpc.StreamObserver;
import tern.rpc.load.peer.proto.FeedRequest;
import tern.rpc.load.peer.proto.Item;

/** The service {@code tern.load.Streams} of the {@code .proto} file, as a Java interface of messages. */
public interface ProtobufStreams {

    /** Sends as many items as the request says. */
    void feed(FeedRequest request, StreamObserver<Item> items);

    /** The same for readers that say how many items they take. */
    Flow.Publisher<Item> watch(FeedRequest request);

    /** Sends every item back. */
    StreamObserver<Item> ping(StreamObserver<Item> answers);

    /** Of peers without streams. */
    ProtobufStreams NONE = new ProtobufStreams() {
        @Override
        public void feed(FeedRequest request, StreamObserver<Item> items) {
            throw new UnsupportedOperationException("this peer has no streams here");
        }

        @Override
        public Flow.Publisher<Item> watch(FeedRequest request) {
            throw new UnsupportedOperationException("this peer has no streams here");
        }

        @Override
        public StreamObserver<Item> ping(StreamObserver<Item> answers) {
            throw new UnsupportedOperationException("this peer has no streams here");
        }
    };
}
