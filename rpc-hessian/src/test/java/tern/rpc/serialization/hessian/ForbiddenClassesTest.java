package tern.rpc.serialization.hessian;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.io.Serializable;
import java.lang.reflect.Type;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import tern.rpc.RpcException;
import tern.rpc.serialization.SerializationException;

public class ForbiddenClassesTest {

    public static class Holder implements Serializable {
        @Nullable
        Object any;

        Evil @Nullable [] evils;
    }

    /** A class that a message may contain only in {@link Holder#evils}, because only this field declares the class. */
    public static class Evil implements Serializable {
        int a;
    }

    /** A class that is in the package of the service interface, although the interface does not declare it. */
    static class HolderNeighbour implements Serializable {
        static boolean initialized;
        int a;

        static {
            markInitialized();
        }

        private static void markInitialized() {
            InitializationMark.initialized = true;
        }
    }

    private static final class InitializationMark {
        static boolean initialized;
    }

    private final Class<?> service = RecordingLoader.copyOf(PlainService.class);
    private final Coding coding = Coding.of(service);

    public static Stream<String> gadgets() {
        return Stream.concat(lines("/DENY_CLASS"), lines("/security/serialize.blockedlist"))
                .map(line -> line.endsWith(".") ? line + "Anything" : line)
                .filter(name -> !name.startsWith("tern."))
                .distinct();
    }

