package tern.rpc.netty;

import com.google.protobuf.ByteString;
import com.google.protobuf.BytesValue;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;
import tern.rpc.RpcException;
import tern.rpc.ServerContext;
import tern.rpc.StatusCode;
import tern.rpc.StreamObserver;
import tern.rpc.netty.peer.EchoingSubscriber;
import tern.rpc.netty.peer.ReadingSubscriber;

/** One stream of a simulation: its plan, its result, and the application code of the client and the service. */
final class SimulatedStream {

    interface Service {
        Flow.Publisher<BytesValue> down(BytesValue plan);

        void downReady(BytesValue plan, StreamObserver<BytesValue> answers);

        CompletionStage<BytesValue> up(Flow.Publisher<BytesValue> requests);

        Flow.Publisher<BytesValue> both(Flow.Publisher<BytesValue> requests);

        StreamObserver<BytesValue> bothReady(StreamObserver<BytesValue> answers);

        BytesValue unary(BytesValue text);

        CompletableFuture<BytesValue> unaryLater(BytesValue text);
    }

    private enum Shape {
        DOWN,
        DOWN_READY,
        UP,
        BOTH,
        BOTH_READY,
        UNARY
    }

    private static final int HEAD_BYTES = 12;
    private static final ByteString FILLER = ByteString.copyFrom(new byte[16 << 10]);

    /** The methods of the streams whose end has not yet been reported to the service. */
    private static final List<Shape> SERVING = new ArrayList<>();

    private static @Nullable Simulation simulation;

    private final Simulation.User caller;
    private final Simulation.User other;
    private final Shape shape;
    private final int id;
    private final int messages;
    private final int bytes;
    private final boolean oneByOne;
    // the number of answers that the caller reads before it cancels the call; 0 if the caller does not cancel the call
    private final int cancelAt;
    private final int failAt;
    private final boolean cancelledByOther; // true if another thread cancels the call at a random time
    private final boolean mayBreak; // true if the connection can be lost during the stream
    private int sent;
    private int received;
    private @Nullable StatusCode end;
    private @Nullable String fault;

    /**
     * @param mayBreak whether the connection can be lost during the stream
     */
    SimulatedStream(Simulation in, int id, boolean mayBreak) {
        Random random = in.random();
        this.caller = in.user("caller " + id);
        this.other = in.user("canceller " + id);
        this.id = id;
        this.shape = Shape.values()[random.nextInt(Shape.values().length)];
        this.messages = random.nextInt(12);
        this.bytes = random.nextInt(4) == 0 ? 100 : 1 + random.nextInt(FILLER.size());
        this.oneByOne = random.nextBoolean();
        int what = random.nextInt(7);
        this.cancelAt = what == 0 ? 1 + random.nextInt(messages + 1) : 0;
        this.failAt = what == 1 ? 1 + random.nextInt(messages + 1) : 0;
        this.cancelledByOther = what == 2;
        this.mayBreak = mayBreak;
    }

    /** Resets the state that all streams of a simulation share. */
    static void begins(Simulation in) {
        simulation = in;
        SERVING.clear();
    }

    /** Describes the streams whose end has not been reported to the service; empty if there are none. */
    static String serving() {
        return SERVING.isEmpty() ? "" : "streams whose end the service was not told: " + SERVING;
    }

    private static void pause() {
        Objects.requireNonNull(simulation).pause();
    }

    private static BytesValue message(int id, int index, int failAt, int bytes) {
        ByteBuffer head =
                ByteBuffer.allocate(HEAD_BYTES).putInt(id).putInt(index).putInt(failAt);
        return BytesValue.of(ByteString.copyFrom(head.flip()).concat(FILLER.substring(0, bytes)));
    }

    private static ByteBuffer head(BytesValue message) {
        return message.getValue().substring(0, HEAD_BYTES).asReadOnlyByteBuffer();
    }

    // ---- test assertions

