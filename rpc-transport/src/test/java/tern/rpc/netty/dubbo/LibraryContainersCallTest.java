package tern.rpc.netty.dubbo;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.collect.ImmutableCollection;
import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ImmutableMultiset;
import com.google.common.collect.ImmutableSet;
import com.google.common.collect.ImmutableSortedMap;
import com.google.common.collect.ImmutableSortedSet;
import com.google.common.collect.Lists;
import com.google.common.collect.Maps;
import com.google.common.collect.Sets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tern.rpc.client.RpcClient;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.server.ServiceExport;

/** Tests calls whose arguments and results are Guava collections and maps. */
@Timeout(60)
class LibraryContainersCallTest {

    interface Containers {
        List<String> list(List<String> value);

        Collection<Integer> collection(Collection<Integer> value);

        Set<String> set(Set<String> value);

        SortedSet<String> sortedSet(SortedSet<String> value);

        Map<String, Integer> map(Map<String, Integer> value);

        SortedMap<String, Integer> sortedMap(SortedMap<String, Integer> value);

        List<Map<String, List<String>>> nested(List<Map<String, List<String>>> value);

        Object any(Object value);
    }

    private static final ImmutableMap<String, Integer> NUMBERS = ImmutableMap.of("z", 1, "y", 2, "a", 3);

    private final Sides sides = new Sides();
    private final Containers containers = containers();

    private Containers containers() {
        int port = sides.serve(
                        limits -> limits, settings -> settings.export(ServiceExport.of(Containers.class, new Guava())))
                .port();
        RpcClient client = sides.client(limits -> limits);
        return Sides.refer(Containers.class, client, settings -> {}, new Endpoint("127.0.0.1", port));
    }

    @AfterEach
    void close() {
        sides.close();
    }

    /** Returns its argument in a Guava collection or map. */
    private static final class Guava implements Containers {
        @Override
        public List<String> list(List<String> value) {
            return ImmutableList.copyOf(value);
        }

        @Override
        public Collection<Integer> collection(Collection<Integer> value) {
            ImmutableCollection<Integer> copy = ImmutableMultiset.copyOf(value);
            return copy;
        }

        @Override
        public Set<String> set(Set<String> value) {
            return ImmutableSet.copyOf(value);
        }

        @Override
        public SortedSet<String> sortedSet(SortedSet<String> value) {
            return ImmutableSortedSet.copyOf(value);
        }

        @Override
        public Map<String, Integer> map(Map<String, Integer> value) {
            return ImmutableMap.copyOf(value);
        }

        @Override
        public SortedMap<String, Integer> sortedMap(SortedMap<String, Integer> value) {
            return ImmutableSortedMap.copyOf(value);
        }

        @Override
        public List<Map<String, List<String>>> nested(List<Map<String, List<String>>> value) {
            return ImmutableList.copyOf(value);
        }

        @Override
        public Object any(Object value) {
            return value instanceof Map<?, ?> map ? ImmutableMap.copyOf(map) : ImmutableList.copyOf((List<?>) value);
        }
    }

    @Test
    void listsArriveAsArrayLists() {
        assertThat(containers.list(ImmutableList.of("z", "a")))
                .isExactlyInstanceOf(ArrayList.class)
                .containsExactly("z", "a");
        assertThat(containers.list(ImmutableList.of())).isEmpty();
        assertThat(containers.list(Lists.transform(List.of(1, 2), String::valueOf)))
                .containsExactly("1", "2");
        assertThat(containers.list(Lists.reverse(List.of("a", "b")))).containsExactly("b", "a");
        assertThat(containers.collection(NUMBERS.values()))
                .isExactlyInstanceOf(ArrayList.class)
                .containsExactly(1, 2, 3);
    }

    @Test
    void setsArriveInTheirOrder() {
        assertThat(containers.set(ImmutableSet.of("z", "y", "a")))
                .isExactlyInstanceOf(LinkedHashSet.class)
                .containsExactly("z", "y", "a");
        assertThat(containers.set(NUMBERS.keySet())).containsExactly("z", "y", "a");
        assertThat(containers.set(Sets.union(Set.of("a"), Set.of("b")))).containsExactlyInAnyOrder("a", "b");
        assertThat(containers.sortedSet(ImmutableSortedSet.of("b", "a")))
                .isExactlyInstanceOf(TreeSet.class)
                .containsExactly("a", "b");
    }

    @Test
    void mapsArriveInTheirOrder() {
        assertThat(containers.map(NUMBERS))
                .isExactlyInstanceOf(LinkedHashMap.class)
                .containsExactlyEntriesOf(NUMBERS);
        assertThat(containers.map(Maps.filterKeys(NUMBERS, "z"::equals))).containsExactly(Map.entry("z", 1));
        assertThat(containers.map(Maps.transformValues(NUMBERS, number -> number + 1)))
                .containsEntry("z", 2);
        assertThat(containers.sortedMap(ImmutableSortedMap.copyOf(NUMBERS)))
                .isExactlyInstanceOf(TreeMap.class)
                .isEqualTo(NUMBERS);
        assertThat(containers.nested(ImmutableList.of(ImmutableMap.of("k", ImmutableList.of("v")))))
                .isEqualTo(List.of(Map.of("k", List.of("v"))));
    }

    @Test
    void immutableContainersArriveWhereObjectIsDeclared() {
        assertThat(containers.any(NUMBERS)).isEqualTo(NUMBERS);
        assertThat(containers.any(ImmutableList.of(NUMBERS))).isEqualTo(List.of(NUMBERS));
    }
}
