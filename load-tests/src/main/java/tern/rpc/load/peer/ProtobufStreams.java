package tern.rpc.load.peer;

import java.util.concurrent.Flow;
import tern.rpc.StreamObserver;
import tern.rpc.load.peer.proto.FeedRequest;
import tern.rpc.load.peer.proto.Item;

/** The {@code tern.load.Streams} service of the {@code .proto} file as a Java interface with protobuf messages. */
public interface ProtobufStreams {

    /** Sends the requested number of items to the observer. */
    void feed(FeedRequest request, StreamObserver<Item> items);

    /** Sends the requested number of items to a subscriber. The subscriber controls the flow. */
    Flow.Publisher<Item> watch(FeedRequest request);

    /** Sends every received item back. */
    StreamObserver<Item> ping(StreamObserver<Item> answers);

    /**
     * Sends every received item back, through publishers. Each item is requested when the previous one has been sent.
     * Only Tern supports this method.
     */
    default Flow.Publisher<Item> map(Flow.Publisher<Item> items) {
        throw new UnsupportedOperationException("this peer has no publishers here");
    }

    /** An implementation whose methods throw an exception, for frameworks that do not support streams. */
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
