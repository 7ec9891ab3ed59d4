package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.netty.triple.LedgerService.entry;

import com.example.ledger.Entry;
import com.example.ledger.LedgerGrpc;
import com.example.ledger.LedgerGrpc.LedgerBlockingStub;
import com.example.ledger.LedgerGrpc.LedgerStub;
import com.example.ledger.Period;
import com.example.ledger.Receipt;
import io.grpc.Context;
import io.grpc.Context.CancellableContext;
import io.grpc.Grpc;
import io.grpc.Metadata;
import io.grpc.Metadata.Key;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerInterceptors;
import io.grpc.Status;
import io.grpc.Status.Code;
import io.grpc.stub.MetadataUtils;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import tern.rpc.ServerContext;
import tern.rpc.grpc.GrpcServices;
import tern.rpc.netty.peer.Await;
import tern.rpc.netty.peer.CapturedLog;

/** Tests metadata, interceptors, contexts, deadlines and cancellation of grpc-java services exported by Tern. */
class GrpcServiceContextTest extends GrpcServiceCalls {

    private static final Key<String> CALLER = Key.of("x-caller", Metadata.ASCII_STRING_MARSHALLER);
    private static final Key<byte[]> TOKEN = Key.of("x-token-bin", Metadata.BINARY_BYTE_MARSHALLER);

    @Test
    void metadataReachesTheServiceAndComesBackAsHeadersAndTrailers() {
        ServerInterceptor mirror = new ServerInterceptor() {
            @Override
            public <Q, A> ServerCall.Listener<Q> interceptCall(
                    ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
                return next.startCall(new Mirroring<>(call, headers), headers);
            }
        };
        AtomicReference<Metadata> headers = new AtomicReference<>();
        AtomicReference<Metadata> trailers = new AtomicReference<>();
        Metadata sent = new Metadata();
        sent.put(CALLER, "one");
        sent.put(CALLER, "two");
        sent.put(TOKEN, new byte[] {1, 2, (byte) 0xff});
        LedgerBlockingStub stub = LedgerGrpc.newBlockingStub(
                        peer(GrpcServices.export(ServerInterceptors.intercept(new LedgerService(), mirror)))
                                .channel())
                .withInterceptors(
                        MetadataUtils.newAttachHeadersInterceptor(sent),
                        MetadataUtils.newCaptureMetadataInterceptor(headers, trailers));

        stub.post(entry("a", 1));
        assertMirrored(headers.get());
        assertMirrored(trailers.get());

        stub.statement(Period.newBuilder().setEntries(2).build()).forEachRemaining(entry -> {});
        assertMirrored(headers.get());
        assertMirrored(trailers.get());

        assertFails(Code.INVALID_ARGUMENT, () -> stub.post(entry("a", 0)));
        assertMirrored(trailers.get());
    }

    private static void assertMirrored(Metadata metadata) {
        assertThat(metadata.getAll(CALLER)).containsExactly("one", "two");
        assertThat(metadata.get(TOKEN)).containsExactly(1, 2, 0xff);
    }

    /** Wraps a server call. Copies the headers of the request to the headers and the trailers of the answer. */
    private static final class Mirroring<Q, A> extends io.grpc.ForwardingServerCall.SimpleForwardingServerCall<Q, A> {
        private final Metadata received;

        Mirroring(ServerCall<Q, A> call, Metadata received) {
            super(call);
            this.received = received;
        }

        @Override
        public void sendHeaders(Metadata headers) {
            copy(headers);
            super.sendHeaders(headers);
        }

        @Override
        public void close(Status status, Metadata trailers) {
            copy(trailers);
            super.close(status, trailers);
        }

        private void copy(Metadata target) {
            received.getAll(CALLER).forEach(value -> target.put(CALLER, value));
            target.put(TOKEN, received.get(TOKEN));
        }
    }

    @Test
    void interceptorMayEndACallBeforeTheServiceSeesIt() {
        ServerInterceptor guard = new ServerInterceptor() {
            @Override
            public <Q, A> ServerCall.Listener<Q> interceptCall(
                    ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
                call.close(Status.UNAUTHENTICATED.withDescription("who are you"), new Metadata());
                return new ServerCall.Listener<>() {};
            }
        };
        GrpcPeer peer = peer(GrpcServices.export(ServerInterceptors.intercept(new LedgerService(), guard)));

        assertFails(
                Code.UNAUTHENTICATED,
                () -> LedgerGrpc.newBlockingStub(peer.channel()).post(entry("a", 1)));
        Answers<Receipt> answers = new Answers<>();
        LedgerGrpc.newStub(peer.channel()).reconcile(answers);
        assertThat(answers.failure()).isEqualTo(Code.UNAUTHENTICATED);
    }

    @Test
    void callerIsKnownInGrpcAndTernContexts() {
        AtomicReference<Object> address = new AtomicReference<>();
        AtomicReference<ServerContext> serving = new AtomicReference<>();
        ServerInterceptor look = new ServerInterceptor() {
            @Override
            public <Q, A> ServerCall.Listener<Q> interceptCall(
                    ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
                address.set(call.getAttributes().get(Grpc.TRANSPORT_ATTR_REMOTE_ADDR));
                serving.set(ServerContext.current());
                return next.startCall(call, headers);
            }
        };

        LedgerGrpc.newBlockingStub(peer(GrpcServices.export(ServerInterceptors.intercept(new LedgerService(), look)))
                        .channel())
                .post(entry("a", 1));

        assertThat(address.get()).isInstanceOf(InetSocketAddress.class);
        assertThat(serving.get().method().fullName()).isEqualTo("Ledger/Post");
    }

