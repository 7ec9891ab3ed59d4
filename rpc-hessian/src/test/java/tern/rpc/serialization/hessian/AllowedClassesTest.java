package tern.rpc.serialization.hessian;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.Serializable;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.security.Principal;
import java.text.NumberFormat;
import java.text.SimpleDateFormat;
import java.time.ZoneId;
import java.util.Arrays;
import java.util.Calendar;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Queue;
import java.util.TimeZone;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import java.util.logging.Logger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tern.rpc.CompiledTypes;
import tern.rpc.InvalidServiceException;
import tern.rpc.ServiceDescriptor;
import tern.rpc.serialization.SerializationException;

class AllowedClassesTest {

    static class Parameter implements Serializable {
        FieldType @Nullable [][] field;
        transient @Nullable NeverSent hidden;
        static @Nullable NeverSent shared;
    }

    static class FieldType implements Serializable {
        @Nullable
        Map<String, List<? extends Argument>> arguments;

        @Nullable
        TimeUnit unit;
    }

    static class Argument extends Parent<ParentArgument> implements Serializable {}

    abstract static class Parent<T> {
        @Nullable
        T value;

        @Nullable
        InheritedField inherited;
    }

    record InheritedField(int x) implements Serializable {}

    record ParentArgument(int x) implements Serializable {}

    record Result(@Nullable Result self) implements Serializable {}

    static class Declared extends Exception {
        @Nullable
        DeclaredPart part;
    }

    record DeclaredPart(int x) implements Serializable {}

    sealed interface Closed permits One, Two {}

    record One(OnePart part) implements Closed, Serializable {}

    record OnePart(int x) implements Serializable {}

    abstract static non-sealed class Two implements Closed {}

    interface Bounded<T extends Bound> {
        T get(T value);
    }

    record Bound(int x) implements Serializable {}

    static class NeverSent {}

    interface Everywhere extends Bounded<Bound> {
        CompletableFuture<List<Result>> call(Parameter parameter, Closed closed) throws Declared;

        CompletableFuture<Void> nothing();
    }

    private static List<String> names(Class<?> service) {
        return AllowedClasses.of(ServiceDescriptor.of(service)).keySet().stream()
                .map(name -> name.substring(name.lastIndexOf('$') + 1))
                .sorted()
                .toList();
    }

    @Test
    void everyClassThatTheSignaturesReachIsListed() {
        assertThat(names(Everywhere.class))
                .containsExactly(
                        "Argument",
                        "Bound",
                        "Closed",
                        "Declared",
                        "DeclaredPart",
                        "FieldType",
                        "InheritedField",
                        "One",
                        "OnePart",
                        "Parameter",
                        "ParentArgument",
                        "Result",
                        "Two",
                        "java.util.concurrent.TimeUnit");
    }

    record Loose(int x) {}

    static class Bad implements Serializable {
        @Nullable
        List<Loose> loose;
    }

    interface TakesLoose {
        void take(int first, Loose second);
    }

    interface TakesBad {
        void take(Map<String, Bad> map);
    }

    interface TakesLogger {
        String take(Logger logger);
    }

    @Test
    void declaredClassThatCannotBeSentPreventsStartup() {
        assertRefused(
                TakesLoose.class,
                "TakesLoose.take, parameter 2: " + Loose.class.getName() + " does not implement java.io.Serializable");
        assertRefused(
                TakesBad.class,
                "TakesBad.take, parameter 1, field loose of " + Bad.class.getName() + ": " + Loose.class.getName());
        assertRefused(
                TakesLogger.class,
                "TakesLogger.take, parameter 1: java.util.logging.Logger is a JDK class whose objects cannot be sent");
    }

    interface TakesPath {
        void take(List<Path> paths);
    }

    interface ReturnsBuffer {
        ByteBuffer get();
    }

    static class HoldsStage implements Serializable {
        @Nullable
        CompletionStage<String> later;
    }

    interface TakesStage {
        void take(HoldsStage stage);
    }

    interface TakesOpenTypes {
        Serializable open(
                Comparable<?> one, CharSequence two, Number three, Map.Entry<String, Integer> four, Calendar five);

        Principal application(Iterable<String> one, ZoneId two, Queue<String> three);
    }