    /**
     * Returns a description of the first error in this stream; null if the stream ended as planned. Must be called when
     * all steps of the simulation are done.
     */
    @Nullable
    String wrong() {
        if (fault != null) {
            return this + ": " + fault;
        }
        if (end == null) {
            return this + ": it hangs";
        }
        boolean asPlanned = switch (end) {
            case OK -> !fails() && received == (shape == Shape.UP || shape == Shape.UNARY ? 1 : messages);
            case ABORTED -> fails();
            case CANCELLED -> cancelAt > 0 || cancelledByOther || mayBreak;
            case UNAVAILABLE -> mayBreak;
            default -> false;
        };
        return asPlanned ? null : this + ": that is not what was planned";
    }

    /**
     * Returns whether the service fails. A service that is planned to fail after a number of requests does not fail if
     * fewer requests are planned.
     */
    private boolean fails() {
        boolean readsRequests = shape == Shape.UP || shape == Shape.BOTH || shape == Shape.BOTH_READY;
        return failAt > 0 && (!readsRequests || failAt <= messages);
    }

    @Override
    public String toString() {
        return shape + " stream " + id + ", " + sent + " sent and " + received + " received of " + messages + " with "
                + bytes + " bytes, cancelled at " + cancelAt + ", failing at " + failAt + ", "
                + (end == null ? "not ended" : end);
    }

    private void fault(String what) {
        if (fault == null) {
            fault = what;
        }
    }

    // ---- caller code

    void begin(Service to) {
        caller.does(() -> {
            BytesValue plan = message(id, messages, failAt, bytes);
            switch (shape) {
                case DOWN -> to.down(plan).subscribe(new Taker());
                case DOWN_READY -> to.downReady(plan, new Observer());
                case UP -> up(to);
                case BOTH -> to.both(requests()).subscribe(new Taker());
                case BOTH_READY -> bothReady(to);
                case UNARY -> to.unaryLater(plan).whenComplete(this::answered);
            }
        });
    }

    private void up(Service to) {
        CompletableFuture<BytesValue> call = to.up(requests()).toCompletableFuture();
        call.whenComplete(this::answered);
        if (cancelAt > 0 || cancelledByOther) {
            other.does(() -> call.cancel(false));
        }
    }

    private void answered(@Nullable BytesValue answer, @Nullable Throwable failure) {
        if (failure != null) {
            failed(failure);
        } else {
            received++;
            end(StatusCode.OK);
        }
    }

    private void bothReady(Service to) {
        StreamObserver<BytesValue> requests = to.bothReady(new Observer());
        if (cancelledByOther) {
            other.does(() -> requests.onError(new IllegalStateException("cancelled by plan")));
        }
        requests.onReady(() -> {
            while (sent < messages && requests.isReady()) {
                requests.onNext(next());
            }
            if (sent == messages) {
                requests.onCompleted();
            }
        });
    }

    private BytesValue next() {
        return message(id, sent++, failAt, bytes);
    }

    private Flow.Publisher<BytesValue> requests() {
        return new Source(messages, null, () -> {}) {
            @Override
            BytesValue make(int index) {
                sent++;
                return message(id, index, failAt, bytes);
            }
        };
    }

    /** @return whether the client must cancel the stream after this answer */
    private boolean take(BytesValue answer) {
        ByteBuffer head = head(answer);
        int of = head.getInt();
        int index = head.getInt();
        if (end != null) {
            fault("answer " + index + " came after the end");
        }
        if (of != id || index != received || answer.getValue().size() != HEAD_BYTES + bytes) {
            fault("answer " + index + " of stream " + of + " came instead of " + received);
        }
        received++;
        boolean cancels = received == cancelAt;
        pause();
        return cancels && end == null;
    }

    private void end(StatusCode code) {
        if (end != null) {
            fault("ended with " + code + " after it had ended with " + end);
        }
        end = code;
    }

    private void failed(Throwable failure) {
        Throwable cause =
                failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
        end(cause instanceof RpcException rpc ? rpc.code() : StatusCode.CANCELLED);
        if (end != StatusCode.ABORTED && end != StatusCode.CANCELLED && end != StatusCode.UNAVAILABLE) {
            fault(failure.toString());
        }
    }

