package tern.rpc.netty.peer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tern.rpc.RpcException;
import tern.rpc.serialization.hessian.RecordingLoader;

/**
 * Verifies promise R5 in docs/figures/promises.md over a socket. Every class on Dubbo's block list or hessian-lite's
 * deny list must be refused at every position in a value. The name alone must be enough for the refusal, and the class
 * must not be loaded. The server must refuse such a class in requests, and the client must refuse it in answers.
 */
@Timeout(300)
public abstract class ForbiddenClassesContract {

    /** A class that is declared by the interface and therefore allowed. */
    public static class Holder implements Serializable {
        @Nullable
        Object any;
    }

    /** An undeclared class whose name begins with the name of a declared class. */
    public static class HolderAnything implements Serializable {
        int a;
    }

    private static final byte[] NULL = {'N'};
    private static final byte OBJECT = 0x60;
    private static final byte ZERO = (byte) 0x90;
    private static final byte ONE = (byte) 0x91;

    private final Class<?> service = RecordingLoader.copyOf(OpenService.class);
    private final AtomicInteger calls = new AtomicInteger();
    private final Object target =
            Proxy.newProxyInstance(service.getClassLoader(), new Class<?>[] {service}, (proxy, method, arguments) -> {
                calls.incrementAndGet();
                return null;
            });

    /** Starts a server that exports the object, with generic calls enabled, and returns its port. */
    protected abstract int serve(Class<?> type, Object served);

    /**
     * Calls the method {@code take} with encoded arguments.
     *
     * @return the error message in the answer
     */
    protected abstract String refusal(int port, Class<?> type, List<byte[]> arguments);

    /**
     * Calls the method {@code take} through the generic method {@code $invoke}, with an encoded array of arguments, and
     * returns the error message in the answer.
     */
    protected abstract String genericRefusal(int port, Class<?> type, byte[] arguments);

    /**
     * Calls the method {@code give} of a server that answers with the given encoded value. Returns the exception that
     * the caller gets.
     */
    protected abstract Throwable failureOfAnswer(Class<?> type, byte[] value);

    /**
     * Calls the method {@code give} of a server that answers with the given encoded exception. Returns the exception
     * that the caller gets.
     */
    protected abstract Throwable failureOfException(Class<?> type, byte[] exception);

    private static List<String> gadgets() {
        return Stream.concat(lines("/DENY_CLASS"), lines("/security/serialize.blockedlist"))
                .map(line -> line.endsWith(".") ? line + "Anything" : line)
                .filter(name -> !name.startsWith("tern."))
                .distinct()
                .toList();
    }

    private static Stream<String> lines(String resource) {
        try (InputStream file = ForbiddenClassesContract.class.getResourceAsStream(resource)) {
            return new String(file.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .map(String::strip)
                    .filter(line -> !line.isEmpty() && !line.startsWith("#"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Concatenates the given parts: each string is preceded by a byte with its length, and byte arrays are left
     * unchanged.
     */
    protected static byte[] wire(Object... parts) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (Object part : parts) {
            if (part instanceof String text) {
                byte[] ascii = text.getBytes(StandardCharsets.US_ASCII);
                if (ascii.length > 0x1f) {
                    bytes.write(0x30 + (ascii.length >> 8));
                }
                bytes.write(ascii.length);
                bytes.writeBytes(ascii);
            } else if (part instanceof byte[] raw) {
                bytes.writeBytes(raw);
            } else {
                bytes.write(part instanceof Character tag ? tag : (Byte) part);
            }
        }
        return bytes.toByteArray();
    }

    private static byte[] object(String name) {
        return wire('C', name, ZERO, OBJECT);
    }

    private static List<byte[]> first(byte[] any) {
        return List.of(any, NULL, NULL);
    }

    private void check(String told, String name, String position) {
        assertThat(told)
                .as(name)
                .contains("class " + name + " may not be read at ", position)
                .containsAnyOf(
                        "rpc.limits.allowed-classes=" + name,
                        "classes of this package are not data",
                        "an association that the sender has not loaded");
    }

    private void checkNeverLoaded(List<String> names) {
        assertThat(RecordingLoader.asked(service)).doesNotContainAnyElementsOf(names);
        assertThat(calls).as("calls that reached the service").hasValue(0);
    }

    @Test
    void knownGadgetsAreRefusedByTheServerAtAnyPosition() {
        int port = serve(service, target);
        List<String> names = gadgets();
        assertThat(names).hasSizeGreaterThan(200);
        byte[] holder = wire('C', Holder.class.getName(), ONE, "any", OBJECT);

        for (String name : names) {
            check(refusal(port, service, first(object(name))), name, "java.lang.Object");
            check(refusal(port, service, first(wire('M', name, 'Z'))), name, "java.lang.Object");
            check(refusal(port, service, first(wire((byte) 0x70, name))), name, "java.lang.Object");
            check(refusal(port, service, first(wire((byte) 0x70, "[" + name))), name, "java.lang.Object");
            byte[] inMap = wire('H', "key", object(name), 'Z');
            check(refusal(port, service, List.of(NULL, inMap, NULL)), name, "value");
            byte[] inHolder = wire(holder, 'C', name, ZERO, (byte) 0x61);
            check(refusal(port, service, List.of(NULL, NULL, inHolder)), name, "field any");
        }

        checkNeverLoaded(names);
        System.out.println("R5 " + getClass().getSimpleName() + ": " + names.size()
                + " names in 6 positions refused, none loaded");
    }

    @Test
    void knownGadgetsAreRefusedInGenericCalls() {
        int port = serve(service, target);
        List<String> names = gadgets();

        for (String name : names) {
            byte[] array = wire((byte) 0x73, "[object", object(name), NULL, NULL);
            check(genericRefusal(port, service, array), name, "element");
        }

        checkNeverLoaded(names);
    }

    @Test
    void knownGadgetsAreRefusedByTheClient() {
        List<String> names = gadgets();

        for (String name : names) {
            Throwable failure = failureOfAnswer(service, object(name));
            assertThat(failure).as(name).isInstanceOf(RpcException.class);
            check(failure.getMessage(), name, "java.lang.Object");
        }

        checkNeverLoaded(names);
    }

    @Test
    void knownGadgetsAreNoExceptionsForTheClient() {
        List<String> names = gadgets();

        for (String name : names) {
            Throwable failure = failureOfException(service, object(name));
            assertThat(failure).as(name).isInstanceOf(RpcException.class).hasMessageContaining(name);
        }

        checkNeverLoaded(names);
    }

    @Test
    void classesWithTheNameOfAnAllowedOneAsPrefixAreRefused() {
        int port = serve(service, target);
        String holder = Holder.class.getName();

        for (String name : List.of(
                HolderAnything.class.getName(),
                holder + "X",
                holder + ".X",
                holder.substring(0, holder.length() - 1),
                holder.replace('$', '.'),
                "java.util.ArrayListAnything",
                "java.util.HashMa",
                "java.math.BigDecimalAnything",
                "java.lang.StringBuilderAnything")) {
            check(refusal(port, service, first(object(name))), name, "java.lang.Object");
            checkNeverLoaded(List.of(name));
        }
    }

    /** Makes a call that must fail, and returns its exception. */
    protected static Throwable failureOf(java.util.concurrent.Callable<?> call) {
        try {
            return fail("answered: %s", call.call());
        } catch (java.lang.reflect.InvocationTargetException e) {
            return e.getCause();
        } catch (Exception e) {
            return e;
        }
    }
}
