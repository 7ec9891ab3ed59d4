package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static tern.rpc.netty.triple.LedgerService.entry;
import static tern.rpc.netty.triple.LedgerService.receipt;

import com.example.ledger.Entry;
import com.example.ledger.LedgerGrpc;
import com.example.ledger.LedgerGrpc.LedgerBlockingStub;
import com.example.ledger.LedgerGrpc.LedgerStub;
import com.example.ledger.Period;
import com.example.ledger.Receipt;
import com.google.protobuf.Any;
import io.grpc.BindableService;
import io.grpc.CallOptions;
import io.grpc.Context;
import io.grpc.Context.CancellableContext;
import io.grpc.Grpc;
import io.grpc.Metadata;
import io.grpc.Metadata.Key;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.Marshaller;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerInterceptors;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.Status.Code;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ClientResponseObserver;
import io.grpc.stub.MetadataUtils;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tern.rpc.Payload;
import tern.rpc.ServerContext;
import tern.rpc.ServiceDescriptor;
import tern.rpc.grpc.GrpcServices;
import tern.rpc.netty.peer.Await;
import tern.rpc.netty.peer.CapturedLog;
import tern.rpc.server.ServiceExport;

/** Tests grpc-java services that are exported by Tern and called by grpc-java's client. */
class GrpcServicesTest {

    private static final Key<String> CALLER = Key.of("x-caller", Metadata.ASCII_STRING_MARSHALLER);
    private static final Key<byte[]> TOKEN = Key.of("x-token-bin", Metadata.BINARY_BYTE_MARSHALLER);
    private static final Key<String> ENCODING = Key.of("grpc-encoding", Metadata.ASCII_STRING_MARSHALLER);

