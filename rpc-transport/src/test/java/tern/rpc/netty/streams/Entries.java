package tern.rpc.netty.streams;

import com.example.ledger.Entry;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Publishes entries to one subscriber, on the thread that requests the entries. */
final class Entries implements Flow.Publisher<Entry> {

    private final Supplier<@Nullable Entry> next;
    private final @Nullable Throwable failure;
    private final Runnable whenOver;

    /**
     * @param next supplies the next entry, or null at the end
     * @param failure the failure with which the stream ends; null if it completes normally
     * @param whenOver an action that runs once, after the last entry or after a cancellation
     */
    Entries(Supplier<@Nullable Entry> next, @Nullable Throwable failure, Runnable whenOver) {
        this.next = next;
        this.failure = failure;
        this.whenOver = whenOver;
    }

    @Override
    public void subscribe(Flow.Subscriber<? super Entry> subscriber) {
        subscriber.onSubscribe(new Giving(subscriber));
    }

    private final class Giving implements Flow.Subscription {

        private final Flow.Subscriber<? super Entry> subscriber;
        private final AtomicLong wanted = new AtomicLong();
        private final AtomicBoolean over = new AtomicBoolean();

        Giving(Flow.Subscriber<? super Entry> subscriber) {
            this.subscriber = subscriber;
        }

        @Override
        public void request(long more) {
            if (wanted.getAndAdd(more) != 0) {
                return; // another call to this method is running and publishes the requested entries too
            }
            long left = more;
            do {
                for (long i = 0; i < left && !over.get(); i++) {
                    giveOne();
                }
                left = over.get() ? 0 : wanted.addAndGet(-left);
            } while (left > 0);
        }

        private void giveOne() {
            Entry entry = next.get();
            if (entry != null) {
                subscriber.onNext(entry);
            } else if (over.compareAndSet(false, true)) {
                whenOver.run();
                if (failure == null) {
                    subscriber.onComplete();
                } else {
                    subscriber.onError(failure);
                }
            }
        }

        @Override
        public void cancel() {
            if (over.compareAndSet(false, true)) {
                whenOver.run();
            }
        }
    }
}
