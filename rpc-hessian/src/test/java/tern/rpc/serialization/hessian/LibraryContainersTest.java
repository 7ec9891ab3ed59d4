package tern.rpc.serialization.hessian;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.example.library.Containers.FixedList;
import com.example.library.Containers.FixedMap;
import com.example.library.Containers.FixedSet;
import com.example.library.Containers.OpenList;
import com.example.library.Containers.OpenMap;
import com.example.library.Containers.OpenSet;
import com.example.library.Containers.ViewList;
import java.io.Serializable;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Queue;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.serialization.SerializationException;

/** Tests collections and maps whose classes belong to libraries that the receiver may not have. */
class LibraryContainersTest {

    static class Order implements Serializable {
        @Nullable
        Map<String, List<String>> lines;

        @Nullable
        Set<Integer> numbers;

        @Nullable
        Object any;
    }

    static class Names extends ArrayList<String> {}

    /**
     * An application's list class. The list replaces itself with an object whose {@code readResolve} method restores
     * the list.
     */
    static final class Restored extends AbstractList<String> implements Serializable {
        private final List<String> elements;

        Restored(List<String> elements) {
            this.elements = elements;
        }

        @Override
        public String get(int index) {
            return elements.get(index);
        }

        @Override
        public int size() {
            return elements.size();
        }

        private Object writeReplace() {
            return new Joined(String.join(",", elements));
        }
    }

    static final class Joined implements Serializable {
        private final String text;

        Joined(String text) {
            this.text = text;
        }

        private Object readResolve() {
            return new Restored(List.of(text.split(",")));
        }
    }

    interface Orders {
        Order find(Names names, Restored restored, Joined joined);
    }

    private final Coding coding = Coding.of(Orders.class);

    private static OpenList<String> openList() {
        OpenList<String> list = new OpenList<>();
        list.addAll(List.of("z", "a"));
        return list;
    }

    private static OpenSet<String> openSet() {
        OpenSet<String> set = new OpenSet<>();
        set.addAll(List.of("z", "y", "a"));
        return set;
    }

    private static OpenMap<Integer> openMap() {
        OpenMap<Integer> map = new OpenMap<>();
        map.put("z", 1);
        map.put("y", 2);
        map.put("a", 3);
        return map;
    }

    @Test
    void listArrivesAsTheDeclaredTypeOfTheJdk() {
        assertArrivesAs(openList(), List.class, ArrayList.class);
        assertArrivesAs(openList(), Collection.class, ArrayList.class);
        assertArrivesAs(openList(), Iterable.class, ArrayList.class);
        assertArrivesAs(openList(), ArrayList.class, ArrayList.class);
        assertArrivesAs(openList(), Queue.class, LinkedList.class);
        assertArrivesAs(openSet(), Collection.class, ArrayList.class);
    }

    @Test
    void setKeepsItsOrderUnlessASortedSetIsDeclared() {
        assertArrivesAs(openSet(), Set.class, LinkedHashSet.class);
        assertArrivesAs(openSet(), HashSet.class, LinkedHashSet.class);
        assertThat((Iterable<?>) coding.through(openSet(), SortedSet.class))
                .isInstanceOf(TreeSet.class)
                .map(Object::toString)
                .containsExactly("a", "y", "z");
    }

    @Test
    void mapKeepsItsOrderUnlessASortedMapIsDeclared() {
        for (Class<?> declared : List.of(Map.class, HashMap.class)) {
            assertThat(coding.through(openMap(), declared))
                    .isExactlyInstanceOf(LinkedHashMap.class)
                    .isEqualTo(openMap())
                    .hasToString("{z=1, y=2, a=3}");
        }
        assertThat(coding.through(openMap(), NavigableMap.class))
                .isExactlyInstanceOf(TreeMap.class)
                .hasToString("{a=3, y=2, z=1}");
        assertThat(coding.through(openMap(), ConcurrentMap.class)).isExactlyInstanceOf(ConcurrentHashMap.class);
    }

    private void assertArrivesAs(Collection<String> sent, Class<?> declared, Class<?> expected) {
        Object arrived = coding.through(sent, declared);

        assertThat(arrived).isExactlyInstanceOf(expected);
        assertThat((Collection<?>) arrived).map(Object::toString).containsExactlyElementsOf(sent);
    }

    @Test
    void containersInFieldsAndContainersArriveToo() {
        OpenMap<List<String>> lines = new OpenMap<>();
        lines.put("first", openList());
        Order order = new Order();
        order.lines = lines;
        order.numbers = new FixedSet<>(List.of(2, 1));

        Order arrived = (Order) coding.through(order, Order.class);

        assertThat(arrived.lines).isExactlyInstanceOf(LinkedHashMap.class).isEqualTo(lines);
        assertThat(arrived.lines.get("first")).isExactlyInstanceOf(ArrayList.class);
        assertThat(arrived.numbers).isExactlyInstanceOf(LinkedHashSet.class).containsExactly(2, 1);
    }

    @Test
    void containerThatIsSentTwiceArrivesOnce() {
        OpenList<String> open = openList();
        FixedList<String> fixed = new FixedList<>(List.of("a"));
        Order order = new Order();
        order.lines = new LinkedHashMap<>();
        order.lines.put("first", open);
        order.lines.put("second", fixed);
        order.lines.put("third", open);
        order.lines.put("fourth", fixed);

        Map<String, List<String>> arrived = ((Order) coding.through(order, Order.class)).lines;

        assertThat(arrived).isEqualTo(order.lines);
        assertThat(arrived.get("third")).isSameAs(arrived.get("first"));
        assertThat(arrived.get("fourth")).isSameAs(arrived.get("second"));
    }

