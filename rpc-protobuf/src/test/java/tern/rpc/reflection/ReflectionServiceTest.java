package tern.rpc.reflection;

import static org.assertj.core.api.Assertions.assertThat;

import com.example.ledger.Entry;
import com.example.ledger.LedgerOuterClass;
import com.example.ledger.Period;
import com.example.ledger.Receipt;
import com.example.ledger.extensions.Note;
import com.google.protobuf.ByteString;
import com.google.protobuf.DescriptorProtos.DescriptorProto;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.DescriptorProtos.MethodOptions;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.DescriptorValidationException;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.Descriptors.MethodDescriptor;
import com.google.protobuf.Descriptors.ServiceDescriptor;
import com.google.protobuf.InvalidProtocolBufferException;
import io.grpc.health.v1.HealthProto;
import io.grpc.reflection.v1.ErrorResponse;
import io.grpc.reflection.v1.ExtensionRequest;
import io.grpc.reflection.v1.ServerReflectionProto;
import io.grpc.reflection.v1.ServerReflectionRequest;
import io.grpc.reflection.v1.ServerReflectionResponse;
import io.grpc.reflection.v1.ServiceResponse;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.concurrent.SubmissionPublisher;
import org.junit.jupiter.api.Test;
import tern.rpc.MethodType;
import tern.rpc.RpcException;
import tern.rpc.ServiceDescriptor.Operation;
import tern.rpc.ServiceKey;
import tern.rpc.StatusCode;
import tern.rpc.WireName;
import tern.rpc.health.HealthService;
import tern.rpc.server.ServiceExport;

/** Tests the reflection services by reading their answers with gRPC's generated classes. */
class ReflectionServiceTest {

    @WireName("tern.rpc.reflection.Shop")
    interface Shop {
        String open();

        int price(String article);

        void order(String article, int pieces);

        Flow.Publisher<String> news(long since);

        CompletableFuture<Integer> count(Flow.Publisher<String> articles);

        String find(int id);

        String find(String name);

        String $odd(String name);
    }

    @WireName("ledger.v1.Ledger")
    interface Ledger {
        Receipt post(Entry entry);
    }

    @WireName("mixed.Mixed")
    interface Mixed {
        Receipt today();

        Note annotate(Entry entry);

        String plain(String text);
    }

    @WireName("no-name")
    interface Unspeakable {
        void call();
    }

    // ---- service list

    @Test
    void servicesOfAllExportsAreListedOnceAndInOrder() throws Exception {
        ServerReflectionResponse response = ask(
                list(),
                export(Shop.class, "", ""),
                export(Shop.class, "g1", "1.0"),
                export(Unspeakable.class, "", ""),
                new HealthService().export());

        assertThat(response.getListServicesResponse().getServiceList())
                .extracting(ServiceResponse::getName)
                .containsExactly(
                        "grpc.health.v1.Health",
                        "grpc.reflection.v1.ServerReflection",
                        "grpc.reflection.v1alpha.ServerReflection",
                        "no-name",
                        "tern.rpc.reflection.Shop");
    }

    @Test
    void requestIsRepeatedInTheAnswer() throws Exception {
        ServerReflectionRequest request = ServerReflectionRequest.newBuilder()
                .setHost("shop.example")
                .setListServices("*")
                .build();

        ServerReflectionResponse response = ask(request);

        assertThat(response.getValidHost()).isEqualTo("shop.example");
        assertThat(response.getOriginalRequest()).isEqualTo(request);
    }

    // ---- Java interfaces

    @Test
    void javaInterfaceIsDescribedWithValues() throws Exception {
        FileDescriptor file = file(symbol("tern.rpc.reflection.Shop"), export(Shop.class, "", ""));

        ServiceDescriptor shop = file.findServiceByName("Shop");
        assertThat(file.getPackage()).isEqualTo("tern.rpc.reflection");
        assertThat(shapes(shop))
                .containsExactlyInAnyOrder(
                        "open(google.protobuf.ListValue) google.protobuf.Value",
                        "price(google.protobuf.Value) google.protobuf.Value",
                        "order(google.protobuf.ListValue) google.protobuf.Value",
                        "news(google.protobuf.Value) stream google.protobuf.Value",
                        "count(stream google.protobuf.Value) google.protobuf.Value");
    }

    @Test
    void javaSignatureIsTheCommentOfAMethod() throws Exception {
        FileDescriptorProto file = protos(symbol("tern.rpc.reflection.Shop"), export(Shop.class, "", ""))
                .get(0);

        int order = names(file).indexOf("order");
        assertThat(file.getSourceCodeInfo().getLocationList())
                .filteredOn(location -> location.getPathList().equals(List.of(6, 0, 2, order)))
                .singleElement()
                .satisfies(location -> assertThat(location.getLeadingComments())
                        .isEqualTo(" void order(String article, int pieces)\n"));
    }

