package tern.rpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.assertj.core.api.Assertions.tuple;
import static tern.rpc.MethodType.BIDI_STREAMING;
import static tern.rpc.MethodType.CLIENT_STREAMING;
import static tern.rpc.MethodType.SERVER_STREAMING;

import java.io.FileNotFoundException;
import java.io.InputStream;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class ServiceDescriptorTest {

    interface Crud<T, K> {
        T find(K key);

        List<T> all(List<K> keys);
    }

    interface Orders extends Crud<String, Long> {
        CompletableFuture<Map<String, Integer>> counts();

        CompletionStage<Void> clear();

        @RpcMethod(readOnly = true, timeout = "2s")
        int size(int[][] shape, String... names);

        @Override
        String find(Long key);

        static void notRemote() {}
    }

    @Test
    void timeoutWithoutUnitIsInMilliseconds() {
        MethodDescriptor send =
                ServiceDescriptor.of(TimeoutWithoutUnit.class).methods().get(0);

        assertThat(send.timeout()).isEqualTo(Duration.ofMillis(50));
    }

    interface Repository<T> {
        Optional<T> findById(long id);
    }

    interface Books extends Repository<String> {}

    @Test
    void inheritedMethodThatCannotBeSentIsNamedWithTheInterfaceThatDeclaresIt() {
        assertThatThrownBy(() -> ServiceDescriptor.of(Books.class))
                .hasMessageStartingWith("Books.findById, result: java.util.Optional<java.lang.String> cannot be sent; ")
                .hasMessageEndingWith("; the method is inherited from " + Repository.class.getName()
                        + ", so if you cannot change it, declare an interface with the methods that callers need, and a"
                        + " class that implements it and calls the Books");
    }

    private static MethodDescriptor method(String name) {
        List<MethodDescriptor> overloads = ServiceDescriptor.of(Orders.class).overloads(name);
        assertThat(overloads).isNotEmpty();
        return overloads.get(0);
    }

    @Test
    void typeVariablesOfSuperInterfacesAreResolved() {
        MethodDescriptor all = method("all");

        assertThat(all.parameters().get(0)).hasToString("java.util.List<java.lang.Long>");
        assertThat(all.result()).hasToString("java.util.List<java.lang.String>");
        assertThat(all.descriptor()).isEqualTo("Ljava/util/List;");
    }

    interface Failing<E extends Exception> {
        void fail() throws E, InterruptedException;
    }

    interface FailingFiles extends Failing<FileNotFoundException> {}

    @Test
    void typeVariablesOfExceptionsAreResolved() {
        MethodDescriptor fail =
                ServiceDescriptor.of(FailingFiles.class).methods().get(0);

        assertThat(fail.exceptions()).isEqualTo(List.of(FileNotFoundException.class, InterruptedException.class));
    }

    @Test
    void futuresAreDescribedByTheirResultType() {
        assertThat(method("counts").isAsync()).isTrue();
        assertThat(method("counts").result().raw()).isEqualTo(Map.class);
        assertThat(method("clear").result().raw()).isEqualTo(Void.class);
    }

    @Test
    void descriptorsEqualTheDescriptorsOfTheJvm() {
        MethodDescriptor size = method("size");

        assertThat(size.descriptor()).isEqualTo("[[I[Ljava/lang/String;");
        assertThat(ServiceDescriptor.of(Orders.class).method("size", "[[I[Ljava/lang/String;"))
                .isSameAs(size);
        assertThat(ServiceDescriptor.of(Orders.class).method("size", "")).isNull();
    }

    @Test
    void marksAreRead() {
        MethodDescriptor size = method("size");

        assertThat(size.isReadOnly()).isTrue();
        assertThat(size.isIdempotent()).isTrue();
        assertThat(size.timeout()).isEqualTo(Duration.ofSeconds(2));
        assertThat(method("counts").isIdempotent()).isFalse();
    }

    @Test
    void redeclaredMethodIsFoundUnderBothDescriptors() throws NoSuchMethodException {
        ServiceDescriptor service = ServiceDescriptor.of(Orders.class);

        assertThat(service.method("find", "Ljava/lang/Long;")).isNotNull();
        assertThat(service.method(Orders.class.getMethod("find", Long.class))).isNotNull();
    }

    @Test
    void staticMethodsAreNotRemote() {
        assertThat(ServiceDescriptor.of(Orders.class).overloads("notRemote")).isEmpty();
    }

    @Test
    void sameInterfaceHasOneDescriptor() {
        assertThat(ServiceDescriptor.of(Orders.class)).isSameAs(ServiceDescriptor.of(Orders.class));
    }

    interface Vague {
        @SuppressWarnings("rawtypes")
        List raw(Map<String, ?> wild);
    }

    interface Bounded {
        void feed(List<? extends Number> bounded);
    }

    interface Repo<T> {
        List<T> all();
    }

    record Item(String name) {}

    interface ItemRepo extends Repo<Item> {}

    @Test
    void warningOfAGenericInterfaceNamesTheInterfaceToDeclare() {
        assertThat(ServiceDescriptor.of(Repo.class).warnings())
                .singleElement()
                .asString()
                .startsWith("Repo.all, result: java.util.List<T> does not name a class")
                .contains("or rpc.limits.allowed-classes lists")
                .endsWith(". Declare an interface that sets the type parameter, such as interface ItemRepo extends"
                        + " Repo<Item>, and use it for the service and the reference");
        assertThat(ServiceDescriptor.of(ItemRepo.class).warnings()).isEmpty();
    }

    @Test
    void wildcardWithABoundNamesAClass() {
        assertThat(ServiceDescriptor.of(Bounded.class).warnings()).isEmpty();
    }

    @Test
    void positionsThatNameNoClassAreWarnedOf() {
        assertThat(ServiceDescriptor.of(Vague.class).warnings())
                .hasSize(2)
                .anyMatch(text -> text.startsWith("Vague.raw, parameter 1: java.util.Map<java.lang.String, ?>"))
                .anyMatch(text -> text.startsWith("Vague.raw, result: java.util.List"));
    }

    interface ReadsStream {
        void read(InputStream in);
    }

    interface ReturnsStream {
        Stream<String> lines();
    }

    interface TakesOptional {
        void set(Optional<String> value);
    }

    interface ReturnsPlainFuture {
        Future<String> get();
    }

    interface TakesFuture {
        void set(CompletableFuture<String> value);
    }

    interface ReturnsStages {
        List<CompletionStage<String>> get();
    }

    interface ReturnsLines {
        CompletableFuture<Map<String, Iterator<String>[]>> get();
    }

    interface ReturnsRawStage {
        @SuppressWarnings("rawtypes")
        CompletionStage get();
    }

    interface OneWayWithResult {
        @RpcMethod(oneWay = true)
        int send();
    }

    interface BadTimeout {
        @RpcMethod(timeout = "soon")
        int send();
    }

    interface EndlessTimeout {
        @RpcMethod(timeout = "999999999h")
        int send();
    }

    interface TimeoutWithoutUnit {
        @RpcMethod(timeout = "50")
        int send();
    }

    @WireName("shop orders")
    interface SpacedName {
        String find();
    }

    interface SlashedMethod {
        @WireName("orders/find")
        String find();
    }

    interface NamelessMethod {
        @WireName("")
        String find();
    }

    interface Empty {}

    interface Streams {
        Flow.Publisher<String> serverStream(int count, String text);

        void observed(int count, StreamObserver<List<String>> answers);

        CompletionStage<Integer> clientStream(Flow.Publisher<String> values);

        Flow.Publisher<Integer> both(Flow.Publisher<String> values);

        StreamObserver<String> bothObserved(StreamObserver<Integer> answers);
    }

    @Test
    void streamKindsAreRecognizedBySignature() {
        ServiceDescriptor service = ServiceDescriptor.of(Streams.class);

        assertThat(service.methods())
                .extracting(
                        MethodDescriptor::name,
                        MethodDescriptor::type,
                        method -> method.parameters().toString(),
                        method -> method.result().toString())
                .containsExactlyInAnyOrder(
                        tuple("serverStream", SERVER_STREAMING, "[int, java.lang.String]", "java.lang.String"),
                        tuple("observed", SERVER_STREAMING, "[int]", "java.util.List<java.lang.String>"),
                        tuple("clientStream", CLIENT_STREAMING, "[java.lang.String]", "java.lang.Integer"),
                        tuple("both", BIDI_STREAMING, "[java.lang.String]", "java.lang.Integer"),
                        tuple("bothObserved", BIDI_STREAMING, "[java.lang.String]", "java.lang.Integer"));
    }

    interface StreamBesideValue {
        void send(String name, Flow.Publisher<String> values);
    }

    interface ObserverFirst {
        void send(StreamObserver<String> answers, String name);
    }

    interface ObserverWithResult {
        int send(StreamObserver<String> answers);
    }

    interface OverloadedStream {
        void send(Flow.Publisher<String> values);

        void send(String value);
    }

    @Test
    void streamsThatCannotBeTakenApartAreRefusedByName() {
        assertRefused(StreamBesideValue.class, "StreamBesideValue.send takes a stream and 1 other arguments");
        assertRefused(ObserverFirst.class, "ObserverFirst.send: a StreamObserver is the last parameter");
        assertRefused(ObserverWithResult.class, "ObserverWithResult.send: a StreamObserver is the last parameter");
        assertRefused(OverloadedStream.class, "send takes a stream and has the same name as another method");
    }

    @Test
    void serviceWithoutAnInterfaceIsMadeOfOperations() {
        ServiceDescriptor service = ServiceDescriptor.of(
                "some.Raw",
                List.of(new ServiceDescriptor.Operation("Watch", SERVER_STREAMING, byte[].class, byte[].class)));

        assertThat(service.name()).isEqualTo("some.Raw");
        assertThat(service.overloads("Watch")).singleElement().satisfies(method -> {
            assertThat(method.fullName()).isEqualTo("Raw/Watch");
            assertThat(method.payload()).isEqualTo(Payload.RAW);
            assertThat(method.javaMethod()).isNull();
        });
    }

    @Test
    void operationSaysHowItsMethodAnswersMany() {
        ServiceDescriptor service = ServiceDescriptor.of(
                "some.Raw",
                List.of(
                        new ServiceDescriptor.Operation(
                                "Watch", SERVER_STREAMING, byte[].class, byte[].class, JavaShape.OBSERVER),
                        new ServiceDescriptor.Operation("List", SERVER_STREAMING, byte[].class, byte[].class)));

        assertThat(service.methods())
                .extracting(MethodDescriptor::responses)
                .containsExactly(JavaShape.OBSERVER, JavaShape.PUBLISHER);
        assertThatThrownBy(() -> new ServiceDescriptor.Operation(
                        "Watch", SERVER_STREAMING, byte[].class, byte[].class, JavaShape.FLUX))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("Watch answers with FLUX; expected PUBLISHER or OBSERVER");
    }

    @WireName("some.proto.Greeter")
    interface Named {
        @WireName("SayHello")
        String hello(String name);
    }

    @Test
    void wireNamesReplaceJavaNames() {
        ServiceDescriptor service = ServiceDescriptor.of(Named.class);

        assertThat(service.name()).isEqualTo("some.proto.Greeter");
        assertThat(service.overloads("SayHello")).hasSize(1);
        assertThat(service.method(Named.class.getMethods()[0])).isNotNull();
    }

    interface Marked {
        @RpcMethod(timeout = "2s", idempotent = true)
        @WireName("FindAll")
        String find();

        @RpcMethod(local = true)
        default String help() {
            return "";
        }
    }

    interface Redeclaring extends Marked {
        @Override
        String find();

        @Override
        default String help() {
            return "more";
        }
    }

    interface MarkingAgain extends Marked {
        @Override
        @RpcMethod(timeout = "3s")
        String find();
    }

    @Test
    void redeclaredMethodKeepsItsMarks() {
        assertThat(ServiceDescriptor.of(Redeclaring.class).methods())
                .singleElement()
                .satisfies(method -> {
                    assertThat(method.name()).isEqualTo("FindAll");
                    assertThat(method.timeout()).isEqualTo(Duration.ofSeconds(2));
                    assertThat(method.isIdempotent()).isTrue();
                });
        assertThat(ServiceDescriptor.of(MarkingAgain.class).methods())
                .singleElement()
                .satisfies(method -> {
                    assertThat(method.timeout()).isEqualTo(Duration.ofSeconds(3));
                    assertThat(method.isIdempotent()).isFalse();
                });
    }

    interface MarkedStatic {
        String find();

        @RpcMethod(timeout = "2s")
        static String help() {
            return "";
        }
    }

    interface BelowMarkedStatic extends MarkedStatic {}

    interface ReturnsNestedStage {
        CompletableFuture<CompletableFuture<String>> get();
    }

    interface OneWayStage {
        @RpcMethod(oneWay = true)
        CompletableFuture<Void> send();
    }

    interface GenericMethod {
        <T> T copy(T value);
    }

    @Test
    void typeVariableOfAMethodIsNamedInTheWarning() {
        assertThat(ServiceDescriptor.of(GenericMethod.class).warnings())
                .hasSize(2)
                .allSatisfy(warning -> assertThat(warning)
                        .endsWith(". Declare the class of the values instead of the type variable T of the method"));
    }

    interface SeveralProblems {
        Optional<String> find(String name);

        Stream<String> all(InputStream in, Optional<Integer> limit);

        int count(String name);
    }

    @Test
    void allMethodsThatCannotBeCalledAreNamedAtOnce() {
        InvalidServiceException failure =
                catchThrowableOfType(InvalidServiceException.class, () -> ServiceDescriptor.of(SeveralProblems.class));

        assertThat(failure.problems())
                .extracting(problem -> problem.substring(0, problem.indexOf(':')))
                .containsExactly(
                        "SeveralProblems.all, parameter 1",
                        "SeveralProblems.all, parameter 2",
                        "SeveralProblems.all, result",
                        "SeveralProblems.find, result");
        assertThat(failure)
                .hasMessageStartingWith("SeveralProblems has 4 problems:\n  - SeveralProblems.all, parameter 1: java");
        assertThat(Objects.requireNonNull(failure.rest()).methodNames()).containsExactly("count");
    }

    @Test
    void longListOfProblemsEndsWithTheNumberOfTheOthers() {
        List<String> problems = IntStream.range(0, 23).mapToObj(i -> "p" + i).toList();

        assertThat(InvalidServiceException.list(problems)).endsWith("\n  - p19\n  - and 3 more");
    }

    @Test
    void signaturesThatCannotBeSentAreRefusedByName() {
        assertRefused(MarkedStatic.class, "MarkedStatic.help is static, so it is never called remotely");
        assertRefused(BelowMarkedStatic.class, "MarkedStatic.help is static");
        assertRefused(OneWayStage.class, "OneWayStage.send is marked oneWay but returns CompletableFuture; only void");

        assertRefused(
                ReadsStream.class, "ReadsStream.read, parameter 1: java.io.InputStream cannot be sent; pass byte[]");
        assertRefused(ReturnsStream.class, "ReturnsStream.lines, result: java.util.stream.Stream");
        assertRefused(TakesOptional.class, "pass the value itself, which may be null");
        assertRefused(ReturnsPlainFuture.class, "a result may be a CompletionStage or a Flow.Publisher");
        assertRefused(ReturnsPlainFuture.class, "; return a CompletableFuture");
        assertRefused(TakesFuture.class, "TakesFuture.set, parameter 1");
        assertRefused(TakesFuture.class, "; pass the value of the future");
        assertRefused(
                ReturnsNestedStage.class,
                "; it is inside another future or stream, so declare"
                        + " java.util.concurrent.CompletableFuture<java.lang.String> itself as the result");
        assertRefused(
                ReturnsStages.class,
                "ReturnsStages.get, result: java.util.List<java.util.concurrent.CompletionStage<java.lang.String>>"
                        + " cannot be sent, because a CompletionStage inside another type cannot be sent");
        assertRefused(ReturnsLines.class, "cannot be sent, because it contains Iterator; pass a List");
        assertRefused(ReturnsRawStage.class, "write, for example, CompletionStage<String>");
        assertRefused(OneWayWithResult.class, "only void methods can be one-way");
        assertRefused(BadTimeout.class, "BadTimeout.send, @RpcMethod(timeout) is 'soon'");
        assertRefused(
                EndlessTimeout.class, "EndlessTimeout.send, @RpcMethod(timeout) is PT999999999H; expected at most");
        assertRefused(SpacedName.class, "SpacedName is 'shop orders'; expected a name without spaces and slashes");
        assertRefused(SlashedMethod.class, "@WireName of SlashedMethod.find is 'orders/find'; expected a name");
        assertRefused(NamelessMethod.class, "@WireName of NamelessMethod.find is ''; expected a name");
        assertRefused(Empty.class, "has no methods");
        assertRefused(String.class, "is not an interface");
    }

    private static void assertRefused(Class<?> type, String text) {
        assertThatThrownBy(() -> ServiceDescriptor.of(type))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(text);
    }
}
