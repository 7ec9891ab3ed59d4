package tern.rpc.transport;

import java.util.Iterator;
import java.util.List;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Publishes the given items to each subscriber, on the thread that requests them. */
public class Items<T> implements Flow.Publisher<T> {

    private final Iterable<T> items;
    private final @Nullable Throwable failure;

    /** The number of items delivered to subscribers. */
    public final AtomicLong given = new AtomicLong();

    public final AtomicLong subscribers = new AtomicLong();
    public final AtomicBoolean cancelled = new AtomicBoolean();

    private Items(Iterable<T> items, @Nullable Throwable failure) {
        this.items = items;
        this.failure = failure;
    }

    public static <T> Items<T> of(Iterable<T> items) {
        return new Items<>(items, null);
    }

    @SafeVarargs
    public static <T> Items<T> of(T... items) {
        return new Items<>(List.of(items), null);
    }

    public static <T> Items<T> failing(Throwable failure, List<T> before) {
        return new Items<>(before, failure);
    }

    /** Publishes the numbers from 0 to {@code count - 1} as strings. */
    public static Items<String> numbers(int count) {
        return of(() -> IntStream.range(0, count).mapToObj(String::valueOf).iterator());
    }

    /** Publishes the same item until the subscription is cancelled. */
    public static <T> Items<T> endless(T item) {
        return of(() -> new Iterator<>() {
            @Override
            public boolean hasNext() {
                return true;
            }

            @Override
            public T next() {
                return item;
            }
        });
    }

    /** Called before each event of a subscription, so that subclasses can check the thread. */
    protected void touched() {}

    @Override
    public void subscribe(Flow.Subscriber<? super T> subscriber) {
        subscribers.incrementAndGet();
        Iterator<T> iterator = items.iterator();
        subscriber.onSubscribe(new Flow.Subscription() {
            private final AtomicLong wanted = new AtomicLong();
            private boolean done; // The field "done" is set by the thread that delivers the items.

            @Override
            public void request(long more) {
                touched();
                if (wanted.getAndAdd(more) == 0) {
                    give(more);
                }
            }

            private void give(long more) {
                long left = more;
                while (left > 0) {
                    for (long i = 0; i < left && !done; i++) {
                        giveOne();
                    }
                    if (done) {
                        return;
                    }
                    if (!hasNext()) {
                        end();
                        return;
                    }
                    left = wanted.addAndGet(-left);
                }
            }

            private boolean hasNext() {
                return iterator.hasNext();
            }

            private void giveOne() {
                if (cancelled.get()) {
                    done = true;
                } else if (iterator.hasNext()) {
                    given.incrementAndGet();
                    subscriber.onNext(iterator.next());
                } else {
                    end();
                }
            }

            private void end() {
                done = true;
                if (failure == null) {
                    subscriber.onComplete();
                } else {
                    subscriber.onError(failure);
                }
            }

            @Override
            public void cancel() {
                touched();
                cancelled.set(true);
            }
        });
    }
}
