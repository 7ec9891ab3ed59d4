package tern.rpc.serialization.json;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tern.rpc.ServiceDescriptor;
import tern.rpc.serialization.JsonMethod;
import tern.rpc.serialization.SerializationException;
import tern.rpc.serialization.hessian.ForbiddenClassesTest;
import tools.jackson.databind.DefaultTyping;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.jsontype.BasicPolymorphicTypeValidator;

/**
 * Verifies promise R5 in docs/figures/promises.md for JSON: JSON text cannot make a library load a dangerous class. The
 * test tries all forms that a library might read as a class name.
 */
class JsonTypeTricksTest {

    public static class Holder {
        public @Nullable Object any;
        public @Nullable Serializable serializable;
        public @Nullable List<Object> list;
    }

    interface Target {
        void any(Object o);

        void map(Map<String, Object> m);

        void list(List<Object> l);

        void array(Object[] a);

        void holder(Holder h);

        void serializable(Serializable s);

        void comparable(Comparable<?> c);

        void throwable(Throwable t);

        void number(Number n);

        void type(Class<?> c);
    }

    private static final List<String> MEMBERS = List.of(
            "@class",
            "@type",
            "$type",
            "class",
            "@c",
            "_class",
            "__type",
            "type",
            "javaClass",
            "java_class",
            "@typeName");

    private final ClassLoader before = Thread.currentThread().getContextClassLoader();
    private final Asked asked = new Asked(before);
    private final JsonCodec codec = new JsonCodec(new JsonMapper());
    private final List<JsonMethod> methods = ServiceDescriptor.of(Target.class).methods().stream()
            .map(codec::method)
            .toList();

    /** Records the class names that are requested from the context class loader, which Jackson tries first. */
    private static final class Asked extends ClassLoader {
        private final Set<String> names = ConcurrentHashMap.newKeySet();

        Asked(ClassLoader parent) {
            super(parent);
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            names.add(name);
            return super.loadClass(name, resolve);
        }
    }

    @BeforeEach
    void watch() {
        Thread.currentThread().setContextClassLoader(asked);
    }

    @AfterEach
    void unwatch() {
        Thread.currentThread().setContextClassLoader(before);
    }

    private static List<String> tricks(String name) {
        List<String> tricks = new ArrayList<>();
        for (String member : MEMBERS) {
            tricks.add("{\"" + member + "\":\"" + name + "\"}");
            tricks.add("{\"" + member + "\":\"" + name + "\",\"val\":\"x\",\"value\":{}}");
            tricks.add("{\"" + member + "\":\"L" + name + ";\"}");
        }
        tricks.add("[\"" + name + "\",{}]");
        tricks.add("[\"" + name + "\",\"x\"]");
        tricks.add("[\"[L" + name + ";\",[{}]]");
        tricks.add("{\"" + name + "\":{}}");
        tricks.add("\"" + name + "\"");
        return tricks;
    }

    /** Returns JSON texts that contain the class name as the whole value and inside other values. */
    private static List<String> places(String trick) {
        return List.of(
                trick,
                "[" + trick + "]",
                "{\"any\":" + trick + "}",
                "{\"serializable\":" + trick + "}",
                "{\"list\":[" + trick + "]}",
                "{\"any\":{\"x\":[" + trick + "]}}");
    }

    @Test
    void namesOfGadgetsAreHarmlessOrRefusedAndNeverLoaded() {
        List<String> gadgets = ForbiddenClassesTest.gadgets().toList();
        int read = 0;
        for (String name : gadgets) {
            for (String trick : tricks(name)) {
                for (String text : places(trick)) {
                    byte[] json = text.getBytes(UTF_8);
                    for (JsonMethod method : methods) {
                        read += isRead(method, json) ? 1 : 0;
                    }
                }
            }
        }

        assertThat(gadgets).hasSizeGreaterThan(200);
        assertThat(read).isPositive();
        assertThat(asked.names).doesNotContainAnyElementsOf(gadgets);
    }

    private static boolean isRead(JsonMethod method, byte[] json) {
        try {
            for (Object argument : method.readArguments(json, 0, json.length, false)) {
                assertHarmless(argument);
            }
            return true;
        } catch (SerializationException refused) {
            return false;
        }
    }

    private static void assertHarmless(@Nullable Object value) {
        if (value instanceof Map<?, ?> map) {
            map.forEach((key, inside) -> {
                assertHarmless(key);
                assertHarmless(inside);
            });
        } else if (value instanceof Collection<?> all) {
            all.forEach(JsonTypeTricksTest::assertHarmless);
        } else if (value instanceof Object[] all) {
            Arrays.asList(all).forEach(JsonTypeTricksTest::assertHarmless);
        } else if (value instanceof Holder holder) {
            assertHarmless(holder.any);
            assertHarmless(holder.serializable);
            assertHarmless(holder.list);
        } else if (value instanceof Throwable thrown) {
            assertThat(thrown.getClass()).isEqualTo(Throwable.class);
        } else {
            assertThat(value == null || value instanceof String || value instanceof Number || value instanceof Boolean)
                    .as("a value of " + (value == null ? "null" : value.getClass()))
                    .isTrue();
        }
    }

    /** Proves that the tests of this class would detect a mapper that loads classes by name. */
    @Test
    void mapperThatFollowsClassNamesIsReported() {
        JsonMapper follows = JsonMapper.builder()
                .activateDefaultTyping(
                        BasicPolymorphicTypeValidator.builder()
                                .allowIfSubType("tern.")
                                .build(),
                        DefaultTyping.JAVA_LANG_OBJECT)
                .build();
        String name = "tern.rpc.serialization.json.Nobody";
        try {
            follows.readValue("[\"" + name + "\",{}]", Object.class);
        } catch (RuntimeException refused) {
            // The exception is expected, because the class does not exist.
        }

        assertThat(asked.names).contains(name);
    }
}
