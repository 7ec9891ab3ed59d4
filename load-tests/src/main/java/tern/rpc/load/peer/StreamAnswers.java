package tern.rpc.load.peer;

import java.util.concurrent.Flow;
import tern.rpc.StreamObserver;
import tern.rpc.load.peer.proto.FeedRequest;
import tern.rpc.load.peer.proto.Item;

/**
 * The answers that a Tern server streams to a client. The sending worker blocks in {@code onNext} while the client is
 * slow.
 */
final class StreamAnswers implements ProtobufStreams {

    @Override
    public void feed(FeedRequest request, StreamObserver<Item> items) {
        for (int number = 0; number < request.getItems(); number++) {
            items.onNext(Items.item(number));
        }
        items.onCompleted();
    }

    @Override
    public Flow.Publisher<Item> watch(FeedRequest request) {
        return new ItemPublisher(request.getItems());
    }

    @Override
    public StreamObserver<Item> ping(StreamObserver<Item> answers) {
        return answers; // each message of the stream is sent back unchanged
    }

    @Override
    public Flow.Publisher<Item> map(Flow.Publisher<Item> items) {
        return new MappedItems(items);
    }
}