    private static List<String> names(FileDescriptorProto file) {
        return file.getService(0).getMethodList().stream()
                .map(method -> method.getName())
                .toList();
    }

    @Test
    void methodOfAJavaInterfaceIsFoundByItsName() throws Exception {
        assertThat(file(symbol("tern.rpc.reflection.Shop.price"), export(Shop.class, "", ""))
                        .findServiceByName("Shop"))
                .isNotNull();
    }

    @Test
    void nameThatProtobufDoesNotAllowIsListedButNotDescribed() throws Exception {
        assertThat(error(symbol("no-name"), export(Unspeakable.class, "", ""))).isEqualTo(StatusCode.NOT_FOUND);
    }

    // ---- protobuf services

    @Test
    void generatedFileIsReturnedForItsService() throws Exception {
        List<FileDescriptorProto> files = protos(symbol("ledger.v1.Ledger"), export(Ledger.class, "", ""));

        assertThat(files)
                .containsExactly(
                        LedgerOuterClass.getDescriptor().toProto(),
                        Entry.getDescriptor().getFile().toProto());
    }

    @Test
    void otherServiceOfMessagesGetsAFileThatImportsTheirs() throws Exception {
        ServiceExport books = new ServiceExport(
                tern.rpc.ServiceDescriptor.of(
                        "books.Audit",
                        List.of(
                                new Operation("Check", MethodType.BIDI_STREAMING, Period.class, Receipt.class),
                                new Operation("Raw", MethodType.UNARY, byte[].class, byte[].class))),
                new ServiceKey("books.Audit", "", ""),
                method -> arguments -> null,
                1);

        FileDescriptor file = file(symbol("books.Audit"), books);

        assertThat(shapes(file.findServiceByName("Audit")))
                .containsExactly("Check(stream ledger.v1.Period) stream ledger.v1.Receipt");
        assertThat(file.getDependencies())
                .extracting(FileDescriptor::getName)
                .containsExactlyInAnyOrder("ledger.proto", "ledger_types.proto");
    }

    @Test
    void messagesAndPlainMethodsStandSideBySide() throws Exception {
        FileDescriptor file = file(symbol("mixed.Mixed"), export(Mixed.class, "", ""));

        assertThat(shapes(file.findServiceByName("Mixed")))
                .containsExactlyInAnyOrder(
                        "today(google.protobuf.Empty) ledger.v1.Receipt",
                        "annotate(ledger.v1.Entry) ledger.extensions.Note",
                        "plain(google.protobuf.Value) google.protobuf.Value");
    }

    @Test
    void serviceOfBytesHasNoDescription() throws Exception {
        ServiceExport raw = new ServiceExport(
                tern.rpc.ServiceDescriptor.of(
                        "raw.Bytes", List.of(new Operation("Call", MethodType.UNARY, byte[].class, byte[].class))),
                new ServiceKey("raw.Bytes", "", ""),
                method -> arguments -> null,
                1);

        assertThat(error(symbol("raw.Bytes"), raw)).isEqualTo(StatusCode.NOT_FOUND);
    }

    // ---- symbol lookup

    @Test
    void everythingThatAFileDeclaresIsASymbol() throws Exception {
        for (String symbol : List.of(
                "ledger.v1.Ledger.Post",
                "ledger.v1.Entry",
                "ledger.v1.Entry.Tag",
                "ledger.v1.Entry.Tag.name",
                "ledger.v1.Entry.account",
                "ledger.v1.Kind",
                "ledger.v1.CREDIT")) {
            assertThat(protos(symbol(symbol), export(Ledger.class, "", ""))).isNotEmpty();
        }
        assertThat(protos(symbol("ledger.v1.Entry"), export(Ledger.class, "", "")))
                .extracting(FileDescriptorProto::getName)
                .containsExactly("ledger_types.proto");
    }

    @Test
    void fileIsFoundByItsName() throws Exception {
        assertThat(protos(fileName("ledger.proto"), export(Ledger.class, "", "")))
                .extracting(FileDescriptorProto::getName)
                .containsExactly("ledger.proto", "ledger_types.proto");
        assertThat(protos(fileName("google/protobuf/struct.proto"), export(Shop.class, "", "")))
                .hasSize(1);
    }

    @Test
    void unknownNamesAreErrorsInsideTheStream() throws Exception {
        ServiceExport ledger = export(Ledger.class, "", "");

        assertThat(error(symbol("ledger.v1.Nothing"), ledger)).isEqualTo(StatusCode.NOT_FOUND);
        assertThat(error(fileName("nothing.proto"), ledger)).isEqualTo(StatusCode.NOT_FOUND);
        assertThat(error(extension("ledger.v1.Entry", 5), ledger)).isEqualTo(StatusCode.NOT_FOUND);
        assertThat(error(extensionNumbers("ledger.v1.Nothing"), ledger)).isEqualTo(StatusCode.NOT_FOUND);
        assertThat(error(ServerReflectionRequest.getDefaultInstance(), ledger)).isEqualTo(StatusCode.INVALID_ARGUMENT);
    }

