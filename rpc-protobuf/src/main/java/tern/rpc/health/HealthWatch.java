package tern.rpc.health;

import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import tern.rpc.RpcException;

/**
 * A call that watches the status of one service name. The watch sends the current status immediately, and then every
 * change. A caller that is too slow to receive every change gets only the latest status. Thread-safe.
 */
final class HealthWatch implements Flow.Subscription {

    private final HealthService health;
    private final String service;
    private final Object connection; // an object that identifies the call's connection
    private final Flow.Subscriber<? super byte[]> caller;
    private final AtomicLong wanted = new AtomicLong();
    private final AtomicInteger changes = new AtomicInteger(); // the number of changes that have not been sent
    private volatile boolean over;
    private volatile boolean subscribed; // true if the end of the stream may be sent to the caller
    // the reason why this call ends early; set by a newer Watch call that replaces it
    private volatile @Nullable RpcException replaced;

    // the last sent status; only the thread that increments "changes" from zero uses this field
    private @Nullable ServingStatus sent;

    private HealthWatch(
            HealthService health, String service, Object connection, Flow.Subscriber<? super byte[]> caller) {
        this.health = health;
        this.service = service;
        this.connection = connection;
        this.caller = caller;
    }

    static Flow.Publisher<byte[]> of(HealthService health, String service, Object connection) {
        return caller -> {
            HealthWatch watch = new HealthWatch(health, service, connection, caller);
            RpcException refusal = health.watched(watch);
            if (refusal != null) {
                watch.over = true;
                caller.onSubscribe(watch);
                caller.onError(refusal);
                return;
            }
            try {
                caller.onSubscribe(watch);
                watch.subscribed = true;
                if (watch.replaced != null) {
                    // A newer call has replaced this call during the subscription. This call can end only now, because
                    // onError() must be called after onSubscribe().
                    watch.changed();
                }
            } catch (Throwable e) {
                watch.end(); // a call that could not be started must not count towards the limit of open Watch calls
                throw e;
            }
        };
    }

    Object connection() {
        return connection;
    }

    @Override
    public void request(long count) {
        if (count <= 0) {
            if (end()) {
                caller.onError(new IllegalArgumentException("request of " + count + " messages; expected 1 or more"));
            }
            return;
        }
        wanted.accumulateAndGet(count, (one, other) -> one + other < 0 ? Long.MAX_VALUE : one + other);
        changed();
    }

    @Override
    public void cancel() {
        end();
    }

    /**
     * Sends the latest status. Only one thread at a time sends. If another thread is already sending, that thread also
     * sends this change.
     */
    void changed() {
        if (changes.getAndIncrement() != 0) {
            return;
        }
        int seen = 1;
        do {
            sendLatest();
            seen = changes.addAndGet(-seen);
        } while (seen != 0);
    }

    /** Ends the call, because a newer call has replaced it. */
    void replaced(RpcException reason) {
        replaced = reason;
        changed();
    }

    private void sendLatest() {
        RpcException reason = replaced;
        if (reason != null) {
            if (subscribed && end()) {
                caller.onError(reason);
            }
            return;
        }
        boolean last = health.isShutDown();
        ServingStatus status = health.status(service);
        if (!over && status != sent && wanted.get() > 0) {
            wanted.decrementAndGet();
            sent = status;
            caller.onNext(HealthMessages.response(status));
        }
        if (last && sent == status && end()) {
            caller.onComplete();
        }
    }

    private synchronized boolean end() {
        if (over) {
            return false;
        }
        over = true;
        health.unwatched(this);
        return true;
    }
}
