package tern.rpc.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tern.rpc.Deadline;
import tern.rpc.Invocation;
import tern.rpc.Metadata;
import tern.rpc.MethodDescriptor;
import tern.rpc.Response;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ServiceKey;
import tern.rpc.StatusCode;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.metrics.RpcMeter;
import tern.rpc.metrics.RpcMeters;
import tern.rpc.metrics.Slo;
import tern.rpc.serialization.JdkSerializer;
import tern.rpc.transport.Answer;
import tern.rpc.transport.CallHandler;
import tern.rpc.transport.ClientConnection;
import tern.rpc.transport.ClientStream;
import tern.rpc.transport.Duel;
import tern.rpc.transport.ForwardingServerTransport;
import tern.rpc.transport.InMemoryTransport;
import tern.rpc.transport.Message;
import tern.rpc.transport.PendingCall;

/**
 * Verifies promise R12 in docs/figures/promises.md. If two events that end a call happen at the same moment, the call
 * must end exactly once on the client and once on the server. The test covers all pairs of the events answer, timeout,
 * cancellation and connection loss. After each call, all of its resources must be released.
 */
@Timeout(600)
class OneOutcomeTest {

    /** An event that can end a call. */
    private enum Ending {
        ANSWER,
        TIME,
        CANCEL,
        CLOSE;

        static Ending of(int number) {
            return values()[Math.floorMod(number, values().length)];
        }
    }

    private static final int PENDING_CALLS = Duel.rounds(380_000);
    private static final int WAITING_CALLERS = Duel.rounds(60_000);
    private static final int SERVED_CALLS = Duel.rounds(40_000);
    private static final int SERVED_STREAMS = Duel.rounds(20_000);

    interface Promises {
        CompletionStage<String> later();

        Flow.Publisher<Integer> numbers();
    }

    private static final ServiceDescriptor SERVICE = ServiceDescriptor.of(Promises.class);
    private static final MethodDescriptor LATER = SERVICE.overloads("later").get(0);
    private static final MethodDescriptor NUMBERS = SERVICE.overloads("numbers").get(0);

    private final AtomicLong time = new AtomicLong();
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final InMemoryTransport transport = new InMemoryTransport(new JdkSerializer(), time::get);
    private final Reopening reopening = new Reopening();
    private @Nullable RpcServer server;

    @AfterEach
    void close() {
        if (server != null) {
            server.close();
        }
    }

    /** Counts the events of one call on the client. */
    private static final class Counted implements PendingCall.Completion, PendingCall.Carrier, Answer {

        private final AtomicInteger completions = new AtomicInteger();
        private final AtomicInteger abandonments = new AtomicInteger();
        private final AtomicInteger answersDecoded = new AtomicInteger();
        private final AtomicInteger answersDiscarded = new AtomicInteger();

        @Override
        public void completed(@Nullable Response response, @Nullable Throwable failed) {
            if ((response == null) == (failed == null)) {
                completions.set(-1_000);
            }
            completions.incrementAndGet();
        }

        @Override
        public void abandoned(PendingCall call) {
            abandonments.incrementAndGet();
        }

        @Override
        public Response decode(Invocation call) {
            answersDecoded.incrementAndGet();
            return Response.of("x");
        }

        @Override
        public void discard() {
            answersDiscarded.incrementAndGet();
        }
    }

    private static Invocation invocation(MethodDescriptor method, Deadline deadline) {
        return new Invocation(
                new ServiceKey(Promises.class.getName(), "", ""),
                method,
                new Object[0],
                new Metadata(),
                deadline,
                Runnable::run);
    }

    private static RpcException failure(Ending ending) {
        return RpcException.refusal(
                ending == Ending.TIME
                        ? StatusCode.DEADLINE_EXCEEDED
                        : ending == Ending.CANCEL ? StatusCode.CANCELLED : StatusCode.UNAVAILABLE,
                "",
                Executed.MAYBE);
    }

    private static boolean end(PendingCall call, Ending ending, Counted counted) {
        return ending == Ending.ANSWER ? call.answer(counted) : call.fail(failure(ending));
    }

