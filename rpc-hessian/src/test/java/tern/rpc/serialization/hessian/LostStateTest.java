package tern.rpc.serialization.hessian;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.io.Externalizable;
import java.io.ObjectInput;
import java.io.ObjectInputStream;
import java.io.ObjectOutput;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.sql.Timestamp;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.Calendar;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.TimeZone;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.PriorityBlockingQueue;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.slf4j.LoggerFactory;
import tern.rpc.serialization.SerializationException;

/**
 * Tests the warnings about classes whose objects lose state in hessian2, for example because {@code writeObject} is not
 * called. There must be one warning for each such class, when its first object is sent or earlier.
 */
class LostStateTest {

    private final Logger logger = (Logger) LoggerFactory.getLogger(LostState.class);
    private final ListAppender<ILoggingEvent> logged = new ListAppender<>();

    @BeforeEach
    void listen() {
        logged.start();
        logger.addAppender(logged);
        logger.setAdditive(false);
        logger.setLevel(Level.WARN);
    }

    @AfterEach
    void leave() {
        logger.detachAppender(logged);
        logger.setAdditive(true);
        logger.setLevel(null);
    }

    private List<String> warnings() {
        return logged.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
    }

    static class Writes implements Serializable {
        transient String kept = "x";

        private void writeObject(ObjectOutputStream out) {}
    }

    static class Reads implements Serializable {
        private void readObject(ObjectInputStream in) {}
    }

    static class Inherits extends Writes {}

    static class ForItself implements Externalizable {
        @Override
        public void writeExternal(ObjectOutput out) {}

        @Override
        public void readExternal(ObjectInput in) {}
    }

    static class Failed extends RuntimeException {
        private void writeObject(ObjectOutputStream out) {}
    }

    static class Named extends HashMap<String, String> {
        String name = "n";
    }

    static class Page extends ArrayList<String> {
        int total = 7;
    }

    static class Replaced implements Serializable {
        private void writeObject(ObjectOutputStream out) {}

        private Object writeReplace() {
            return "replaced";
        }
    }

    static class Plain implements Serializable {
        int number;
        transient int cache;

        public void writeObject(String other) {}
    }

    static class Own extends AbstractList<String> {
        String only = "x";

        @Override
        public String get(int index) {
            return only;
        }

        @Override
        public int size() {
            return 1;
        }
    }

    static class Alias extends ArrayList<String> {}

    static class Declared implements Serializable {
        private void writeObject(ObjectOutputStream out) {}
    }

    interface Service {
        void take(List<Declared> declared);
    }

    /** Orders objects by their {@code toString()} values, in reverse order. */
    static final class Backwards implements Comparator<Object> {
        @Override
        public int compare(Object one, Object other) {
            return other.toString().compareTo(one.toString());
        }
    }

    static Stream<Object[]> losing() {
        return Stream.of(
                new Object[] {new Writes(), "writeObject is not called"},
                new Object[] {new Reads(), "readObject is not called"},
                new Object[] {new Inherits(), "writeObject is not called"},
                new Object[] {new ForItself(), "writeExternal is not called"},
                new Object[] {new Failed(), "writeObject is not called"},
                new Object[] {new Named(), "only its entries are sent, and its fields name are not"},
                new Object[] {new Page(), "only its elements are sent, and its fields total are not"});
    }

    @ParameterizedTest
    @MethodSource("losing")
    void classThatLosesStateIsNamedOnce(Object value, String reason) {
        Coding.of(PlainService.class).write(value);
        Coding.of(PlainService.class).write(value);

        assertThat(warnings())
                .singleElement()
                .asString()
                .startsWith("Objects of " + value.getClass().getName() + " lose state in hessian2: " + reason);
    }

    static Stream<Object> keeping() {
        return Stream.of(
                new Plain(), new Replaced(), new Alias(), new Own(), List.of("a"), new TreeMap<>(Map.of("a", "b")));
    }

    @ParameterizedTest
    @MethodSource("keeping")
    void classThatKeepsItsStateIsNotNamed(Object value) {
        Coding.of(PlainService.class).write(value);

        assertThat(warnings()).isEmpty();
    }