    @Test
    void contextHasTheDeadlineOfTheCaller() {
        AtomicReference<io.grpc.Deadline> seen = new AtomicReference<>();
        LedgerBlockingStub stub = blocking(new LedgerService() {
            @Override
            public void post(Entry entry, StreamObserver<Receipt> answer) {
                seen.set(Context.current().getDeadline());
                super.post(entry, answer);
            }
        });

        stub.post(entry("a", 1));
        assertThat(seen.get()).isNull();

        stub.withDeadlineAfter(1, TimeUnit.HOURS).post(entry("a", 1));
        assertThat(seen.get().timeRemaining(TimeUnit.MINUTES)).isBetween(1L, 60L);
    }

    @Test
    void contextEndsWithTheCall() {
        AtomicReference<Context> seen = new AtomicReference<>();
        LedgerBlockingStub stub = blocking(new LedgerService() {
            @Override
            public void post(Entry entry, StreamObserver<Receipt> answer) {
                seen.set(Context.current());
                super.post(entry, answer);
            }
        });

        stub.post(entry("a", 1));

        Await.until("the context has ended", () -> seen.get().isCancelled());
        assertThat(seen.get().cancellationCause()).isNull();
    }

    @Test
    void cancellationOfAUnaryCallReachesServiceAndContext() throws InterruptedException {
        Cancelled cancelled = new Cancelled();
        LedgerBlockingStub stub = blocking(new LedgerGrpc.LedgerImplBase() {
            @Override
            public void post(Entry entry, StreamObserver<Receipt> answer) {
                cancelled.watch(answer);
            }
        });
        CancellableContext caller = Context.current().withCancellation();
        Runnable call = () -> assertFails(Code.CANCELLED, () -> stub.post(entry("a", 1)));
        Thread calling = new Thread(caller.wrap(call));
        calling.start();
        cancelled.begun.await();

        caller.cancel(null);

        calling.join();
        cancelled.await();
    }

    @Test
    void cancellationOfStreamsReachesServiceAndContext() {
        Cancelled statement = new Cancelled();
        Cancelled reconcile = new Cancelled();
        LedgerStub stub = async(new LedgerGrpc.LedgerImplBase() {
            @Override
            public void statement(Period period, StreamObserver<Entry> answers) {
                statement.watch(answers);
            }

            @Override
            public StreamObserver<Entry> reconcile(StreamObserver<Receipt> answers) {
                reconcile.watch(answers);
                return new Ignored<>();
            }
        });
        CancellableContext caller = Context.current().withCancellation();

        caller.run(() -> {
            stub.statement(Period.getDefaultInstance(), new Answers<>());
            stub.reconcile(new Answers<>());
        });
        statement.begun();
        reconcile.begun();
        caller.cancel(null);

        statement.await();
        reconcile.await();
    }

    @Test
    void serviceThatSendsWithoutEndIsStoppedByTheCancellationAndLeavesNoWarning() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch stopped = new CountDownLatch(1);
        LedgerStub stub = async(new LedgerGrpc.LedgerImplBase() {
            @Override
            public void statement(Period period, StreamObserver<Entry> answers) {
                begun.countDown();
                try {
                    while (true) {
                        answers.onNext(entry("a", 1));
                    }
                } finally {
                    stopped.countDown();
                }
            }
        });
        CancellableContext caller = Context.current().withCancellation();

        try (CapturedLog log = new CapturedLog("tern.rpc.grpc.GrpcCall")) {
            caller.run(() -> stub.statement(Period.getDefaultInstance(), new Answers<>()));
            begun.await();
            caller.cancel(null);

            stopped.await();
            sides.close();
            assertThat(log.lines()).isEmpty();
        }
    }

    @Test
    void contextIsCancelledWhileTheServiceIsBusy() throws InterruptedException {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch noticed = new CountDownLatch(1);
        LedgerBlockingStub stub = blocking(new LedgerGrpc.LedgerImplBase() {
            @Override
            public void post(Entry entry, StreamObserver<Receipt> answer) {
                begun.countDown();
                Await.until("the context is cancelled", () -> Context.current().isCancelled());
                noticed.countDown();
            }
        });
        CancellableContext caller = Context.current().withCancellation();
        Runnable call = () -> assertFails(Code.CANCELLED, () -> stub.post(entry("a", 1)));
        Thread calling = new Thread(caller.wrap(call));
        calling.start();
        begun.await();

        caller.cancel(null);

        noticed.await();
        calling.join();
    }

    /**
     * Waits until a method has been notified of its caller's cancellation in both ways: through a handler and through
     * the context.
     */
    private static final class Cancelled {
        final CountDownLatch begun = new CountDownLatch(1);
        private final CompletableFuture<Void> handler = new CompletableFuture<>();
        private final CompletableFuture<Throwable> context = new CompletableFuture<>();

        void watch(StreamObserver<?> answers) {
            ((ServerCallStreamObserver<?>) answers).setOnCancelHandler(() -> handler.complete(null));
            Context.current().addListener(over -> context.complete(over.cancellationCause()), Runnable::run);
            begun.countDown();
        }

        void begun() {
            try {
                begun.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }

        void await() {
            handler.join();
            assertThat(context.join()).isNotNull();
        }
    }
}
