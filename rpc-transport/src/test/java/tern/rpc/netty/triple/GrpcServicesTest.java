package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static tern.rpc.netty.triple.LedgerService.entry;
import static tern.rpc.netty.triple.LedgerService.receipt;

import com.example.ledger.Entry;
import com.example.ledger.LedgerGrpc;
import com.example.ledger.LedgerGrpc.LedgerBlockingStub;
import com.example.ledger.Period;
import com.example.ledger.Receipt;
import com.google.protobuf.Any;
import io.grpc.CallOptions;
import io.grpc.Metadata;
import io.grpc.Metadata.Key;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.Marshaller;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.Status.Code;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.MetadataUtils;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import tern.rpc.Payload;
import tern.rpc.ServiceDescriptor;
import tern.rpc.grpc.GrpcServices;
import tern.rpc.server.ServiceExport;

/**
 * Tests grpc-java services that are exported by Tern: unary and streaming calls, statuses, compression and messages.
 */
class GrpcServicesTest extends GrpcServiceCalls {

    private static final Key<String> ENCODING = Key.of("grpc-encoding", Metadata.ASCII_STRING_MARSHALLER);

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
        assertThat(blocking(new LedgerService()).withCompression("gzip").post(entry("x".repeat(271_828), 1)))
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
}