    @Test
    void classInASignatureIsNamedAtTheStart() {
        Coding.of(Service.class);

        assertThat(warnings())
                .singleElement()
                .asString()
                .startsWith("Objects of " + Declared.class.getName() + " lose state in hessian2");
    }

    static Stream<Object> sorted() {
        return Stream.of(
                new TreeMap<>(new Backwards()),
                new TreeSet<>(new Backwards()),
                new ConcurrentSkipListMap<>(new Backwards()),
                new ConcurrentSkipListSet<>(new Backwards()),
                new PriorityQueue<>(new Backwards()),
                new PriorityBlockingQueue<>(3, new Backwards()));
    }

    @ParameterizedTest
    @MethodSource("sorted")
    @SuppressWarnings("unchecked")
    void comparatorThatIsNotSentIsNamedOnce(Object container) {
        if (container instanceof Map<?, ?> map) {
            ((Map<Object, Object>) map).put("a", "b");
        } else {
            ((Collection<Object>) container).add("a");
        }

        Coding.of(PlainService.class).write(container);
        Coding.of(PlainService.class).write(container);

        assertThat(warnings())
                .singleElement()
                .asString()
                .startsWith("A " + container.getClass().getName() + " with the comparator " + Backwards.class.getName()
                        + " loses its order in hessian2");
    }

    record Rank(int number) implements Serializable {}

    interface Ranking {
        void rank(List<Rank> ranks);
    }

    @Test
    void elementsThatOnlyTheirComparatorSortsAreNamedByTheReceiver() {
        Set<Rank> ranks = new TreeSet<>(Comparator.comparing(Rank::number));
        ranks.add(new Rank(1));
        Map<Rank, String> names = new TreeMap<>(Comparator.comparing(Rank::number));
        names.put(new Rank(1), "first");
        Coding coding = Coding.of(Ranking.class);

        for (Object sorted : List.of(ranks, names)) {
            assertThatThrownBy(() -> coding.read(coding.write(sorted)))
                    .isInstanceOf(SerializationException.class)
                    .hasMessageContaining(" cannot be created from its parts: " + Rank.class.getName()
                            + " is not Comparable, and the comparator of a sorted set or map is not sent:"
                            + " implement Comparable, or send a List or a LinkedHashMap (byte ");
        }
    }

    @Test
    void naturalOrderIsNotNamed() {
        Coding.of(PlainService.class).write(new TreeSet<>(List.of("a")));
        TreeMap<String, String> natural = new TreeMap<>(Comparator.naturalOrder());
        natural.put("a", "b");
        Coding.of(PlainService.class).write(natural);

        assertThat(warnings()).isEmpty();
    }

    static class Booking implements Serializable {
        Timestamp at = Timestamp.valueOf("2026-01-31 10:00:00.123456");
    }

    @Test
    void fractionsOfAMillisecondThatAreNotSentAreNamedOnce() {
        Coding coding = Coding.of(PlainService.class);

        coding.write(new Timestamp(1));
        coding.write(Timestamp.valueOf("2026-01-31 10:00:00.5"));
        assertThat(warnings()).isEmpty();

        coding.write(Timestamp.valueOf("2026-01-31 10:00:00.123456789"));
        coding.write(new Booking());

        assertThat(warnings())
                .singleElement()
                .isEqualTo("A java.sql.Timestamp loses its microseconds and nanoseconds in hessian2, because dates are"
                        + " sent in milliseconds. Send a java.time.Instant or a java.time.LocalDateTime, which keep"
                        + " them");
    }

    @Test
    void zoneOfACalendarThatIsNotSentIsNamedOnce() {
        Coding coding = Coding.of(PlainService.class);

        coding.write(Calendar.getInstance());
        assertThat(warnings()).isEmpty();

        TimeZone other = TimeZone.getTimeZone("Asia/Kathmandu"); // No other zone has its offset of 5:45 hours.
        coding.write(Calendar.getInstance(other));
        coding.write(Calendar.getInstance(other));

        assertThat(warnings())
                .singleElement()
                .isEqualTo(
                        "A java.util.GregorianCalendar loses its time zone Asia/Kathmandu in hessian2: the receiver"
                                + " uses the default zone of its process. Send a java.time.ZonedDateTime, which keeps its zone");
    }
}