    private static Stream<String> lines(String resource) {
        try (InputStream file = ForbiddenClassesTest.class.getResourceAsStream(resource)) {
            return new String(file.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .map(String::strip)
                    .filter(line -> !line.isEmpty() && !line.startsWith("#"));
        } catch (IOException failure) {
            throw new AssertionError(failure);
        }
    }

    @ParameterizedTest
    @MethodSource("gadgets")
    void knownGadgetsAreRefusedAndNeverLoaded(String name) {
        RecordingLoader.asked(service).clear();

        for (Type type : new Type[] {Object.class, Map.class, Serializable.class, Holder.class, Throwable.class}) {
            assertRefused("43 \"" + name + "\" 90 60", type, name);
        }
        assertRefused("4d \"" + name + "\" 5a", Object.class, name);
        assertRefused("70 \"" + name + "\"", Object.class, name);
        assertRefused("70 \"[" + name + "\"", Object.class, name);
        assertRefused("70 \"[" + name + "\"", List.class, name);
        assertThat(coding.read(Coding.bytes("70 \"" + name + "\""), List.class)).isEqualTo(List.of());
        assertThat(coding.read(Coding.bytes("4d \"" + name + "\" 5a"), Map.class))
                .isEqualTo(Map.of());
        assertRefused(
                "43 \"" + Holder.class.getName() + "\" 91 \"any\" 60 43 \"" + name + "\" 90 61", Holder.class, name);
        assertThat(coding.readThrowable(Coding.bytes("43 \"" + name + "\" 90 60")))
                .isInstanceOf(RpcException.class);
        assertThat(RecordingLoader.asked(service)).doesNotContain(name);
    }

    @Test
    void exceptionWithAnInventedNameIsReadWithoutAskingForItsClass() {
        RecordingLoader.asked(service).clear();

        for (String name : List.of(
                "java.sql.InventedException",
                "javax.invented.InventedError",
                PlainService.class.getPackageName() + ".Invented")) {
            assertThat(coding.readThrowable(Coding.bytes("43 \"" + name + "\" 90 60")))
                    .isInstanceOf(RpcException.class);
            assertThat(RecordingLoader.asked(service)).doesNotContain(name);
        }
    }

    @Test
    void classOfTheJdkThatIsNoDataIsRefusedWithItsReplacement() {
        for (String name : List.of("java.lang.Class", "java.io.File")) {
            assertThatThrownBy(() -> coding.read(Coding.bytes("43 \"" + name + "\" 90 60"), Object.class))
                    .hasMessageContaining("class " + name + " may not be read at java.lang.Object")
                    .hasMessageContaining("classes of this package are not data; send java.lang.String");
        }
    }

    private void assertRefused(String bytes, Type type, String name) {
        assertThatThrownBy(() -> coding.read(Coding.bytes(bytes), type))
                .isInstanceOf(SerializationException.class)
                .hasMessageContaining(name)
                .message()
                .containsAnyOf(
                        "rpc.limits.allowed-classes=" + name,
                        "classes of this package are not data",
                        "an association that the sender has not loaded");
    }

    /** Returns recorded messages that name forbidden classes. Reading each of them must fail. */
    static Stream<String> probes() {
        String evil = "com.evil.Evil";
        return Stream.of(
                "43 \"" + evil + "\" 91 \"a\" 60 91",
                "4d \"" + evil + "\" \"a\" 91 5a",
                "43 \"java.lang.Class\" 91 \"name\" 60 \"" + evil + "\"",
                "43 \"java.lang.Class\" 91 \"name\" 60 \"javax.naming.InitialContext\"",
                "71 \"[" + evil + "\" 4e",
                "71 \"" + evil + "\" 4e");
    }

    @ParameterizedTest
    @MethodSource("probes")
    void classesThatPassHessianLitesChecksAreRefused(String bytes) {
        RecordingLoader.asked(service).clear();

        for (Type type : new Type[] {Object.class, Object[].class, Serializable.class, Holder.class}) {
            assertThatThrownBy(() -> coding.read(Coding.bytes(bytes), type)).isInstanceOf(SerializationException.class);
        }
        assertThat(RecordingLoader.asked(service)).isEmpty();
    }

    static Stream<Arguments> probesOfCollections() {
        String list = "71 \"com.evil.Evil\" 4e";
        String map = "4d \"com.evil.Evil\" \"a\" 91 5a";
        String object = "43 \"com.evil.Evil\" 91 \"a\" 60 91";
        return Stream.of(
                Arguments.of(list, List.class, Collections.singletonList(null)),
                Arguments.of(list, Set.class, Collections.singleton(null)),
                Arguments.of(map, Map.class, Map.of("a", 1)),
                Arguments.of(list, Map.class, null),
                Arguments.of(map, List.class, null),
                Arguments.of(object, List.class, null),
                Arguments.of(object, Map.class, null),
                Arguments.of("71 \"[com.evil.Evil\" 4e", List.class, null));
    }

    /** @param expected the result of reading the message; null if the message is refused */
    @ParameterizedTest
    @MethodSource("probesOfCollections")
    void forbiddenCollectionIsReadAsOneOfTheJdkOrRefused(String bytes, Class<?> declared, @Nullable Object expected) {
        RecordingLoader.asked(service).clear();

        if (expected == null) {
            assertThatThrownBy(() -> coding.read(Coding.bytes(bytes), declared))
                    .isInstanceOf(SerializationException.class);
        } else {
            assertThat(coding.read(Coding.bytes(bytes), declared)).isEqualTo(expected);
        }
        assertThat(RecordingLoader.asked(service)).isEmpty();
    }

    @Test
    void aMapDoesNotBecomeTheBeanThatAFieldDeclares() {
        String holder = "43 \"" + Holder.class.getName() + "\" 91 \"evils\" 60 71 \"[" + Evil.class.getName() + "\"";

        assertThatThrownBy(() -> coding.read(Coding.bytes(holder + " 48 \"a\" 91 5a"), Holder.class))
                .isInstanceOf(SerializationException.class)
                .hasMessageContaining("field evils");
    }

    @Test
    void aMapDoesNotBecomeTheBeanThatTheArgumentDeclares() {
        assertThatThrownBy(() -> coding.read(Coding.bytes("48 \"a\" 91 5a"), Evil.class))
                .isInstanceOf(SerializationException.class)
                .hasMessageContaining("a map where " + Evil.class.getName() + " is declared");
    }

    @Test
    void namesThatBeginLikeAllowedOnesAreRefusedAndNotLoaded() {
        for (String name : List.of(
                Holder.class.getName() + "X",
                HolderNeighbour.class.getName(),
                "java.util.ArrayListX",
                "java.util.ArrayLis",
                "java.math.BigDecimalX",
                "com.alibaba.com.caucho.hessian.io.LocaleHandleX")) {
            RecordingLoader.asked(service).clear();

            assertRefused("43 \"" + name + "\" 90 60", Object.class, name);

            assertThat(RecordingLoader.asked(service)).doesNotContain(name);
        }
    }

    @Test
    void aRefusedClassOfTheOwnPackageIsNotInitialized() {
        assertThatThrownBy(() ->
                        coding.read(Coding.bytes("43 \"" + HolderNeighbour.class.getName() + "\" 90 60"), Holder.class))
                .isInstanceOf(SerializationException.class)
                .hasMessageContaining(HolderNeighbour.class.getName());
        assertThat(InitializationMark.initialized).isFalse();
    }

    @Test
    void anAllowedClassInTheWrongPlaceIsAnError() {
        assertThatThrownBy(() ->
                        coding.read(Coding.bytes("43 \"" + Evil.class.getName() + "\" 91 \"a\" 60 91"), Holder.class))
                .isInstanceOf(SerializationException.class)
                .hasMessageContaining(Evil.class.getName() + " where " + Holder.class.getName() + " is declared");
    }

    @Test
    void inventedNamesFillNoCacheAndAreKeptByNoClassLoader() {
        Set<String> asked = RecordingLoader.asked(service);
        asked.clear();
        for (int i = 0; i < 5000; i++) {
            String name = Holder.class.getPackageName() + ".Endless" + i;

            assertThatThrownBy(() -> coding.read(Coding.bytes("43 \"" + name + "\" 90 60"), Holder.class))
                    .isInstanceOf(SerializationException.class);
        }
        assertThat(asked).isEmpty();
    }
}
