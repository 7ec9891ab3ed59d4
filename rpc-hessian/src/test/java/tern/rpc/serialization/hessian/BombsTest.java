package tern.rpc.serialization.hessian;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tern.rpc.serialization.SerializationException;
import tern.rpc.transport.Cost;
import tern.rpc.transport.WorstCosts;

/** Measures promise R2 in docs/figures/promises.md for Hessian: the cost of reading the most expensive messages. */
class BombsTest {

    private static final int MIB = 1 << 20;
    private static final int SMALL = MIB / 16;
    private static final Map<String, byte[]> SMALL_BOMBS = Bombs.all(SMALL);

    private static final Map<String, byte[]> KEY_BOMBS = Bombs.keys(MIB);

    private final Coding coding = Coding.of(Bombs.Target.class);

    static Stream<String> names() {
        return SMALL_BOMBS.keySet().stream();
    }

    private boolean read(byte[] bomb) {
        try {
            coding.read(bomb);
            return true;
        } catch (SerializationException refused) {
            return false;
        }
    }

    /**
     * Returns the maximum number of bytes that may be allocated while reading a message, including short-lived objects:
     * 1 MiB plus four bytes for each byte of the message. For each byte in the first 1 MiB of the message, another 200
     * bytes are allowed, because small values need more memory. The most expensive small value is a number in a set.
     */
    private static long mostAllocated(int size) {
        return 4L * size + MIB + 200L * Math.min(size, MIB);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("names")
    void everyBombIsReadOrRefusedAtABoundedPrice(String name) {
        byte[] bomb = SMALL_BOMBS.get(name);

        Cost cost = Cost.least(3, () -> read(bomb));

        assertThat(cost.isTimely(bomb.length))
                .as(name + ", " + cost.toString(bomb.length))
                .isTrue();
        assertThat(cost.allocatedBytes())
                .as(name + ", " + cost.toString(bomb.length))
                .isLessThanOrEqualTo(mostAllocated(bomb.length));
    }

    static Stream<String> keyNames() {
        return KEY_BOMBS.keySet().stream();
    }

    /** Uses messages of 1 MiB, because quadratic costs show only in large messages. */
    @ParameterizedTest(name = "{0}")
    @MethodSource("keyNames")
    void keysAreReadOrRefusedAtABoundedPrice(String name) {
        byte[] bomb = KEY_BOMBS.get(name);

        Cost cost = Cost.least(2, () -> read(bomb));

        assertThat(cost.isTimely(bomb.length))
                .as(name + ", " + cost.toString(bomb.length))
                .isTrue();
        assertThat(cost.allocatedBytes())
                .as(name + ", " + cost.toString(bomb.length))
                .isLessThanOrEqualTo(mostAllocated(bomb.length));
    }

    @Test
    void bombsPutTogetherAtRandomAreReadOrRefusedAtABoundedPrice() {
        int bombs = Integer.getInteger("tern.bombs", 60);
        for (int seed = 0; seed < bombs; seed++) {
            byte[] bomb = Bombs.random(seed, SMALL);

            Cost cost = Cost.least(2, () -> read(bomb));

            assertThat(cost.isTimely(bomb.length))
                    .as("seed " + seed + ", " + cost.toString(bomb.length))
                    .isTrue();
            assertThat(cost.allocatedBytes())
                    .as("seed " + seed + ", " + cost.toString(bomb.length))
                    .isLessThanOrEqualTo(mostAllocated(bomb.length));
        }
    }

    /** Measures the maximum CPU time and heap memory of a message for docs/figures/promises.md. */
    @Test
    @Tag("figures")
    void mostExpensiveBombsAreReported() {
        WorstCosts costs = new WorstCosts();
        for (int size : new int[] {MIB, 8 * MIB}) {
            Map<String, byte[]> all = Bombs.all(size);
            if (size == MIB) {
                all.putAll(KEY_BOMBS);
            }
            for (Map.Entry<String, byte[]> entry : all.entrySet()) {
                byte[] bomb = entry.getValue();
                Cost cost = Cost.least(5, () -> read(bomb));
                System.out.println("R2 bomb: " + entry.getKey() + ", " + cost.toString(bomb.length));
                costs.add(entry.getKey(), cost, bomb.length, mostAllocated(bomb.length));
            }
        }
        for (int seed = 0; seed < 1_000; seed++) {
            byte[] bomb = Bombs.random(seed, MIB / 8);
            Cost cost = Cost.least(3, () -> read(bomb));
            costs.add("random " + seed, cost, bomb.length, mostAllocated(bomb.length));
        }
        costs.report("hessian2");
    }
}