    @Test
    void classOfALibraryIsRefusedWhereNoCollectionIsDeclared() {
        for (Class<?> declared : List.of(Object.class, Serializable.class, Names.class, Order.class)) {
            assertThatThrownBy(() -> coding.through(openList(), declared))
                    .isInstanceOf(SerializationException.class)
                    .hasMessageContaining("rpc.limits.allowed-classes=" + OpenList.class.getName());
        }
    }

    @Test
    void configuredClassAndClassOfTheServiceStayThemselves() {
        Coding allowing = new Coding(
                HessianSerializer.builder().allow(OpenMap.class.getName()).build(), Orders.class);
        Names names = new Names();
        names.add("a");

        assertThat(allowing.through(openMap(), Map.class)).isExactlyInstanceOf(OpenMap.class);
        assertThat(allowing.through(openMap(), Object.class)).isExactlyInstanceOf(OpenMap.class);
        assertThat(allowing.through(openList(), List.class)).isExactlyInstanceOf(ArrayList.class);
        assertThat(coding.through(names, List.class)).isExactlyInstanceOf(Names.class);
    }

    @Test
    void auditReadsTheSameContainers() {
        Coding audited = new Coding(HessianSerializer.builder().audit().build(), Orders.class);

        assertThat(audited.through(openList(), List.class)).isExactlyInstanceOf(ArrayList.class);
        assertThat(audited.through(openMap(), Map.class)).isExactlyInstanceOf(LinkedHashMap.class);
    }

    @Test
    void containerThatNoReaderCanCreateIsWrittenAsOneOfTheJdk() {
        for (Class<?> declared : List.of(List.class, Object.class)) {
            assertThat(coding.through(new FixedList<>(List.of("z", "a")), declared))
                    .isExactlyInstanceOf(ArrayList.class)
                    .isEqualTo(List.of("z", "a"));
            assertThat(coding.through(new ViewList<>(List.of("z", "a")), declared))
                    .isExactlyInstanceOf(ArrayList.class)
                    .isEqualTo(List.of("z", "a"));
        }
        for (Class<?> declared : List.of(Set.class, Object.class)) {
            assertThat(coding.through(new FixedSet<>(List.of("z", "a")), declared))
                    .isExactlyInstanceOf(LinkedHashSet.class)
                    .hasToString("[z, a]");
        }
        for (Class<?> declared : List.of(Map.class, Object.class)) {
            assertThat(coding.through(new FixedMap<>(openMap()), declared))
                    .isExactlyInstanceOf(LinkedHashMap.class)
                    .hasToString("{z=1, y=2, a=3}");
        }
    }

    @Test
    // Some applications fill lists in the initializer of an anonymous subclass.
    @SuppressWarnings("DoubleBraceInitialization")
    void anonymousClassIsWrittenAsTheClassThatItExtends() {
        ArrayList<String> list = new ArrayList<>() {
            {
                add("a");
            }
        };
        HashMap<String, Integer> map = new HashMap<>() {
            {
                put("a", 1);
            }
        };
        Names names = new Names() {
            {
                add("a");
            }
        };

        assertThat(coding.through(list, Object.class))
                .isExactlyInstanceOf(ArrayList.class)
                .isEqualTo(List.of("a"));
        assertThat(coding.through(map, Object.class))
                .isExactlyInstanceOf(HashMap.class)
                .isEqualTo(Map.of("a", 1));
        assertThat(coding.through(names, Names.class))
                .isExactlyInstanceOf(Names.class)
                .isEqualTo(List.of("a"));
    }

    @Test
    void containerOfTheServiceMayReplaceItself() {
        Restored restored = new Restored(List.of("a", "b"));

        assertThat(coding.through(restored, Restored.class))
                .isExactlyInstanceOf(Restored.class)
                .isEqualTo(restored);
    }

    @Test
    void elementsCountTowardsTheLimits() {
        HessianLimits limits = new HessianLimits(64, 3, 4, 4, 64, 4, 1000);
        Coding limited = new Coding(HessianSerializer.builder().limits(limits).build(), Orders.class);

        assertThat(limited.read(Coding.bytes("72 \"a.B\" 91 92"), List.class)).isEqualTo(List.of(1, 2));
        assertThatThrownBy(() -> limited.read(Coding.bytes("73 \"a.B\" 91 92 93"), List.class))
                .isInstanceOf(SerializationException.class)
                .hasMessageContaining("rpc.limits.max-values");
    }

    @ParameterizedTest
    @ValueSource(strings = {"com.sun.rowset.JdbcRowSetImpl", "java.util.Scanner", "[", "", "\u0000"})
    void strangeNamesAreNeverLoaded(String name) {
        Class<?> service = RecordingLoader.copyOf(PlainService.class);
        Coding recording = Coding.of(service);
        RecordingLoader.asked(service).clear();

        assertThat(recording.read(Coding.bytes("4d \"" + name + "\" 5a"), Map.class))
                .isEqualTo(Map.of());
        assertThat(RecordingLoader.asked(service)).isEmpty();
    }
}
