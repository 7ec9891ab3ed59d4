package tern.rpc.serialization.hessian;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.Serializable;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests the limits on map keys and set elements. Messages whose keys make hashing slow are rejected, and ordinary keys
 * are accepted.
 */
class EqualKeysTest {

    /**
     * A class that resembles an entity. The hash code of an instance depends only on its id, even though the instance
     * refers to its parent.
     */
    static class Child implements Serializable {
        int id;

        @Nullable
        Parent parent;

        @Override
        public int hashCode() {
            return 17;
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Child child && child.id == id;
        }
    }

    static class Parent implements Serializable {
        int id;
        List<Integer> numbers = new ArrayList<>();
        Set<Child> children = new LinkedHashSet<>();
        Set<Child> favourites = new LinkedHashSet<>();

        @Override
        public int hashCode() {
            return id;
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Parent parent && parent.id == id;
        }
    }

    interface Family {
        List<Parent> parents();
    }

    private final Coding coding = Coding.of(Family.class);

    /** Returns a different string for each number. All these strings have the same hash code. */
    private static String text(int number) {
        StringBuilder text = new StringBuilder();
        for (int bit = 0; bit < 12; bit++) {
            text.append((number >> bit & 1) == 0 ? "Aa" : "BB");
        }
        return text.toString();
    }

    private static long number(int number) {
        return (long) number << 32 | Integer.toUnsignedLong(number ^ text(0).hashCode());
    }

    static List<Map<Object, Object>> tables() {
        return List.of(new HashMap<>(), new LinkedHashMap<>(), new ConcurrentHashMap<>());
    }

    @ParameterizedTest
    @MethodSource("tables")
    void textsAndNumbersOfEqualHashAreRefusedByNameOfTheLimit(Map<Object, Object> map) {
        IntStream.range(0, 200).forEach(i -> map.put(number(i), i));
        IntStream.range(0, 200).forEach(i -> map.put(text(i), i));

        assertThatThrownBy(() -> coding.through(map, Object.class))
                .hasMessageContaining("more than 256 keys of a map, or elements of a set, have the same hash")
                .hasMessageContaining("rpc.limits.max-equal-keys");
    }

    @Test
    void manyNumbersOfEqualHashDoNotHideTheFirstText() {
        Set<Object> set = new LinkedHashSet<>();
        IntStream.range(0, 2_000).forEach(i -> set.add(number(i)));
        assertThat(coding.through(set, Object.class)).isEqualTo(set);

        set.add(text(0));

        assertThatThrownBy(() -> coding.through(set, Object.class)).hasMessageContaining("rpc.limits.max-equal-keys");
    }

    @ParameterizedTest
    @ValueSource(ints = {10, 63, 64, 65, 1_000, 50_000})
    void mixedKeysOfOtherHashesAreRead(int count) {
        Map<Object, Object> map = new HashMap<>();
        IntStream.range(0, count).forEach(i -> {
            map.put(i, "i");
            map.put((long) i, "l");
            map.put("t" + i, "t");
            map.put(i + 0.5, "d");
        });

        assertThat(coding.through(map, Object.class)).isEqualTo(map);
    }

    @Test
    void timesOfEqualHashAreRefusedAndOthersRead() {
        LocalDateTime first = LocalDateTime.of(2026, 1, 1, 0, 0);
        Set<Object> honest = new HashSet<>();
        Set<Object> equal = new LinkedHashSet<>();
        IntStream.range(0, 20_000).forEach(i -> honest.add(first.plusSeconds(i)));
        for (int day = 1; day <= 28 * 40; day++) {
            // A LocalDateTime's hash code is the exclusive or of the hash codes of the date and the time.
            LocalDateTime date = first.plusDays(day);
            int wanted = date.toLocalDate().hashCode() ^ 0x7fff_0000;
            long nanos = Integer.toUnsignedLong(wanted);
            equal.add(date.toLocalDate().atTime(java.time.LocalTime.ofNanoOfDay(nanos)));
        }

        assertThat(coding.through(honest, Object.class)).isEqualTo(honest);
        assertThatThrownBy(() -> coding.through(equal, Object.class)).hasMessageContaining("rpc.limits.max-equal-keys");
    }

    @Test
    void keysOfOneOrderedClassMayAllHaveTheSameHash() {
        Map<Object, Object> map = new HashMap<>();
        IntStream.range(0, 4_000).forEach(i -> map.put(text(i), i));

        assertThat(coding.through(map, Object.class)).isEqualTo(map);
        assertThat(coding.through(new TreeMap<>(map), Object.class)).isEqualTo(map);
    }

    /** The entities have a constant hash code, as is common for entities whose id is assigned by the database. */
    @Test
    @SuppressWarnings("unchecked") // The cast is safe, because the test sends a value of this type.
    void entitiesThatReferToTheirParentAreRead() {
        List<Parent> parents = new ArrayList<>();
        for (int p = 0; p < 3; p++) {
            Parent parent = new Parent();
            parent.id = p;
            IntStream.range(0, 10_000).forEach(parent.numbers::add);
            for (int i = 0; i < 800; i++) {
                Child child = new Child();
                child.id = i;
                child.parent = parent;
                parent.children.add(child);
                if (i % 100 == 0) {
                    parent.favourites.add(child);
                }
            }
            parents.add(parent);
        }

        List<Parent> read = (List<Parent>) coding.through(parents, List.class);

        assertThat(read).hasSize(3).allSatisfy(parent -> {
            assertThat(parent.children)
                    .hasSize(800)
                    .allSatisfy(child -> assertThat(child.parent).isSameAs(parent));
            assertThat(parent.favourites).hasSize(8);
        });
    }

    @Test
    void keyThatContainsItselfIsRefused() {
        assertThatThrownBy(() -> coding.read(Bombs.keys(4_000).get("tables each of which reaches all others")))
                .hasMessageContaining("a key or an element of a set refers to a Hashtable that holds itself");
    }
}