    private final TripleSides sides = new TripleSides();
    private final List<AutoCloseable> open = new ArrayList<>();

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable closed : open) {
            closed.close();
        }
        sides.close();
    }

    // ---- shapes

    @Test
    void oneRequestHasOneAnswer() {
        assertThat(blocking(new LedgerService()).post(entry("a", 7))).isEqualTo(receipt(1, 7));
    }

    @Test
    void manyRequestsHaveOneAnswer() {
        Answers<Receipt> answers = new Answers<>();
        StreamObserver<Entry> requests = async(new LedgerService()).import_(answers);

        LongStream.rangeClosed(1, 1_000).forEach(amount -> requests.onNext(entry("a", amount)));
        requests.onCompleted();

        assertThat(answers.all()).containsExactly(receipt(1_000, 500_500));
    }

    @Test
    void oneRequestHasManyAnswers() {
        List<Entry> entries = new ArrayList<>();
        blocking(new LedgerService())
                .statement(Period.newBuilder().setAccount("a").setEntries(1_000).build())
                .forEachRemaining(entries::add);

        assertThat(entries).hasSize(1_000);
        assertThat(entries.get(999)).isEqualTo(entry("a", 1_000));
    }

    @Test
    void manyRequestsHaveManyAnswersInBetween() {
        Answers<Receipt> answers = new Answers<>();
        StreamObserver<Entry> requests = async(new LedgerService()).reconcile(answers);

        for (int i = 1; i <= 100; i++) {
            requests.onNext(entry("a", i));
            answers.await(i);
        }
        requests.onCompleted();

        assertThat(answers.all()).hasSize(100).last().isEqualTo(receipt(100, 100));
    }

    @Test
    void streamOfNothingHasItsAnswer() {
        Answers<Receipt> answers = new Answers<>();
        async(new LedgerService()).import_(answers).onCompleted();

        assertThat(answers.all()).containsExactly(receipt(0, 0));
    }

    @Test
    void methodThatIsNotWrittenIsUnimplemented() {
        assertFails(
                Code.UNIMPLEMENTED,
                () -> blocking(new LedgerGrpc.LedgerImplBase() {}).post(entry("a", 1)));
    }

    // ---- statuses

    @Test
    void statusOfTheServiceReachesTheCaller() {
        StatusRuntimeException failure = assertFails(
                Code.INVALID_ARGUMENT, () -> blocking(new LedgerService()).post(entry("ä", 0)));

        assertThat(failure.getStatus().getDescription()).isEqualTo("nothing to post to ä");
    }

    @Test
    void detailsOfAStatusReachTheCaller() {
        com.google.rpc.Status detailed = com.google.rpc.Status.newBuilder()
                .setCode(Code.FAILED_PRECONDITION.value())
                .setMessage("closed")
                .addDetails(Any.pack(entry("a", 3)))
                .addDetails(Any.pack(Period.getDefaultInstance()))
                .build();
        LedgerBlockingStub stub = blocking(new LedgerGrpc.LedgerImplBase() {
            @Override
            public void post(Entry entry, StreamObserver<Receipt> answer) {
                answer.onError(StatusProto.toStatusRuntimeException(detailed));
            }
        });

        StatusRuntimeException failure = assertFails(Code.FAILED_PRECONDITION, () -> stub.post(entry("a", 1)));

        assertThat(StatusProto.fromThrowable(failure)).isEqualTo(detailed);
    }

    @Test
    void thrownStatusCountsLikeAReportedOne() {
        LedgerBlockingStub stub = blocking(new LedgerGrpc.LedgerImplBase() {
            @Override
            public void post(Entry entry, StreamObserver<Receipt> answer) {
                throw Status.ABORTED.withDescription("again").asRuntimeException();
            }
        });

        assertThat(assertFails(Code.ABORTED, () -> stub.post(entry("a", 1)))
                        .getStatus()
                        .getDescription())
                .isEqualTo("again");
    }

    @Test
    void otherExceptionIsAnUnknownFailure() {
        LedgerBlockingStub stub = blocking(new LedgerGrpc.LedgerImplBase() {
            @Override
            public void post(Entry entry, StreamObserver<Receipt> answer) {
                throw new IllegalStateException("the book is lost");
            }

            @Override
            public void statement(Period period, StreamObserver<Entry> answers) {
                answers.onNext(entry("a", 1));
                throw new IllegalStateException("the book is lost");
            }
        });

        assertFails(Code.UNKNOWN, () -> stub.post(entry("a", 1)));
        assertFails(
                Code.UNKNOWN,
                () -> stub.statement(Period.getDefaultInstance())
                        .forEachRemaining(entry -> assertThat(entry).isEqualTo(entry("a", 1))));
    }

    @Test
    void unaryMethodThatAnswersTwiceOrNotAtAllFails() {
        LedgerBlockingStub stub = blocking(new LedgerGrpc.LedgerImplBase() {
            @Override
            public void post(Entry entry, StreamObserver<Receipt> answer) {
                for (long i = 0; i < entry.getAmount(); i++) {
                    answer.onNext(receipt(1, i));
                }
                answer.onCompleted();
            }
        });

        assertThat(stub.post(entry("a", 1))).isEqualTo(receipt(1, 0));
        assertFails(Code.INTERNAL, () -> stub.post(entry("a", 2)));
        assertFails(Code.INTERNAL, () -> stub.post(entry("a", 0)));
    }

    // ---- metadata, attributes, interceptors

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

    // ---- deadline and cancellation

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

    // ---- flow control

    @Test
    void servicePausesForASlowCallerAndContinues() {
        AtomicInteger sent = new AtomicInteger();
        CompletableFuture<Integer> paused = new CompletableFuture<>();
        int all = 20_000;
        LedgerStub stub = async(new LedgerGrpc.LedgerImplBase() {
            @Override
            public void statement(Period period, StreamObserver<Entry> answers) {
                ServerCallStreamObserver<Entry> caller = (ServerCallStreamObserver<Entry>) answers;
                Entry entry = entry("x".repeat(1_000), 1);
                caller.setOnReadyHandler(() -> {
                    while (caller.isReady() && sent.get() < all) {
                        sent.incrementAndGet();
                        caller.onNext(entry);
                    }
                    if (sent.get() < all) {
                        paused.complete(sent.get());
                    } else {
                        caller.onCompleted();
                    }
                });
            }
        });

        Slow<Period, Entry> slow = new Slow<>();
        stub.statement(Period.getDefaultInstance(), slow);
        assertThat(paused.join()).isLessThan(all);
        slow.takeAll();

        assertThat(slow.all()).hasSize(all);
    }

    @Test
    void serviceThatDoesNotLookIsKeptWaitingAndLosesNothing() {
        Slow<Period, Entry> slow = new Slow<>();
        async(new LedgerService())
                .statement(
                        Period.newBuilder()
                                .setAccount("x".repeat(1_000))
                                .setEntries(20_000)
                                .build(),
                        slow);

        slow.takeAll();

        assertThat(slow.all())
                .hasSize(20_000)
                .last()
                .satisfies(last -> assertThat(last.getAmount()).isEqualTo(20_000));
    }

    @Test
    void callerSeesThatTheServiceIsSlow() {
        CompletableFuture<ServerCallStreamObserver<Receipt>> begun = new CompletableFuture<>();
        AtomicInteger received = new AtomicInteger();
        LedgerStub stub = async(new LedgerGrpc.LedgerImplBase() {
            @Override
            public StreamObserver<Entry> import_(StreamObserver<Receipt> answer) {
                ServerCallStreamObserver<Receipt> call = (ServerCallStreamObserver<Receipt>) answer;
                call.disableAutoRequest();
                begun.complete(call);
                return new Ignored<>() {
                    @Override
                    public void onNext(Entry entry) {
                        received.incrementAndGet();
                    }

                    @Override
                    public void onCompleted() {
                        answer.onNext(receipt(received.get(), 0));
                        answer.onCompleted();
                    }
                };
            }
        });
        Answers<Receipt> answers = new Answers<>();
        ClientCallStreamObserver<Entry> requests = (ClientCallStreamObserver<Entry>) stub.import_(answers);
        Entry entry = entry("x".repeat(10_000), 1);
        int sent = 0;
        while (requests.isReady() || sent < 10) {
            requests.onNext(entry);
            sent++;
            assertThat(sent).isLessThan(100_000);
        }
        requests.onCompleted();
        assertThat(received).hasValue(0);

        begun.join().request(Integer.MAX_VALUE);

        assertThat(answers.all()).containsExactly(receipt(sent, 0));
    }

    @Test
    void requestsArriveOneByOneIfRequestedOneByOne() {
        List<String> events = new CopyOnWriteArrayList<>();
        LedgerStub stub = async(new LedgerGrpc.LedgerImplBase() {
            @Override
            public StreamObserver<Entry> reconcile(StreamObserver<Receipt> answers) {
                ServerCallStreamObserver<Receipt> call = (ServerCallStreamObserver<Receipt>) answers;
                call.disableAutoRequest();
                call.request(1);
                return new Ignored<>() {
                    @Override
                    public void onNext(Entry entry) {
                        events.add("got " + entry.getAmount());
                        answers.onNext(receipt(1, entry.getAmount()));
                        events.add("done " + entry.getAmount());
                        call.request(1);
                    }

                    @Override
                    public void onCompleted() {
                        answers.onCompleted();
                    }
                };
            }
        });
        Answers<Receipt> answers = new Answers<>();
        StreamObserver<Entry> requests = stub.reconcile(answers);

        for (int i = 1; i <= 50; i++) {
            requests.onNext(entry("a", i));
        }
        requests.onCompleted();

        assertThat(answers.all()).hasSize(50);
        assertThat(events).hasSize(100);
        for (int i = 0; i < 50; i++) {
            assertThat(events.subList(2 * i, 2 * i + 2)).containsExactly("got " + (i + 1), "done " + (i + 1));
        }
    }

    // ---- compression

    @Test
    void serviceMayHaveItsAnswersCompressed() {
        AtomicReference<Metadata> headers = new AtomicReference<>();
        LedgerBlockingStub stub = blocking(new LedgerService() {
                    @Override
                    public void post(Entry entry, StreamObserver<Receipt> answer) {
                        ((ServerCallStreamObserver<Receipt>) answer).setCompression("gzip");
                        super.post(entry, answer);
                    }
                })
                .withInterceptors(MetadataUtils.newCaptureMetadataInterceptor(headers, new AtomicReference<>()));

        assertThat(stub.post(entry("a", 1))).isEqualTo(receipt(1, 1));

        assertThat(headers.get().get(ENCODING)).isEqualTo("gzip");
    }

    @Test
    void compressedRequestsAreRead() {
        assertThat(blocking(new LedgerService()).withCompression("gzip").post(entry("x".repeat(5_000), 1)))
                .isEqualTo(receipt(1, 1));
    }

    @Test
    void compressionThatIsNotServedIsRefused() {
        LedgerBlockingStub stub = blocking(new LedgerService() {
            @Override
            public void post(Entry entry, StreamObserver<Receipt> answer) {
                assertThatThrownBy(() -> ((ServerCallStreamObserver<Receipt>) answer).setCompression("snappy"))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("gzip or identity");
                super.post(entry, answer);
            }
        });

        assertThat(stub.post(entry("a", 1))).isEqualTo(receipt(1, 1));
    }

    // ---- messages

    @Test
    void generatedMessagesAreProtobufForTern() {
        ServiceDescriptor service = GrpcServices.export(new LedgerService()).service();

        assertThat(service.name()).isEqualTo("ledger.v1.Ledger");
        assertThat(service.methods())
                .allSatisfy(method -> assertThat(method.payload()).isEqualTo(Payload.PROTOBUF));
        assertThat(service.overloads("Post").get(0).parameters().get(0).raw()).isEqualTo(Entry.class);
    }

    @Test
    void messagesOfOtherKindsAreReadAndWrittenByTheirMarshallers() {
        MethodDescriptor<String, String> shout = MethodDescriptor.<String, String>newBuilder()
                .setType(MethodDescriptor.MethodType.UNARY)
                .setFullMethodName("text.Shouter/Shout")
                .setRequestMarshaller(new Text())
                .setResponseMarshaller(new Text())
                .build();
        ServerServiceDefinition shouter = ServerServiceDefinition.builder("text.Shouter")
                .addMethod(shout, ServerCalls.asyncUnaryCall((request, answer) -> {
                    answer.onNext(request + "!");
                    answer.onCompleted();
                }))
                .build();
        ServiceExport export = GrpcServices.export(shouter);
        assertThat(export.service().methods())
                .allSatisfy(method -> assertThat(method.payload()).isEqualTo(Payload.RAW));

        String answer = ClientCalls.blockingUnaryCall(peer(export).channel(), shout, CallOptions.DEFAULT, "hello ä");

        assertThat(answer).isEqualTo("hello ä!");
    }

    private static final class Text implements Marshaller<String> {
        @Override
        public InputStream stream(String value) {
            return new ByteArrayInputStream(value.getBytes(StandardCharsets.UTF_8));
        }

        @Override
        public String parse(InputStream bytes) {
            try {
                return new String(bytes.readAllBytes(), StandardCharsets.UTF_8);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    // ---- both sides

    private GrpcPeer peer(ServiceExport export) {
        GrpcPeer peer = new GrpcPeer(
                sides.serve(limits -> limits, server -> server.export(export)).port());
        open.add(peer);
        return peer;
    }

    private LedgerBlockingStub blocking(BindableService service) {
        return LedgerGrpc.newBlockingStub(peer(GrpcServices.export(service)).channel());
    }

    private LedgerStub async(BindableService service) {
        return LedgerGrpc.newStub(peer(GrpcServices.export(service)).channel());
    }

    private static StatusRuntimeException assertFails(Code code, Runnable call) {
        AtomicReference<StatusRuntimeException> failure = new AtomicReference<>();
        assertThatThrownBy(call::run).isInstanceOfSatisfying(StatusRuntimeException.class, thrown -> {
            assertThat(thrown.getStatus().getCode()).isEqualTo(code);
            failure.set(thrown);
        });
        return failure.get();
    }

    private static class Ignored<T> implements StreamObserver<T> {
        @Override
        public void onNext(T value) {
            // this observer ignores messages
        }

        @Override
        public void onError(Throwable failure) {
            // the caller has cancelled the call, so a failure is expected
        }

        @Override
        public void onCompleted() {
            // the tests do not check the end of the stream, so nothing is recorded here
        }
    }

    /** Collects received answers. */
    private static class Answers<T> implements StreamObserver<T> {
        private final List<T> received = new CopyOnWriteArrayList<>();
        private final CompletableFuture<Void> end = new CompletableFuture<>();

        List<T> all() {
            end.join();
            return received;
        }

        void await(int count) {
            Await.until(count + " answers", () -> received.size() >= count || end.isDone());
        }

        Code failure() {
            return end.handle((done, failure) -> Status.fromThrowable(failure).getCode())
                    .join();
        }

        @Override
        public void onNext(T value) {
            received.add(value);
        }

        @Override
        public void onError(Throwable failure) {
            end.completeExceptionally(failure);
        }

        @Override
        public void onCompleted() {
            end.complete(null);
        }
    }

    /** Requests one answer at first, and all remaining answers when the test calls {@code takeAll()}. */
    private static final class Slow<Q, A> implements ClientResponseObserver<Q, A> {
        private final List<A> received = new ArrayList<>();
        private final CompletableFuture<List<A>> end = new CompletableFuture<>();
        private ClientCallStreamObserver<Q> call;

        @Override
        public void beforeStart(ClientCallStreamObserver<Q> begun) {
            call = begun;
            begun.disableAutoRequestWithInitial(1);
        }

        void takeAll() {
            call.request(Integer.MAX_VALUE);
        }

        List<A> all() {
            return end.join();
        }

        @Override
        public void onNext(A value) {
            received.add(value);
        }

        @Override
        public void onError(Throwable failure) {
            end.completeExceptionally(failure);
        }

        @Override
        public void onCompleted() {
            end.complete(received);
        }
    }
}
