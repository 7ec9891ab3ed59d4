package tern.rpc.load.peer;

import java.util.Objects;
import java.util.concurrent.Flow;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;
import tern.rpc.StreamObserver;
import tern.rpc.load.peer.proto.Item;

/**
 * Sends messages on one bidirectional stream and reads them back. The sender does not wait for the answers. In the
 * report, a message and its echo count as one call, and its latency is the stream's duration divided by the number of
 * messages.
 */
final class PipeCall implements SceneCall {

    private final ProtobufStreams streams;
    private final int items;
    private final boolean publishers;

    /** @param publishers whether publishers, instead of observers, send and receive the messages */
    PipeCall(ProtobufStreams streams, int items, boolean publishers) {
        this.streams = streams;
        this.items = items;
        this.publishers = publishers;
    }

    @Override
    public boolean isRight() {
        ItemReader reader = new ItemReader(items);
        if (publishers) {
            streams.map(new ItemPublisher(items)).subscribe(new OneByOne(reader));
        } else {
            StreamObserver<Item> requests = streams.ping(reader);
            for (int number = 0; number < items; number++) {
                requests.onNext(Items.item(number));
            }
            requests.onCompleted();
        }
        reader.await();
        return true;
    }

    @Override
    public void record(Histogram latencies, long nanos) {
        latencies.recordValueWithCount(Math.min(Load.MAX_NANOS, nanos / items), items);
    }

    /** Requests each item when the previous one has been read. */
    private static final class OneByOne implements Flow.Subscriber<Item> {

        private final ItemReader reader;
        private Flow.@Nullable Subscription subscription;

        OneByOne(ItemReader reader) {
            this.reader = reader;
        }

        @Override
        public void onSubscribe(Flow.Subscription given) {
            subscription = given;
            given.request(1);
        }

        @Override
        public void onNext(Item item) {
            reader.onNext(item);
            Objects.requireNonNull(subscription).request(1);
        }

        @Override
        public void onError(Throwable failure) {
            reader.onError(failure);
        }

        @Override
        public void onComplete() {
            reader.onCompleted();
        }
    }
}
