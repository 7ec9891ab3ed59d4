package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static tern.rpc.spring.autoconfigure.Applications.application;

import com.example.ledger.Entry;
import com.example.ledger.LedgerGrpc;
import com.example.ledger.Period;
import com.example.ledger.Receipt;
import io.grpc.Server;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.SubmissionPublisher;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tern.rpc.RpcException;
import tern.rpc.StatusCode;
import tern.rpc.WireName;
import tern.rpc.spring.RpcReference;
import tern.rpc.transport.Probe;

/** Tests calls to a grpc-java server through a hand-written interface, as shown in docs/grpc.md. */
@Timeout(120)
class CallingGrpcTest {

    @WireName("ledger.v1.Ledger")
    interface Ledger {

        @WireName("Post")
        Receipt post(Entry entry);

        @WireName("Statement")
        Flow.Publisher<Entry> statement(Period period);

        @WireName("Import")
        CompletionStage<Receipt> importAll(Flow.Publisher<Entry> entries);

        @WireName("Reconcile")
        Flow.Publisher<Receipt> reconcile(Flow.Publisher<Entry> entries);
    }

    interface WithoutNames {
        Receipt post(Entry entry);
    }

    static class User {
        @RpcReference
        Ledger ledger;

        @RpcReference
        WithoutNames wrong;
    }

    /** A gRPC service that counts entries and adds up their amounts. */
    private static final class LedgerServer extends LedgerGrpc.LedgerImplBase {

        @Override
        public void post(Entry entry, StreamObserver<Receipt> answers) {
            answers.onNext(receipt(1, entry.getAmount()));
            answers.onCompleted();
        }

        @Override
        public void statement(Period period, StreamObserver<Entry> answers) {
            for (int i = 1; i <= period.getEntries(); i++) {
                answers.onNext(entry(i));
            }
            answers.onCompleted();
        }

        @Override
        public StreamObserver<Entry> import_(StreamObserver<Receipt> answers) {
            return new Totals(answers, false);
        }

        @Override
        public StreamObserver<Entry> reconcile(StreamObserver<Receipt> answers) {
            return new Totals(answers, true);
        }
    }

    private static final class Totals implements StreamObserver<Entry> {
        private final StreamObserver<Receipt> answers;
        private final boolean afterEach;
        private int entries;
        private long balance;

        Totals(StreamObserver<Receipt> answers, boolean afterEach) {
            this.answers = answers;
            this.afterEach = afterEach;
        }

        @Override
        public void onNext(Entry entry) {
            entries++;
            balance += entry.getAmount();
            if (afterEach) {
                answers.onNext(receipt(entries, balance));
            }
        }

        @Override
        public void onError(Throwable failure) {
            answers.onError(failure);
        }

        @Override
        public void onCompleted() {
            if (!afterEach) {
                answers.onNext(receipt(entries, balance));
            }
            answers.onCompleted();
        }
    }

    private Server server;

    @BeforeEach
    void start() throws IOException {
        server = NettyServerBuilder.forPort(0)
                .addService(new LedgerServer())
                .build()
                .start();
    }

    @AfterEach
    void stop() throws InterruptedException {
        server.shutdownNow().awaitTermination();
    }

    @Test
    void allKindsOfMethodsAreCalledByTheNamesOfTheProtoFile() {
        application(User.class)
                .withPropertyValues("rpc.client.url=tri://localhost:" + server.getPort())
                .run(here -> {
                    Ledger ledger = here.getBean(User.class).ledger;

                    assertThat(ledger.post(entry(5))).isEqualTo(receipt(1, 5));
                    assertThat(all(ledger.statement(
                                    Period.newBuilder().setEntries(2).build())))
                            .containsExactly(entry(1), entry(2));
                    assertThat(ledger.importAll(published(entry(1), entry(2)))
                                    .toCompletableFuture()
                                    .join())
                            .isEqualTo(receipt(2, 3));
                    assertThat(all(ledger.reconcile(published(entry(1), entry(2)))))
                            .containsExactly(receipt(1, 1), receipt(2, 3));
                });
    }

    @Test
    void wrongNameIsShownWithTheAnnotation() {
        application(User.class)
                .withPropertyValues("rpc.client.url=tri://localhost:" + server.getPort())
                .run(here -> assertThatThrownBy(
                                () -> here.getBean(User.class).wrong.post(entry(5)))
                        .isInstanceOfSatisfying(
                                RpcException.class,
                                failure -> assertThat(failure.code()).isEqualTo(StatusCode.UNIMPLEMENTED))
                        .hasMessageContaining(", sent as " + WithoutNames.class.getName() + "/post (if the .proto file"
                                + " has other names, set them with @WireName)"));
    }

    private static Entry entry(long amount) {
        return Entry.newBuilder().setAmount(amount).build();
    }

    private static Receipt receipt(int entries, long balance) {
        return Receipt.newBuilder().setEntries(entries).setBalance(balance).build();
    }

    private static Flow.Publisher<Entry> published(Entry... entries) {
        return subscriber -> {
            SubmissionPublisher<Entry> publisher = new SubmissionPublisher<>();
            publisher.subscribe(subscriber);
            List.of(entries).forEach(publisher::submit);
            publisher.close();
        };
    }

    private static <T> List<T> all(Flow.Publisher<T> publisher) throws InterruptedException {
        Probe<T> probe = Probe.ofAll();
        publisher.subscribe(probe);
        return probe.rest();
    }
}
