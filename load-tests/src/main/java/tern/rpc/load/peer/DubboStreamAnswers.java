package tern.rpc.load.peer;

import org.apache.dubbo.common.stream.StreamObserver;
import tern.rpc.load.peer.proto.FeedRequest;
import tern.rpc.load.peer.proto.Item;

/**
 * The answers that a Dubbo server streams to a client. {@code onNext} never blocks, so messages that the client has not
 * read remain in the server's memory.
 */
final class DubboStreamAnswers implements DubboStreams {

    @Override
    public void feed(FeedRequest request, StreamObserver<Item> items) {
        for (int number = 0; number < request.getItems(); number++) {
            items.onNext(Items.item(number));
        }
        items.onCompleted();
    }

    @Override
    public StreamObserver<Item> ping(StreamObserver<Item> answers) {
        return answers; // each message of the stream is sent back unchanged
    }
}
