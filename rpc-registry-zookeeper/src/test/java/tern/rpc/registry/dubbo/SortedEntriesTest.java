package tern.rpc.registry.dubbo;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Comparator;
import java.util.List;
import org.junit.jupiter.api.Test;

class SortedEntriesTest {

    private record Entry(int place, String name) {}

    private final SortedEntries<Entry> sorted = new SortedEntries<>(Comparator.comparingInt(Entry::place));

    @Test
    void entriesAreInOrderAfterEachChange() {
        Entry two = new Entry(2, "a");
        sorted.add(new Entry(3, "a"));
        sorted.add(two);
        sorted.add(new Entry(1, "a"));
        assertThat(sorted.list()).extracting(Entry::place).containsExactly(1, 2, 3);

        sorted.remove(two);
        sorted.add(new Entry(4, "a"));
        sorted.add(new Entry(0, "a"));

        assertThat(sorted.list()).extracting(Entry::place).containsExactly(0, 1, 3, 4);
    }

    @Test
    void listIsTheSameObjectUntilAnEntryChanges() {
        sorted.add(new Entry(1, "a"));
        List<Entry> first = sorted.list();

        assertThat(sorted.list()).isSameAs(first);
        sorted.add(new Entry(2, "a"));
        assertThat(sorted.list()).isNotSameAs(first);
        assertThat(first).hasSize(1);
    }

    @Test
    void onlyTheRemovedOneOfEqualEntriesLeaves() {
        Entry one = new Entry(1, "a");
        Entry equal = new Entry(1, "a");
        sorted.add(one);
        sorted.add(equal);
        sorted.list();

        sorted.remove(one);

        assertThat(sorted.list()).singleElement().isSameAs(equal);
    }

    @Test
    void entryAddedAndRemovedBetweenTwoListsIsInNeither() {
        Entry entry = new Entry(1, "a");
        sorted.add(entry);
        sorted.remove(entry);

        assertThat(sorted.list()).isEmpty();
    }
}
