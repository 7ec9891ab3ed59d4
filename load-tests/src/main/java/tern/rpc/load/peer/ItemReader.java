package tern.rpc.load.peer;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tern.rpc.StreamObserver;
import tern.rpc.load.peer.proto.Item;

/** Reads one stream, and checks the order and size of its messages. Only one thread at a time calls the observer. */
class ItemReader implements StreamObserver<Item> {

    /**
     * The maximum time to wait for the end of a stream. This time is shorter than the timeout of a client process, so
     * that the report can give a hanging stream as the reason.
     */
    private static final int PATIENCE_SECONDS = 50;

    private final int expected;
    private final CountDownLatch ended = new CountDownLatch(1);
    private volatile int received; // Only the observer's thread writes this field.
    private volatile @Nullable String failure; // Only the observer's thread writes this field.

    ItemReader(int expected) {
        this.expected = expected;
    }

    @Override
    public void onNext(Item item) {
        int number = received;
        if (!Items.isRight(item, number) && failure == null) {
            failure = "message " + number + " has number " + item.getNumber() + " and a payload of "
                    + item.getPayload().size() + " bytes";
        }
        received = number + 1;
    }

    @Override
    public void onError(Throwable cause) {
        failure = "the stream failed after " + received + " of " + expected + " messages: " + cause;
        ended.countDown();
    }

    @Override
    public void onCompleted() {
        if (received != expected && failure == null) {
            failure = "the stream ended after " + received + " of " + expected + " messages";
        }
        ended.countDown();
    }

    int received() {
        return received;
    }

    /** Waits for the end of the stream. */
    void await() {
        try {
            if (!ended.await(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                throw new IllegalStateException("the stream did not end within " + PATIENCE_SECONDS + " s; " + received
                        + " of " + expected + " messages came");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
        String reason = failure;
        if (reason != null) {
            throw new IllegalStateException(reason);
        }
    }
}