    // ---- extensions

    @Test
    void extensionsAreFoundByMessageAndNumber() throws Exception {
        ServiceExport mixed = export(Mixed.class, "", "");

        assertThat(protos(extension("ledger.extensions.Note", 120), mixed))
                .extracting(FileDescriptorProto::getName)
                .containsExactly("ledger_extensions.proto", "ledger_types.proto");
        assertThat(protos(extension("ledger.extensions.Note", 130), mixed)).hasSize(2);
        assertThat(protos(symbol("ledger.extensions.author"), mixed)).hasSize(2);
        assertThat(ask(extensionNumbers("ledger.extensions.Note"), mixed).getAllExtensionNumbersResponse())
                .satisfies(numbers -> {
                    assertThat(numbers.getBaseTypeName()).isEqualTo("ledger.extensions.Note");
                    assertThat(numbers.getExtensionNumberList()).containsExactly(110, 120, 130);
                });
        assertThat(ask(extensionNumbers("ledger.v1.Entry"), mixed)
                        .getAllExtensionNumbersResponse()
                        .getExtensionNumberList())
                .isEmpty();
    }

    // ---- built-in services

    @Test
    void healthIsDescribedByItsPublicFile() throws Exception {
        FileDescriptorProto told = protos(symbol("grpc.health.v1.Health"), new HealthService().export())
                .get(0);

        FileDescriptorProto published = HealthProto.getDescriptor().toProto();
        assertThat(told.getName()).isEqualTo("grpc/health/v1/health.proto");
        assertThat(told.getPackage()).isEqualTo(published.getPackage());
        assertThat(published.getMessageTypeList()).containsAll(told.getMessageTypeList());
        assertThat(published.getService(0).getMethodList())
                .containsAll(told.getService(0).getMethodList());
    }

    @Test
    void reflectionIsDescribedByItsPublicFiles() throws Exception {
        FileDescriptorProto published = ServerReflectionProto.getDescriptor().toProto();
        FileDescriptorProto publishedAlpha =
                io.grpc.reflection.v1alpha.ServerReflectionProto.getDescriptor().toProto();

        assertThat(plain(protos(symbol("grpc.reflection.v1.ServerReflection")).get(0)))
                .isEqualTo(plain(published));
        assertThat(plain(protos(symbol("grpc.reflection.v1alpha.ServerReflection"))
                        .get(0)))
                .isEqualTo(plain(publishedAlpha));
    }

    /** Removes file names, options, and derived names, which may differ between equivalent descriptors. */
    private static FileDescriptorProto plain(FileDescriptorProto file) {
        FileDescriptorProto.Builder plain =
                file.toBuilder().clearOptions().clearName().clearSyntax();
        for (DescriptorProto.Builder message : plain.getMessageTypeBuilderList()) {
            message.getFieldBuilderList().forEach(FieldDescriptorProto.Builder::clearJsonName);
        }
        plain.getServiceBuilderList()
                .forEach(service -> service.getMethodBuilderList()
                        .forEach(method -> method.setOptions(MethodOptions.getDefaultInstance())
                                .clearOptions()));
        return plain.build();
    }

    // ---- the stream

    @Test
    void bothVersionsAnswerEachRequestOfAStream() throws Exception {
        for (ServiceExport version : ReflectionService.of(List.of(export(Ledger.class, "", "")))) {
            Caller caller = new Caller();
            SubmissionPublisher<byte[]> requests = new SubmissionPublisher<>(Runnable::run, 8);
            answers(version, requests).subscribe(caller);

            requests.submit(list().toByteArray());
            requests.submit(symbol("nothing").toByteArray());
            requests.submit(list().toByteArray());
            requests.close();

            assertThat(caller.ended.join()).hasSize(3);
            assertThat(caller.answers.get(0)).isEqualTo(caller.answers.get(2));
        }
    }

    @Test
    void brokenRequestEndsTheStream() {
        ServiceExport version = ReflectionService.of(List.of()).get(0);
        Caller caller = new Caller();
        SubmissionPublisher<byte[]> requests = new SubmissionPublisher<>(Runnable::run, 8);
        answers(version, requests).subscribe(caller);

        requests.submit(new byte[] {0x22, 0x7f});

        assertThat(caller.ended)
                .failsWithin(java.time.Duration.ZERO)
                .withThrowableThat()
                .havingCause()
                .isInstanceOfSatisfying(
                        RpcException.class,
                        failure -> assertThat(failure.code()).isEqualTo(StatusCode.INVALID_ARGUMENT));
        assertThat(requests.hasSubscribers()).isFalse();
    }