    @Test
    void aPendingCallEndsOnce() {
        int[] wonByFirst = new int[1];

        Duel.fight(PENDING_CALLS, number -> new Duel.Round() {
            private final Counted counted = new Counted();
            private final PendingCall call = new PendingCall(invocation(LATER, Deadline.none()), false, 0, counted);
            private final Ending one = Ending.of(number);
            private final Ending other = Ending.of(number / 4);
            private boolean won;
            private boolean lost;

            {
                call.carriedBy(counted);
            }

            @Override
            public void first() {
                won = end(call, one, counted);
            }

            @Override
            public void second() {
                lost = end(call, other, counted);
            }

            @Override
            public void over() {
                Ending winner = won ? one : other;
                int answers = (one == Ending.ANSWER ? 1 : 0) + (other == Ending.ANSWER ? 1 : 0);
                check(won != lost, "one of two endings is told that it was first");
                check(counted.completions.get() == 1, "the call completes once");
                check(counted.answersDecoded.get() == (winner == Ending.ANSWER ? 1 : 0), "the answer is read if first");
                check(
                        counted.answersDecoded.get() + counted.answersDiscarded.get() == answers,
                        "every answer is read or discarded");
                check(counted.abandonments.get() == (winner == Ending.ANSWER ? 0 : 1), "the server is told, or not");
                wonByFirst[0] += won ? 1 : 0;
            }
        });

        assertThat(wonByFirst[0])
                .as("rounds in which the first won")
                .isBetween(PENDING_CALLS / 100, PENDING_CALLS - PENDING_CALLS / 100);
        System.out.println("R12 pending calls: " + PENDING_CALLS + " races, each ended once");
    }

    @Test
    void callerThatStartsToWaitWhileItsCallEndsIsNotified() {
        Duel.fight(WAITING_CALLERS, number -> new Duel.Round() {
            private final Counted counted = new Counted();
            private final PendingCall call = new PendingCall(invocation(LATER, Deadline.none()), false, 0, null);
            private final Ending ending = Ending.of(number);
            private int outcomes;

            @Override
            public void first() {
                try {
                    call.await();
                    outcomes += ending == Ending.ANSWER ? 1 : -1_000;
                } catch (Throwable e) {
                    outcomes += ending == Ending.ANSWER ? -1_000 : 1;
                }
            }

            @Override
            public void second() {
                end(call, ending, counted);
            }

            @Override
            public void over() {
                check(outcomes == 1, "the caller has the one outcome");
            }
        });
        System.out.println("R12 waiting callers: " + WAITING_CALLERS + " races, each ended once");
    }

    /**
     * A service that stores the future of the last call for the test to complete. The service handles one call at a
     * time.
     */
    private static final class Promising implements Promises {
        private final AtomicInteger entered = new AtomicInteger();
        private volatile @Nullable CompletableFuture<String> promise;
        private volatile @Nullable Feed feed;

        @Override
        public CompletionStage<String> later() {
            CompletableFuture<String> made = new CompletableFuture<>();
            promise = made;
            entered.incrementAndGet();
            return made;
        }

        @Override
        public Flow.Publisher<Integer> numbers() {
            Feed made = new Feed();
            feed = made;
            return made;
        }
    }

    /** A publisher that publishes an item when the test requests it, and counts the subscriber's cancellations. */
    private static final class Feed implements Flow.Publisher<Integer>, Flow.Subscription {
        private final AtomicInteger cancellations = new AtomicInteger();
        private volatile Flow.@Nullable Subscriber<? super Integer> subscriber;

        @Override
        public void subscribe(Flow.Subscriber<? super Integer> told) {
            told.onSubscribe(this);
            subscriber = told;
        }

        @Override
        public void request(long items) {
            // Requests are ignored, because the test decides when to publish an item.
        }

        @Override
        public void cancel() {
            cancellations.incrementAndGet();
        }
    }

    private Promising serve() {
        Promising service = new Promising();
        server = RpcServer.builder(reopening)
                .export(ServiceExport.of(Promises.class, service))
                .workers(4, 100)
                .meters(new RpcMeters(registry, new Slo(500, Duration.ofMillis(100))))
                .clock(time::get)
                .build();
        server.start();
        return service;
    }

    private void end(PendingCall call, Ending ending, Runnable answer) {
        switch (ending) {
            case ANSWER -> answer.run();
            case TIME -> {
                time.addAndGet(2_000);
                transport.sweep();
            }
            case CANCEL -> call.fail(failure(Ending.CANCEL));
            case CLOSE -> transport.close();
        }
    }

    private double inside() {
        return registry.get(RpcMeter.SERVER_CONCURRENCY.key()).gauge().value();
    }

    private double served() {
        return registry.find(RpcMeter.SERVER_REQUESTS.key()).timers().stream()
                .mapToDouble(Timer::count)
                .sum();
    }

