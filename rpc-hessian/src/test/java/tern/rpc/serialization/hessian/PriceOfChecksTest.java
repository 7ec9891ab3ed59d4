package tern.rpc.serialization.hessian;

import static org.assertj.core.api.Assertions.assertThat;

import com.alibaba.com.caucho.hessian.io.Hessian2Input;
import com.alibaba.com.caucho.hessian.io.SerializerFactory;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Date;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ValueType;
import tern.rpc.serialization.ObjectReader;
import tern.rpc.transport.Cost;

/**
 * Measures promise R28 in docs/figures/promises.md for the Hessian reader. A string and a page of 15 users are read in
 * three variants: with all checks, without the removable checks, and by hessian-lite. The removable checks are the
 * class policy, the hash budget and the limits. The variants run alternately on one thread, and each result is the
 * median of the thread's CPU time.
 */
@Tag("figures")
class PriceOfChecksTest {

    private static final int ROUNDS = 31;
    private static final int READS = 2_000;

    /** The total CPU time of a call on the client and the server, from docs/figures/calls.md. */
    private static final double ECHO_CALL_MICROS = 31;

    private static final double LIST_CALL_MICROS = 115;

    static class User implements Serializable {
        long id;
        String name;
        String email;
        String city;
        int age;
        int status;
        boolean active;
        BigDecimal balance;
        Date created;
        Date changed;
        List<String> tags;
        Map<String, Integer> counts;
    }

    static class Page implements Serializable {
        int pageNo;
        int total;
        List<User> result;
    }

    interface Users {
        String echo(String text);

        Page listUser(int pageNo);
    }

    /** A policy that accepts every class. */
    private static final class Trusting extends ServicePolicy {
        private final Map<String, Class<?>> classes = new LinkedHashMap<>();
        private final Shapes made;

        Trusting(ServiceDescriptor service, Shapes shapes) {
            super(service, new ClassPatterns(List.of()), Map.of(), false, shapes);
            made = shapes;
            classes.put(User.class.getName(), User.class);
            classes.put(Page.class.getName(), Page.class);
        }

        @Override
        public Shape shape(String name, Slot slot) {
            Class<?> type = classes.get(name);
            return type == null ? super.shape(name, slot) : made.of(slot.raw == type ? slot.type : TypeRef.of(type));
        }
    }

    /** A hash budget that never rejects a key. */
    private static final class NoBudget extends HashBudget {
        NoBudget(HessianLimits limits) {
            super(limits);
        }

        @Override
        void enterKey() {
            // This override does not check the nesting depth.
        }

        @Override
        void leaveKey() {
            // This override does not check the nesting depth.
        }

        @Override
        int charge(@Nullable Object key, long weight, int before, Object container, boolean chained) {
            return before;
        }
    }

    private static Page page() {
        Page page = new Page();
        page.pageNo = 1;
        page.total = 1_000;
        page.result = new ArrayList<>();
        for (int i = 0; i < 15; i++) {
            User user = new User();
            user.id = 1_000_000L + i;
            user.name = "User " + i;
            user.email = "user" + i + "@example.com";
            user.city = "Springfield";
            user.age = 20 + i;
            user.status = 1;
            user.active = true;
            user.balance = new BigDecimal("1234.50");
            user.created = new Date(1_700_000_000_123L);
            user.changed = new Date(1_700_000_000_456L);
            user.tags = new ArrayList<>(List.of("a", "b"));
            user.counts = new LinkedHashMap<>(Map.of("logins", 3));
            page.result.add(user);
        }
        return page;
    }

    private static void readLite(SerializerFactory factory, byte[] bytes) {
        try {
            Hessian2Input input = new Hessian2Input(new ByteArrayInputStream(bytes));
            input.setSerializerFactory(factory);
            input.readObject();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Runnable reading(ObjectReader reader, ServiceDescriptor service, byte[] bytes, ValueType type) {
        return () -> {
            reader.start(bytes, 0, bytes.length);
            reader.trust(service);
            reader.readObject(type);
        };
    }

    private static double medianMicros(double[] micros) {
        double[] sorted = micros.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }

    private static double[] compare(String what, double callMicros, Runnable on, Runnable off, Runnable lite) {
        List<Runnable> readers = List.of(on, off, lite);
        double[][] micros = new double[3][ROUNDS];
        for (int round = -5; round < ROUNDS; round++) {
            for (int i = 0; i < 3; i++) {
                int turn = Math.floorMod(i + round, 3);
                Runnable reader = readers.get(turn);
                Cost cost = Cost.of(() -> {
                    for (int read = 0; read < READS; read++) {
                        reader.run();
                    }
                });
                if (round >= 0) {
                    micros[turn][round] = cost.cpuNanos() / 1_000.0 / READS;
                }
            }
        }
        double[] medians = Arrays.stream(micros)
                .mapToDouble(PriceOfChecksTest::medianMicros)
                .toArray();
        System.out.printf(
                "R28 reading %s: %.2f us with all checks, %.2f without, %.2f by hessian-lite;"
                        + " the checks are %.1f %% of a call of %.0f us%n",
                what, medians[0], medians[1], medians[2], 100 * (medians[0] - medians[1]) / callMicros, callMicros);
        return medians;
    }

    @Test
    void checksCostLittle() {
        ServiceDescriptor service = ServiceDescriptor.of(Users.class);
        HessianSerializer serializer = HessianSerializer.builder().build();
        serializer.prepare(service);
        ServicePolicy trusting = new Trusting(service, new Shapes());
        HessianLimits limits =
                new HessianLimits(512, Integer.MAX_VALUE, Integer.MAX_VALUE, 0xffff, 0xffff, 512, Integer.MAX_VALUE);
        Map<ValueType, Slot> slots = new java.util.HashMap<>();
        ObjectReader checked = serializer.newReader();
        ObjectReader unchecked = new HessianReader(
                limits,
                new KnownDefinitions(),
                new NoBudget(limits),
                any -> trusting,
                type -> slots.computeIfAbsent(type, made -> Slot.of(made.generic())));
        SerializerFactory factory = new SerializerFactory(PriceOfChecksTest.class.getClassLoader());
        byte[] echo = Coding.writeLite("x".repeat(100));
        byte[] list = Coding.writeLite(page());
        ValueType text = ValueType.of(String.class);
        ValueType page = ValueType.of(Page.class);

        double[] echoed = compare(
                "echo",
                ECHO_CALL_MICROS,
                reading(checked, service, echo, text),
                reading(unchecked, service, echo, text),
                () -> readLite(factory, echo));
        double[] listed = compare(
                "listUser",
                LIST_CALL_MICROS,
                reading(checked, service, list, page),
                reading(unchecked, service, list, page),
                () -> readLite(factory, list));

        assertThat(echoed[0] - echoed[1]).isLessThan(0.03 * ECHO_CALL_MICROS);
        assertThat(listed[0] - listed[1]).isLessThan(0.03 * LIST_CALL_MICROS);
        assertThat(listed[0]).as("against hessian-lite").isLessThan(listed[2]);
    }
}