    @Test
    void anInterfaceOfTheJdkThatNoValueImplementsStopsTheStart() {
        assertRefused(TakesPath.class, "TakesPath.take, parameter 1: java.nio.file.Path is a JDK class whose objects");
        assertRefused(
                ReturnsBuffer.class, "ReturnsBuffer.get, result: java.nio.ByteBuffer is a JDK class whose objects");
        assertRefused(
                TakesStage.class,
                "field later of " + HoldsStage.class.getName()
                        + ": java.util.concurrent.CompletionStage is a JDK class");
        assertThatCode(() -> AllowedClasses.of(ServiceDescriptor.of(TakesOpenTypes.class)))
                .doesNotThrowAnyException();
    }

    record HoldsFunction(Supplier<String> name) implements Serializable {}

    static class HoldsTask implements Serializable {
        @Nullable
        Runnable task;
    }

    interface ReturnsFunction {
        List<HoldsFunction> get();
    }

    interface ReturnsTask {
        HoldsTask get();
    }

    /** The field may be null, or contain an instance of a serializable application class. */
    @Test
    void functionInAFieldDoesNotStopTheStart() {
        assertThatCode(() -> AllowedClasses.of(ServiceDescriptor.of(ReturnsFunction.class)))
                .doesNotThrowAnyException();
        assertThatCode(() -> AllowedClasses.of(ServiceDescriptor.of(ReturnsTask.class)))
                .doesNotThrowAnyException();
    }

    interface TakesTimeZone {
        void take(TimeZone zone);
    }

    interface TakesOptionalNumber {
        void take(OptionalInt number);
    }

    interface TakesFormat {
        void take(NumberFormat format);
    }

    @Test
    void messageNamesTheTypeThatCanBeSentInstead() {
        assertRefused(
                TakesTimeZone.class,
                "TakesTimeZone.take, parameter 1: java.util.TimeZone is a JDK class whose objects cannot be sent;"
                        + " declare java.time.ZoneId");
        assertRefused(TakesPath.class, "declare java.lang.String or byte[]");
        assertRefused(TakesOptionalNumber.class, "declare java.lang.Integer, which may be null");
        assertRefused(TakesFormat.class, "declare a simpler one, such as String");
    }

    /** An inner class: its objects refer to their enclosing object. */
    class Inner implements Serializable {
        AllowedClassesTest around() {
            return AllowedClassesTest.this;
        }
    }

    interface TakesInner {
        void take(List<Inner> parts);
    }

    static class Around implements Serializable {
        class Part implements Serializable {
            Around around() {
                return Around.this;
            }
        }
    }

    interface TakesPart {
        void take(Around.Part part);
    }

    @Test
    void innerClassWhoseOuterObjectCannotBeSentIsNamed() {
        assertRefused(
                TakesInner.class,
                "TakesInner.take, parameter 1: " + Inner.class.getName() + " is an inner class, so the "
                        + AllowedClassesTest.class.getName()
                        + " around it is sent, too, which is not possible; make Inner a static class or a record");
        assertThat(names(TakesPart.class)).containsExactly("Around", "Part");
    }

    static class HoldsLock implements Serializable {
        final Lock lock = new ReentrantLock();
    }

    interface TakesLock {
        void take(HoldsLock holder);
    }

    record HoldsFormat(SimpleDateFormat format) implements Serializable {}

    interface TakesRecord {
        void take(HoldsFormat holder);
    }

    static class HoldsOptional implements Serializable {
        @Nullable
        Optional<String> name;
    }

    interface TakesOptional {
        void take(HoldsOptional holder);
    }

    @Test
    void fieldThatIsNoDataMayBeTransient() {
        String advice = "declare a simpler one, such as String";

        assertRefused(TakesLock.class, advice + ", or mark the field transient if it contains no data");
        assertRefused(TakesOptional.class, "pass the value itself, which may be null, or mark the field transient");
        assertThatThrownBy(() -> AllowedClasses.of(ServiceDescriptor.of(TakesRecord.class)))
                .hasMessageEndingWith(advice);
        assertThatThrownBy(() -> AllowedClasses.of(ServiceDescriptor.of(TakesFormat.class)))
                .hasMessageEndingWith(advice);
    }