    @Test
    void aServedCallEndsOnceOnBothSides() {
        Promising service = serve();
        ClientConnection connection = transport.connect(new Endpoint("memory", 0), 1, null);

        Duel.fight(SERVED_CALLS, number -> new Duel.Round() {
            private final Counted counted = new Counted();
            private final PendingCall call =
                    new PendingCall(invocation(LATER, Deadline.at(time.get() + 1_000)), false, 0, counted);
            private final Ending one = Ending.of(number);
            private final Ending other = Ending.of(number / 4);

            {
                int before = service.entered.get();
                connection.send(call);
                await("the method runs", () -> service.entered.get() > before);
            }

            private void answer() {
                Objects.requireNonNull(service.promise).complete("x");
            }

            @Override
            public void first() {
                end(call, one, this::answer);
            }

            @Override
            public void second() {
                end(call, other, this::answer);
            }

            @Override
            public void over() {
                // The method has started. The worker may add a callback to the future even after the test has completed
                // the future.
                await("the client's side ended", () -> counted.completions.get() != 0);
                answer();
                await("the server's side ended", () -> transport.inFlight() == 0);
                check(counted.completions.get() == 1, "the call completes once, not " + counted.completions.get());
                reopening.after(one, other);
            }
        });

        await("workers are idle", () -> server().workers().active() == 0);
        assertThat(server().runningCalls()).isEmpty();
        await("every permit is released once", () -> inside() == 0);
        assertThat(served()).as("calls that the server counts").isEqualTo(SERVED_CALLS);
        assertThat(connection.inFlight()).isZero();
        System.out.println("R12 served calls: " + SERVED_CALLS + " races, each ended once");
    }

    @Test
    void aServedStreamEndsOnceOnBothSides() {
        Promising service = serve();
        ClientConnection connection = transport.connect(new Endpoint("memory", 0), 1, null);

        Duel.fight(SERVED_STREAMS, number -> new Duel.Round() {
            private final Counted counted = new Counted();
            private final PendingCall call =
                    new PendingCall(invocation(NUMBERS, Deadline.at(time.get() + 1_000)), false, 0, counted);
            private final Discarding receiver = new Discarding();
            private final Ending one = Ending.of(number);
            private final Ending other = Ending.of(number / 4);
            private final Feed feed;

            {
                service.feed = null;
                ClientStream stream = connection.open(call, receiver);
                stream.request(1);
                await("the stream was subscribed to", () -> {
                    Feed made = service.feed;
                    return made != null && made.subscriber != null;
                });
                feed = Objects.requireNonNull(service.feed);
            }

            private void answer() {
                Flow.Subscriber<? super Integer> subscriber = Objects.requireNonNull(feed.subscriber);
                subscriber.onNext(1);
                subscriber.onComplete();
            }

            @Override
            public void first() {
                end(call, one, this::answer);
            }

            @Override
            public void second() {
                end(call, other, one == Ending.ANSWER && other == Ending.ANSWER ? () -> {} : this::answer);
            }

            @Override
            public void over() {
                await("the client's side ended", () -> counted.completions.get() != 0);
                check(counted.completions.get() == 1, "the stream ends once, not " + counted.completions.get());
                await("the server's side ended", () -> transport.inFlight() == 0 && connection.inFlight() == 0);
                if (one != Ending.ANSWER && other != Ending.ANSWER) {
                    await("the publisher is told", () -> feed.cancellations.get() > 0);
                }
                check(receiver.messages <= 1, "no message comes twice");
                reopening.after(one, other);
            }
        });

        await("workers are idle", () -> server().workers().active() == 0);
        assertThat(server().runningCalls()).isEmpty();
        await("every permit is released once", () -> inside() == 0);
        await("every message was read or discarded", () -> transport.queuedBytes() == 0);
        assertThat(served()).as("streams that the server counts").isEqualTo(SERVED_STREAMS);
        System.out.println("R12 served streams: " + SERVED_STREAMS + " races, each ended once");
    }

    private RpcServer server() {
        return Objects.requireNonNull(server);
    }

    /** Wraps the transport, and reopens it after each race that closed it. */
    private final class Reopening extends ForwardingServerTransport {
        private @Nullable CallHandler handler;

        Reopening() {
            super(transport);
        }

        void after(Ending one, Ending other) {
            if (one == Ending.CLOSE || other == Ending.CLOSE) {
                super.start(Objects.requireNonNull(handler));
            }
        }

        @Override
        public void start(CallHandler served) {
            handler = served;
            super.start(served);
        }
    }

    /** A receiver that discards all messages. */
    private static final class Discarding implements ClientStream.Receiver {
        private volatile int messages;

        @Override
        public void headers(Metadata headers) {
            // This receiver ignores headers.
        }

        @Override
        // Messages are delivered one at a time, so the update need not be atomic.
        @SuppressWarnings("NonAtomicVolatileUpdate")
        public void message(Message message) {
            messages++;
            message.discard();
        }

        @Override
        public void ended() {
            // The completion of the call tells the client that there are no more messages.
        }

        @Override
        public void ready() {
            // Nothing to do, because this client sends no messages.
        }
    }

    private static void check(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError("not so: " + what);
        }
    }

    private static void await(String what, BooleanSupplier happened) {
        for (long spins = 0; !happened.getAsBoolean(); spins++) {
            if (spins > 10_000) {
                LockSupport.parkNanos(10_000);
            }
            check(spins < 1_000_000, what);
        }
    }
}
