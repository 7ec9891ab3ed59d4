package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.netty.triple.LedgerService.entry;
import static tern.rpc.netty.triple.LedgerService.receipt;

import com.example.ledger.Entry;
import com.example.ledger.LedgerGrpc;
import com.example.ledger.LedgerGrpc.LedgerStub;
import com.example.ledger.Period;
import com.example.ledger.Receipt;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerInterceptors;
import io.grpc.Status;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import tern.rpc.grpc.GrpcServices;

/** Tests the flow control of grpc-java services exported by Tern. */
class GrpcServiceFlowTest extends GrpcServiceCalls {

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
    void headersOfAClientStreamArriveBeforeItsMessages() throws Exception {
        Metadata.Key<String> session = Metadata.Key.of("session", Metadata.ASCII_STRING_MARSHALLER);
        ServerInterceptor early = new ServerInterceptor() {
            @Override
            public <Q, A> ServerCall.Listener<Q> interceptCall(
                    ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
                Metadata told = new Metadata();
                told.put(session, "s1");
                call.sendHeaders(told);
                return next.startCall(
                        new SimpleForwardingServerCall<>(call) {
                            @Override
                            public void sendHeaders(Metadata late) {
                                // No headers are sent here, because the interceptor has already sent them.
                            }
                        },
                        headers);
            }
        };
        GrpcPeer peer = peer(GrpcServices.export(ServerInterceptors.intercept(new LedgerService(), early)));
        CompletableFuture<String> seen = new CompletableFuture<>();
        ClientCall<Entry, Receipt> call = peer.channel().newCall(LedgerGrpc.getImportMethod(), CallOptions.DEFAULT);
        CompletableFuture<Status> end = new CompletableFuture<>();
        call.start(
                new ClientCall.Listener<>() {
                    @Override
                    public void onHeaders(Metadata headers) {
                        seen.complete(headers.get(session));
                    }

                    @Override
                    public void onClose(Status status, Metadata trailers) {
                        end.complete(status);
                    }
                },
                new Metadata());
        call.request(2);

        assertThat(seen.get(20, TimeUnit.SECONDS)).isEqualTo("s1");
        call.sendMessage(entry("a", 1));
        call.halfClose();
        assertThat(end.get(20, TimeUnit.SECONDS).isOk()).isTrue();
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
