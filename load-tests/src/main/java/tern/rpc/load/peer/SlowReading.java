package tern.rpc.load.peer;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import tern.rpc.load.peer.proto.FeedRequest;
import tern.rpc.load.peer.proto.Item;

/** The client side of {@link SlowReaders}: streams whose readers each read one message per second. Thread-safe. */
final class SlowReading {

    private static final long TICK_MILLIS = 1_000;

    /**
     * The number of messages in each stream. This number is far more than a reader can read, so that no stream ends
     * during the run.
     */
    private static final FeedRequest ENDLESS =
            FeedRequest.newBuilder().setItems(Integer.MAX_VALUE).build();

    private final List<Reader> readers = new ArrayList<>();
    private final AtomicReference<@Nullable String> failure = new AtomicReference<>();

    /**
     * Starts the readers.
     *
     * @param stopAfter the number of messages that a reader reads before it stops
     */
    void start(ProtobufStreams streams, int many, int stopAfter) {
        for (int i = 0; i < many; i++) {
            Reader reader = new Reader(stopAfter);
            readers.add(reader);
            streams.watch(ENDLESS).subscribe(reader);
        }
        Thread ticking = new Thread(this::tick, "slow-readers");
        ticking.setDaemon(true);
        ticking.start();
    }

    private void tick() {
        try {
            while (true) {
                readers.forEach(Reader::askForOne);
                Thread.sleep(TICK_MILLIS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** The minimum, median and maximum number of messages received per reader. */
    record Progress(int least, int median, int most, String failure) {

        String words() {
            return least + " " + median + " " + most + " " + Measurement.oneLine(failure);
        }

        static Progress of(String line) {
            String[] words = line.split(" ", 5);
            return new Progress(
                    Integer.parseInt(words[1]), Integer.parseInt(words[2]), Integer.parseInt(words[3]), words[4]);
        }
    }

    Progress progress() {
        int[] received =
                readers.stream().mapToInt(reader -> reader.received).sorted().toArray();
        return new Progress(
                received[0],
                received[received.length / 2],
                received[received.length - 1],
                Objects.requireNonNullElse(failure.get(), ""));
    }

    private final class Reader implements Flow.Subscriber<Item> {

        private final int stopAfter;
        private volatile Flow.@Nullable Subscription subscription;
        private volatile int received; // Only the thread that calls onNext writes this field.
        private int asked; // Only the thread that requests a message every second uses this field.

        Reader(int stopAfter) {
            this.stopAfter = stopAfter;
        }

        @Override
        public void onSubscribe(Flow.Subscription given) {
            subscription = given;
        }

        void askForOne() {
            Flow.Subscription reading = subscription;
            if (reading != null && asked < stopAfter) {
                asked++;
                reading.request(1);
            }
        }

        @Override
        public void onNext(Item item) {
            int number = received;
            if (!Items.isRight(item, number)) {
                failed("message " + number + " has number " + item.getNumber());
            }
            received = number + 1;
        }

        @Override
        public void onError(Throwable cause) {
            failed("a stream failed after " + received + " messages: " + cause);
        }

        @Override
        public void onComplete() {
            failed("a stream ended after " + received + " messages");
        }

        private void failed(String text) {
            failure.compareAndSet(null, text);
        }
    }
}
