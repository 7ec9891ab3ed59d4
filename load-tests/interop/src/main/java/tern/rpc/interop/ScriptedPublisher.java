package tern.rpc.interop;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Flow;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import tern.rpc.RpcException;

/**
 * Publishes a script's answers to a stream of requests, as fast as the subscriber requests them. Supports only one
 * subscriber. No thread blocks. A thread that signals an event also handles the event, unless a second thread is
 * already handling events. The second thread then also handles the new event.
 */
final class ScriptedPublisher<Q, R> implements Flow.Publisher<R>, Flow.Subscriber<Q>, Flow.Subscription {

    private final Flow.Publisher<Q> requests;
    private final Script<Q, R> script;
    private final ScheduledExecutorService timer;

    // The number of events that have not been handled. The number begins with 1, so that no event is handled before
    // both sides have subscribed.
    private final AtomicInteger news = new AtomicInteger(1);
    private final AtomicLong wanted = new AtomicLong();
    private final Queue<Q> received = new ConcurrentLinkedQueue<>();
    private volatile boolean lastReceived;
    private volatile @Nullable Throwable requestsFailed;
    private volatile boolean cancelled;
    private volatile boolean waiting;
    private volatile Flow.@Nullable Subscription upstream;
    private volatile Flow.@Nullable Subscriber<? super R> downstream;

    // The following fields are used only by the thread that handles events.
    private final ArrayDeque<Answer<R>> answers = new ArrayDeque<>();
    private boolean delayed; // whether the delay of the first answer in the queue has been scheduled
    private boolean asked;
    private boolean allAnswered;
    private boolean over;

    ScriptedPublisher(Flow.Publisher<Q> requests, Script<Q, R> script, ScheduledExecutorService timer) {
        this.requests = requests;
        this.script = script;
        this.timer = timer;
    }

    /** Creates a publisher of the answers to a request that has already been received. */
    static <R> Flow.Publisher<R> of(List<Answer<R>> answers, ScheduledExecutorService timer) {
        Script<Object, R> script = new Script<>() {
            @Override
            public List<Answer<R>> to(Object request) {
                return List.of();
            }

            @Override
            public List<Answer<R>> atEnd() {
                return answers;
            }
        };
        return new ScriptedPublisher<>(Flow.Subscriber::onComplete, script, timer);
    }

    @Override
    public void subscribe(Flow.Subscriber<? super R> subscriber) {
        if (downstream != null) {
            throw new IllegalStateException("the answers of a call have one subscriber");
        }
        downstream = subscriber;
        requests.subscribe(this);
        subscriber.onSubscribe(this);
        workOff(1);
    }

    @Override
    public void onSubscribe(Flow.Subscription subscription) {
        upstream = subscription;
        // The subscriber might have requested answers before this publisher received its subscription, so the answers
        // are sent now.
        handleEvents();
    }

    @Override
    public void onNext(Q request) {
        received.add(request);
        handleEvents();
    }

    @Override
    public void onError(Throwable failure) {
        requestsFailed = failure;
        handleEvents();
    }

    @Override
    public void onComplete() {
        lastReceived = true;
        handleEvents();
    }

    @Override
    public void request(long count) {
        wanted.accumulateAndGet(count, (before, more) -> before + more < 0 ? Long.MAX_VALUE : before + more);
        handleEvents();
    }

    @Override
    public void cancel() {
        cancelled = true;
        handleEvents();
    }

    private void handleEvents() {
        if (news.getAndIncrement() == 0) {
            workOff(1);
        }
    }

    private void workOff(int known) {
        Flow.Subscriber<? super R> subscriber = downstream;
        if (subscriber == null) {
            return;
        }
        int count = known;
        do {
            while (!over && advance(subscriber)) {
                // The call to advance() in the loop condition does all of the work.
            }
        } while ((count = news.addAndGet(-count)) != 0);
    }

    /**
     * Sends at most one answer, or passes at most one request to the script. Returns whether the next call can make
     * progress without a new event.
     */
    private boolean advance(Flow.Subscriber<? super R> subscriber) {
        if (cancelled) {
            finish();
            return false;
        }
        Throwable failure = requestsFailed;
        if (failure != null) {
            over = true;
            subscriber.onError(failure);
            return false;
        }
        Answer<R> next = answers.peek();
        if (next != null) {
            return give(next, subscriber);
        }
        return allAnswered ? give(Answer.end(), subscriber) : ask(subscriber);
    }

    private boolean give(Answer<R> answer, Flow.Subscriber<? super R> subscriber) {
        boolean message = answer.message() != null;
        if (waiting || (message && wanted.get() == 0)) {
            return false;
        }
        if (answer.delay().compareTo(Duration.ZERO) > 0 && !delayed) {
            waiting = true;
            delayed = true;
            timer.schedule(this::waited, answer.delay().toNanos(), TimeUnit.NANOSECONDS);
            return false;
        }
        answers.poll();
        delayed = false;
        RpcException failure = answer.failure();
        if (answer.message() != null) {
            wanted.updateAndGet(left -> left == Long.MAX_VALUE ? left : left - 1);
            subscriber.onNext(answer.message());
        } else if (failure != null) {
            finish();
            subscriber.onError(failure);
        } else {
            finish();
            subscriber.onComplete();
        }
        return true;
    }

    private void waited() {
        waiting = false;
        handleEvents();
    }

    private boolean ask(Flow.Subscriber<? super R> subscriber) {
        // The last request enters the queue before lastReceived is set. Therefore lastReceived must be read before the
        // queue.
        boolean last = lastReceived;
        Q request = received.poll();
        try {
            if (request != null) {
                asked = false;
                answers.addAll(script.to(request));
                return true;
            }
            if (last) {
                allAnswered = true;
                answers.addAll(script.atEnd());
                return true;
            }
        } catch (RuntimeException e) {
            finish();
            subscriber.onError(e);
            return false;
        }
        Flow.Subscription subscription = upstream;
        if (!asked && subscription != null) {
            asked = true;
            subscription.request(1);
        }
        return false;
    }

    private void finish() {
        over = true;
        Flow.Subscription subscription = upstream;
        if (subscription != null && !lastReceived) {
            subscription.cancel();
        }
    }
}