    // ---- requests

    private static ServerReflectionRequest list() {
        return ServerReflectionRequest.newBuilder().setListServices("").build();
    }

    private static ServerReflectionRequest symbol(String name) {
        return ServerReflectionRequest.newBuilder()
                .setFileContainingSymbol(name)
                .build();
    }

    private static ServerReflectionRequest fileName(String name) {
        return ServerReflectionRequest.newBuilder().setFileByFilename(name).build();
    }

    private static ServerReflectionRequest extension(String type, int number) {
        return ServerReflectionRequest.newBuilder()
                .setFileContainingExtension(
                        ExtensionRequest.newBuilder().setContainingType(type).setExtensionNumber(number))
                .build();
    }

    private static ServerReflectionRequest extensionNumbers(String type) {
        return ServerReflectionRequest.newBuilder()
                .setAllExtensionNumbersOfType(type)
                .build();
    }

    private static ServiceExport export(Class<?> type, String group, String version) {
        tern.rpc.ServiceDescriptor service = tern.rpc.ServiceDescriptor.of(type);
        return new ServiceExport(
                service, new ServiceKey(service.name(), group, version), method -> arguments -> null, 1);
    }

    private static ServerReflectionResponse ask(ServerReflectionRequest request, ServiceExport... exports)
            throws InvalidProtocolBufferException {
        ServiceExport reflection = ReflectionService.of(List.of(exports)).get(0);
        Caller caller = new Caller();
        SubmissionPublisher<byte[]> requests = new SubmissionPublisher<>(Runnable::run, 8);
        answers(reflection, requests).subscribe(caller);
        requests.submit(request.toByteArray());
        requests.close();
        return ServerReflectionResponse.parseFrom(caller.ended.join().get(0));
    }

    @SuppressWarnings("unchecked")
    private static Flow.Publisher<byte[]> answers(ServiceExport reflection, Flow.Publisher<byte[]> requests) {
        try {
            return (Flow.Publisher<byte[]>) reflection
                    .bodies()
                    .apply(reflection.service().methods().get(0))
                    .run(new Object[] {requests});
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    private static StatusCode error(ServerReflectionRequest request, ServiceExport... exports) throws Exception {
        ErrorResponse error = ask(request, exports).getErrorResponse();
        assertThat(error.getErrorMessage()).isNotEmpty();
        return StatusCode.values()[error.getErrorCode()];
    }

    private static List<FileDescriptorProto> protos(ServerReflectionRequest request, ServiceExport... exports)
            throws InvalidProtocolBufferException {
        List<FileDescriptorProto> files = new ArrayList<>();
        for (ByteString file : ask(request, exports).getFileDescriptorResponse().getFileDescriptorProtoList()) {
            files.add(FileDescriptorProto.parseFrom(file));
        }
        return files;
    }

    /**
     * Returns the requested file. Like a command-line tool, builds the file only from the dependencies in the answer.
     */
    private static FileDescriptor file(ServerReflectionRequest request, ServiceExport... exports) throws Exception {
        List<FileDescriptorProto> files = protos(request, exports);
        Map<String, FileDescriptorProto> byName = new HashMap<>();
        files.forEach(file -> byName.put(file.getName(), file));
        return built(files.get(0).getName(), byName);
    }

    private static FileDescriptor built(String name, Map<String, FileDescriptorProto> files)
            throws DescriptorValidationException {
        FileDescriptorProto file = files.get(name);
        FileDescriptor[] dependencies = new FileDescriptor[file.getDependencyCount()];
        for (int i = 0; i < dependencies.length; i++) {
            dependencies[i] = built(file.getDependency(i), files);
        }
        return FileDescriptor.buildFrom(file, dependencies);
    }

    private static List<String> shapes(ServiceDescriptor service) {
        return service.getMethods().stream().map(ReflectionServiceTest::shape).toList();
    }

    private static String shape(MethodDescriptor method) {
        return method.getName() + "(" + of(method.isClientStreaming(), method.getInputType()) + ") "
                + of(method.isServerStreaming(), method.getOutputType());
    }

    private static String of(boolean stream, Descriptor type) {
        return (stream ? "stream " : "") + type.getFullName();
    }

    private static final class Caller implements Flow.Subscriber<byte[]> {
        final List<byte[]> answers = new ArrayList<>();
        final CompletableFuture<List<byte[]>> ended = new CompletableFuture<>();

        @Override
        public void onSubscribe(Flow.Subscription subscription) {
            subscription.request(Long.MAX_VALUE);
        }

        @Override
        public void onNext(byte[] answer) {
            answers.add(answer);
        }

        @Override
        public void onError(Throwable failure) {
            ended.completeExceptionally(failure);
        }

        @Override
        public void onComplete() {
            ended.complete(answers);
        }
    }
}