    private final class Taker implements Flow.Subscriber<BytesValue> {

        private Flow.@Nullable Subscription subscription;

        private Flow.Subscription subscription() {
            return Objects.requireNonNull(subscription);
        }

        @Override
        public void onSubscribe(Flow.Subscription given) {
            subscription = given;
            pause();
            if (cancelledByOther) {
                other.does(this::cancel);
            }
            if (oneByOne) {
                caller.does(() -> given.request(1));
            } else {
                given.request(Long.MAX_VALUE);
            }
        }

        private void cancel() {
            if (end == null) {
                // a receiver that cancels its stream is not notified, so the end is recorded here
                end(StatusCode.CANCELLED);
                subscription().cancel();
            }
        }

        @Override
        public void onNext(BytesValue answer) {
            if (take(answer)) {
                cancel();
            } else if (oneByOne) {
                caller.does(() -> subscription().request(1));
            }
        }

        @Override
        public void onError(Throwable failure) {
            failed(failure);
            pause();
        }

        @Override
        public void onComplete() {
            end(StatusCode.OK);
            pause();
        }
    }

    private final class Observer implements StreamObserver<BytesValue> {

        @Override
        public void onNext(BytesValue answer) {
            if (take(answer)) {
                throw new IllegalStateException("cancelled by plan");
            }
        }

        @Override
        public void onError(Throwable failure) {
            failed(failure);
            pause();
        }

        @Override
        public void onCompleted() {
            end(StatusCode.OK);
            pause();
        }
    }

    // ---- shared code

    /** A publisher that publishes messages on the thread that requests them. */
    private abstract static class Source implements Flow.Publisher<BytesValue>, Flow.Subscription {

        private final int messages;
        private final @Nullable RpcException failure;
        private final Runnable whenOver;
        private Flow.@Nullable Subscriber<? super BytesValue> subscriber;
        private long wanted;
        private int next;
        private boolean giving;
        private boolean over;

        Source(int messages, @Nullable RpcException failure, Runnable whenOver) {
            this.messages = messages;
            this.failure = failure;
            this.whenOver = whenOver;
        }

        abstract BytesValue make(int index);

        @Override
        public void subscribe(Flow.Subscriber<? super BytesValue> given) {
            subscriber = given;
            pause();
            given.onSubscribe(this);
        }

        @Override
        public void request(long more) {
            pause();
            wanted = wanted + more < 0 ? Long.MAX_VALUE : wanted + more;
            if (giving) {
                return;
            }
            giving = true;
            while (wanted > 0 && !over) {
                wanted--;
                give(Objects.requireNonNull(subscriber));
            }
            giving = false;
        }

        private void give(Flow.Subscriber<? super BytesValue> to) {
            if (next < messages) {
                to.onNext(make(next++));
                return;
            }
            end();
            if (failure == null) {
                to.onComplete();
            } else {
                to.onError(failure);
            }
        }

        private void end() {
            if (!over) {
                over = true;
                whenOver.run();
            }
        }

        @Override
        public void cancel() {
            pause();
            end();
        }
    }

    // ---- service code

    private static RpcException planned() {
        return new RpcException(StatusCode.ABORTED, "as planned");
    }

    /** Records the start of a stream. The returned task records its end and can run more than once. */
    private static Runnable served(Shape shape) {
        SERVING.add(shape);
        boolean[] over = new boolean[1];
        return () -> {
            if (!over[0]) {
                over[0] = true;
                SERVING.remove(shape);
            }
        };
    }

    /** Checks that the requests are received in order. */
    private static final class Reader {
        private int next;

        void read(BytesValue request) {
            pause();
            ByteBuffer head = head(request);
            int id = head.getInt();
            int index = head.getInt();
            if (index != next++) {
                throw new RpcException(
                        StatusCode.DATA_LOSS, "request " + index + " of " + id + " instead of " + (next - 1));
            }
            if (next == head.getInt()) {
                throw planned();
            }
        }
    }

