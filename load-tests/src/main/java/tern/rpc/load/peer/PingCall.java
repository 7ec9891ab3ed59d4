package tern.rpc.load.peer;

import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;
import tern.rpc.StreamObserver;
import tern.rpc.load.peer.proto.Item;

/**
 * Exchanges messages on one bidirectional stream. The thread that receives a message sends the next message. In the
 * report, a message together with its echo counts as one call.
 */
final class PingCall implements SceneCall {

    private final ProtobufStreams streams;
    private final int items;
    private final Histogram roundTrips = Load.newHistogram();

    PingCall(ProtobufStreams streams, int items) {
        this.streams = streams;
        this.items = items;
    }

    @Override
    public boolean isRight() {
        Player player = new Player();
        player.start(streams.ping(player));
        player.await();
        return true;
    }

    @Override
    public void record(Histogram latencies, long nanos) {
        latencies.add(roundTrips);
        roundTrips.reset();
    }

    private final class Player extends ItemReader {

        // The field is set before the first message is sent, so it is not null when a message arrives.
        private volatile @Nullable StreamObserver<Item> requests;
        private volatile long sentNanos;

        Player() {
            super(items);
        }

        void start(StreamObserver<Item> sender) {
            requests = sender;
            send(sender, 0);
        }

        private void send(StreamObserver<Item> sender, int number) {
            sentNanos = System.nanoTime();
            sender.onNext(Items.item(number));
        }

        @Override
        public void onNext(Item item) {
            super.onNext(item);
            roundTrips.recordValue(Math.min(Load.MAX_NANOS, System.nanoTime() - sentNanos));
            StreamObserver<Item> sender = requests;
            if (sender == null) {
                throw new IllegalStateException("an answer came before a request");
            }
            if (received() < items) {
                send(sender, received());
            } else {
                sender.onCompleted();
            }
        }
    }
}