    @Test
    void classOfALibraryNeedNotBeChanged(@TempDir Path folder) {
        CompiledTypes types = new CompiledTypes(
                folder,
                Map.of(
                        "org.json.JSONObject",
                        "public class JSONObject {}",
                        "shop.Own",
                        "public class Own {}",
                        "shop.Documents",
                        "public interface Documents { void put(org.json.JSONObject document); }",
                        "shop.Owns",
                        "public interface Owns { void put(Own own); }"));

        assertRefused(
                types.type("shop.Documents"),
                "implement it, or, if it is a class of a library, declare a type of your own, a String or a Map");
        assertThatThrownBy(() -> AllowedClasses.of(ServiceDescriptor.of(types.type("shop.Owns"))))
                .hasMessageEndingWith("implement it");
    }

    interface Streamed<T> extends Supplier<Stream<T>> {}

    abstract static class Rows implements Streamed<String>, Serializable {}

    static class MoreRows extends Rows {
        @Override
        public Stream<String> get() {
            return Stream.of();
        }
    }

    interface ReturnsRows {
        MoreRows rows();
    }

    @Test
    void typeThatOnlyASupertypeContainsIsNamedWithTheSupertypes() {
        assertRefused(
                ReturnsRows.class,
                "ReturnsRows.rows, result, supertype " + Rows.class.getName() + " of " + MoreRows.class.getName()
                        + ", supertype " + Streamed.class.getName() + " of " + Rows.class.getName()
                        + ", supertype java.util.function.Supplier of " + Streamed.class.getName()
                        + ": java.util.stream.Stream is a JDK class whose objects cannot be sent");
    }

    @Test
    void typeOfALibraryInAFieldStopsTheStart(@TempDir Path folder) {
        String file = "org.springframework.web.multipart.MultipartFile";
        CompiledTypes types = new CompiledTypes(
                folder,
                Map.of(
                        file,
                        "public interface MultipartFile {}",
                        "shop.Upload",
                        "public class Upload implements java.io.Serializable { " + file + " file; }",
                        "shop.Uploads",
                        "public interface Uploads { void put(Upload upload); }"));

        assertRefused(
                types.type("shop.Uploads"),
                "Uploads.put, parameter 1, field file of shop.Upload: " + file
                        + " cannot be sent; pass the content as byte[] and the name as a String");
    }

    static class Shelf {
        Lock lock = new ReentrantLock();
        List<Box> boxes = List.of();
    }

    static class Box {}

    interface SeveralProblems {
        void put(Shelf shelf);

        void take(List<Inner> parts);

        Path file();
    }

    @Test
    void allClassesThatCannotBeSentAreNamedAtOnce() {
        InvalidServiceException failure = catchThrowableOfType(
                InvalidServiceException.class, () -> AllowedClasses.of(ServiceDescriptor.of(SeveralProblems.class)));

        String name = Shelf.class.getName();
        assertThat(failure.problems())
                .extracting(problem -> problem.substring(0, problem.lastIndexOf(':')))
                .containsExactly(
                        "SeveralProblems.file, result",
                        "SeveralProblems.put, parameter 1",
                        "SeveralProblems.put, parameter 1, field lock of " + name,
                        "SeveralProblems.put, parameter 1, field boxes of " + name,
                        "SeveralProblems.take, parameter 1");
    }