    /** Implements the service for all streams of a simulation. */
    static final class Server implements Service {

        private static final int FIRST_TOKEN = 0;

        private static int countOf(ByteBuffer plan) {
            int messages = plan.getInt();
            int failAt = plan.getInt();
            return failAt > 0 ? Math.min(messages, failAt) : messages;
        }

        @Override
        public Flow.Publisher<BytesValue> down(BytesValue plan) {
            pause();
            ByteBuffer head = head(plan);
            int id = head.getInt();
            int failAt = head.getInt(HEAD_BYTES - Integer.BYTES);
            int bytes = plan.getValue().size() - HEAD_BYTES;
            return new Source(countOf(head), failAt > 0 ? planned() : null, served(Shape.DOWN)) {
                @Override
                BytesValue make(int index) {
                    pause();
                    return message(id, index, FIRST_TOKEN, bytes);
                }
            };
        }

        @Override
        public void downReady(BytesValue plan, StreamObserver<BytesValue> answers) {
            pause();
            ByteBuffer head = head(plan);
            int id = head.getInt();
            int failAt = head.getInt(HEAD_BYTES - Integer.BYTES);
            int count = countOf(head);
            int bytes = plan.getValue().size() - HEAD_BYTES;
            Runnable over = served(Shape.DOWN_READY);
            Objects.requireNonNull(ServerContext.current()).onCancel(over);
            int[] next = new int[1];
            answers.onReady(() -> {
                while (next[0] <= count && answers.isReady()) {
                    pause();
                    if (next[0] < count) {
                        answers.onNext(message(id, next[0]++, FIRST_TOKEN, bytes));
                        continue;
                    }
                    next[0]++;
                    over.run();
                    if (failAt > 0) {
                        answers.onError(planned());
                    } else {
                        answers.onCompleted();
                    }
                }
            });
        }

        @Override
        public CompletionStage<BytesValue> up(Flow.Publisher<BytesValue> requests) {
            pause();
            Reader reader = new Reader();
            ReadingSubscriber<BytesValue, BytesValue> reading = new ReadingSubscriber<>(
                    reader::read, BytesValue::getDefaultInstance, served(Shape.UP), SimulatedStream::pause);
            requests.subscribe(reading);
            return reading.answer();
        }

        @Override
        public Flow.Publisher<BytesValue> both(Flow.Publisher<BytesValue> requests) {
            pause();
            Reader reader = new Reader();
            Runnable over = served(Shape.BOTH);
            return answers -> requests.subscribe(
                    new EchoingSubscriber<BytesValue>(answers, reader::read, over, SimulatedStream::pause));
        }

        @Override
        public StreamObserver<BytesValue> bothReady(StreamObserver<BytesValue> answers) {
            pause();
            Reader reader = new Reader();
            Runnable over = served(Shape.BOTH_READY);
            Queue<BytesValue> unsent = new ArrayDeque<>();
            boolean[] ended = new boolean[1];
            Runnable send = () -> {
                while (!unsent.isEmpty() && answers.isReady()) {
                    answers.onNext(unsent.remove());
                }
                if (unsent.isEmpty() && ended[0]) {
                    answers.onCompleted();
                }
            };
            answers.onReady(send);
            return new StreamObserver<>() {
                @Override
                public void onNext(BytesValue request) {
                    reader.read(request);
                    unsent.add(request);
                    send.run();
                }

                @Override
                public void onError(Throwable failure) {
                    over.run();
                }

                @Override
                public void onCompleted() {
                    over.run();
                    ended[0] = true;
                    pause();
                    send.run();
                }
            };
        }

        @Override
        public BytesValue unary(BytesValue text) {
            return text;
        }

        @Override
        public CompletableFuture<BytesValue> unaryLater(BytesValue text) {
            pause();
            if (head(text).getInt(HEAD_BYTES - Integer.BYTES) > 0) {
                throw planned();
            }
            return CompletableFuture.completedFuture(text);
        }
    }
}