    private static void assertRefused(Class<?> service, String message) {
        HessianSerializer serializer = HessianSerializer.builder().build();

        assertThatThrownBy(() -> serializer.prepare(ServiceDescriptor.of(service)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(message);
    }

    interface Any {
        void take(Object any);
    }

    record Configured(int x) implements Serializable {}

    record ConfiguredToo(int x) implements Serializable {}

    private static Coding allowing(String... entries) {
        return new Coding(HessianSerializer.builder().allow(entries).build(), Any.class);
    }

    @Test
    void aConfiguredClassIsReadAnywhereAndItsNeighboursAreNot() {
        Coding coding = allowing(Configured.class.getName());

        assertThat(coding.through(new Configured(1), Object.class)).isEqualTo(new Configured(1));
        assertThatThrownBy(() -> coding.through(new ConfiguredToo(1), Object.class))
                .isInstanceOf(SerializationException.class);
    }

    @Test
    void aClassOfTheServiceThatDoesNotExistHereIsCalledMissing() {
        Coding coding = Coding.of(Bounded.class);
        String gone = Bound.class.getPackageName() + ".Gone";

        assertThatThrownBy(() -> coding.read(Coding.bytes("43 \"" + gone + "\" 90 60"), Bound.class))
                .isInstanceOf(SerializationException.class)
                .hasMessageContaining("class " + gone + " at ")
                .hasMessageContaining(
                        " is not on the class path of this application; add the version of the interface's");
    }

    @Test
    void manyClassesThatDoNotExistAreReported() {
        Coding coding = Coding.of(Bounded.class);
        String gone = Bound.class.getPackageName() + ".Gone";

        for (int i = 0; i < NamedClasses.MAX_UNKNOWN - 1; i++) {
            byte[] unknown = Coding.bytes("43 \"" + gone + i + "\" 90 60");
            assertThatThrownBy(() -> coding.read(unknown, Bound.class))
                    .hasMessageContaining(" is not on the class path of this application");
        }
        assertThatThrownBy(() -> coding.read(Coding.bytes("43 \"" + gone + "\" 90 60"), Bound.class))
                .isInstanceOf(SerializationException.class)
                .hasMessageContaining("class " + gone + " at ")
                .hasMessageContaining(" was not found; 1024 unknown class names were sent to this service");
    }

    @Test
    void aConfiguredPackageEndsAtItsDot() {
        String own = Configured.class.getPackageName();

        assertThat(allowing(own + ".*").through(new Configured(1), Object.class))
                .isEqualTo(new Configured(1));
        assertThat(allowing("tern.rpc.**").through(new Configured(1), Object.class))
                .isEqualTo(new Configured(1));
        for (String other : List.of("tern.rpc.*", "tern.rpc.serialization.hess.**", own + "x.*", own)) {
            assertThatThrownBy(() -> allowing(other).through(new Configured(1), Object.class))
                    .isInstanceOf(SerializationException.class)
                    .hasMessageContaining("rpc.limits.allowed-classes=" + Configured.class.getName());
        }
    }

    @Test
    void aConfiguredClassThatIsNotSerializableIsRefused() {
        byte[] bytes = Coding.bytes("43 \"" + NeverSent.class.getName() + "\" 90 60");

        assertThatThrownBy(() -> allowing(NeverSent.class.getName()).read(bytes))
                .isInstanceOf(SerializationException.class);
    }

    @Test
    void entriesThatAreNeitherClassNorPackageAreRefused() {
        for (String entry : Arrays.asList("", "*", ".**", "com.acme.", "com..acme", "com.acme*", "com/acme/*")) {
            assertThatThrownBy(() -> HessianSerializer.builder().allow(entry).build())
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("rpc.limits.allowed-classes has the entry \"" + entry + "\"");
        }
    }

    @Test
    void auditReadsDataOfTheApplicationAndRefusesTheRest() {
        Coding audited = new Coding(HessianSerializer.builder().audit().build(), Any.class);

        assertThat(audited.through(new Configured(1), Object.class)).isEqualTo(new Configured(1));
        for (String name : List.of(
                "javax.naming.InitialContext",
                "java.util.ServiceLoader",
                "ch.qos.logback.core.db.JNDIConnectionSource",
                NeverSent.class.getName(),
                "com.nowhere.Gone")) {
            assertThatThrownBy(() -> audited.read(Coding.bytes("43 \"" + name + "\" 90 60")))
                    .isInstanceOf(SerializationException.class)
                    .hasMessageContaining(name);
        }
    }

    @Test
    void serviceThatWasNotPreparedIsNotTrusted() {
        var reader = HessianSerializer.builder().build().newReader();

        assertThatThrownBy(() -> reader.trust(ServiceDescriptor.of(Any.class)))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("was not prepared");
    }

    @Test
    void twoServicesHaveTwoLists() {
        HessianSerializer serializer = HessianSerializer.builder().build();
        Coding any = new Coding(serializer, Any.class);
        Coding everywhere = new Coding(serializer, Everywhere.class);
        byte[] bytes = everywhere.write(new Bound(1));

        assertThat(everywhere.read(bytes)).isEqualTo(new Bound(1));
        assertThatThrownBy(() -> any.read(bytes)).isInstanceOf(SerializationException.class);
    }
}
