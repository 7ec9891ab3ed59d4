package tern.rpc.serialization;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.Serializable;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tern.rpc.Metadata;
import tern.rpc.MethodDescriptor;
import tern.rpc.ServiceDescriptor;

/** The contract that every serialization format must satisfy. */
public abstract class SerializerContractTest {

    public enum Colour {
        RED,
        GREEN {
            @Override
            public String toString() {
                return "grass";
            }
        }
    }

    public record Point(int x, int y) implements Serializable {}

    /** A bean with a field of each common type. */
    public static class Person implements Serializable {
        private @Nullable String name;
        private int age;
        private long id;
        private double ratio;
        private boolean active;
        private @Nullable Colour colour;
        private @Nullable List<String> tags;
        private @Nullable BigDecimal balance;
        private @Nullable Point home;
        private @Nullable Person friend;

        public @Nullable String getName() {
            return name;
        }

        public void setName(@Nullable String name) {
            this.name = name;
        }

        public int getAge() {
            return age;
        }

        public void setAge(int age) {
            this.age = age;
        }

        public long getId() {
            return id;
        }

        public void setId(long id) {
            this.id = id;
        }

        public double getRatio() {
            return ratio;
        }

        public void setRatio(double ratio) {
            this.ratio = ratio;
        }

        public boolean isActive() {
            return active;
        }

        public void setActive(boolean active) {
            this.active = active;
        }

        public @Nullable Colour getColour() {
            return colour;
        }

        public void setColour(@Nullable Colour colour) {
            this.colour = colour;
        }

        public @Nullable List<String> getTags() {
            return tags;
        }

        public void setTags(@Nullable List<String> tags) {
            this.tags = tags;
        }

        public @Nullable BigDecimal getBalance() {
            return balance;
        }

        public void setBalance(@Nullable BigDecimal balance) {
            this.balance = balance;
        }

        public @Nullable Point getHome() {
            return home;
        }

        public void setHome(@Nullable Point home) {
            this.home = home;
        }

        public @Nullable Person getFriend() {
            return friend;
        }

        public void setFriend(@Nullable Person friend) {
            this.friend = friend;
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Person that
                    && Objects.equals(name, that.name)
                    && age == that.age
                    && id == that.id
                    && ratio == that.ratio
                    && active == that.active
                    && colour == that.colour
                    && Objects.equals(tags, that.tags)
                    && Objects.equals(balance, that.balance)
                    && Objects.equals(home, that.home)
                    && Objects.equals(friend, that.friend);
        }

        @Override
        public int hashCode() {
            return Objects.hash(name, age, id);
        }
    }

    /** One method for each type, with one parameter of this type. */
    public interface Everything {
        void intPosition(int value);

        void longPosition(long value);

        void doublePosition(double value);

        void floatPosition(float value);

        void bytePosition(byte value);

        void shortPosition(short value);

        void charPosition(char value);

        void booleanPosition(boolean value);

        void boxedPosition(Integer value);

        void textPosition(String value);

        void bytesPosition(byte[] value);

        void intsPosition(int[] value);

        void textsPosition(String[] value);

        void enumPosition(Colour value);

        void recordPosition(Point value);

        void beanPosition(Person value);

        void pointsPosition(Point[] value);

        void longListPosition(List<Long> value);

        void beanListPosition(List<Person> value);

        void enumSetPosition(Set<Colour> value);

        void mapPosition(Map<String, List<Point>> value);

        void decimalPosition(BigDecimal value);

        void instantPosition(Instant value);

        void datePosition(LocalDate value);

        void uuidPosition(UUID value);

        void fail() throws Failure;
    }

    public static class Failure extends Exception {
        private final int code;

        public Failure(int code, String message) {
            super(message);
            this.code = code;
        }

        public int getCode() {
            return code;
        }
    }

    private static final ServiceDescriptor SERVICE = ServiceDescriptor.of(Everything.class);

    private final OutputBuffer buffer = new OutputBuffer();
    private final Serializer serializer = serializer();
    private final ObjectWriter writer = serializer.newWriter();
    private final ObjectReader reader = serializer.newReader();

    /** Creates a serializer with default settings. */
    protected abstract Serializer serializer();

    /** Returns a value that the tested format cannot encode. */
    protected abstract Object unwritable();

    @BeforeEach
    void prepare() {
        serializer.prepare(SERVICE);
        begin(Integer.MAX_VALUE);
    }

    private void begin(int limit) {
        buffer.reset(limit);
        writer.start(buffer);
    }

    private ObjectReader reading() {
        writer.finish();
        byte[] bytes = buffer.toByteArray();
        reader.start(bytes, 0, bytes.length);
        reader.trust(SERVICE);
        return reader;
    }

    private @Nullable Object through(String method, @Nullable Object value) {
        MethodDescriptor descriptor = SERVICE.overloads(method).get(0);
        writer.writeObject(value);
        return reading().readObject(descriptor.parameters().get(0));
    }

    private void assertArrives(String method, @Nullable Object value) {
        begin(Integer.MAX_VALUE);
        Object read = through(method, value);

        assertThat(read).isEqualTo(value);
        assertThat(reader.remaining()).isZero();
    }

    @Test
    void numbersArriveAsDeclared() {
        assertArrives("intPosition", Integer.MIN_VALUE);
        assertArrives("longPosition", Long.MAX_VALUE);
        assertArrives("longPosition", 1L);
        assertArrives("doublePosition", Math.PI);
        assertArrives("floatPosition", 0.1f);
        assertArrives("bytePosition", (byte) -7);
        assertArrives("shortPosition", (short) 700);
        assertArrives("boxedPosition", 42);
        assertArrives("decimalPosition", new BigDecimal("12.500"));
    }

    @Test
    void textAndFlagsArrive() {
        assertArrives("charPosition", 'x');
        assertArrives("booleanPosition", true);
        assertArrives("textPosition", "");
        assertArrives("textPosition", "plain");
        assertArrives("textPosition", "ü 漢 \uD83D\uDE00 \uD800 end");
        assertArrives("textPosition", "x".repeat(100_000));
        assertArrives("textPosition", "漢\uD83D\uDE00".repeat(50_000));
    }

    @Test
    void arraysArrive() {
        assertArrives("bytesPosition", new byte[] {1, -1, 0});
        assertArrives("bytesPosition", new byte[100_000]);
        assertArrives("intsPosition", new int[] {1, -1, 1 << 20});
        assertArrives("textsPosition", new String[] {"a", null});
        assertArrives("pointsPosition", new Point[] {new Point(1, 2), null});
    }

    @Test
    void nullArrivesAtEveryPositionOfAClass() {
        for (String method : List.of("boxedPosition", "textPosition", "bytesPosition", "beanPosition", "mapPosition")) {
            begin(Integer.MAX_VALUE);
            assertThat(through(method, null)).isNull();
        }
    }

    @Test
    void valueTypesArrive() {
        assertArrives("enumPosition", Colour.GREEN);
        assertArrives("recordPosition", new Point(-1, 1));
        assertArrives("instantPosition", Instant.ofEpochSecond(5, 7));
        assertArrives("datePosition", LocalDate.of(2024, 2, 29));
        assertArrives("uuidPosition", new UUID(1, 2));
    }

    @Test
    void beansArriveWithAllTheirFields() {
        Person person = person("one");
        person.setFriend(person("two"));

        assertArrives("beanPosition", person);
    }

    private static Person person(String name) {
        Person person = new Person();
        person.setName(name);
        person.setAge(-3);
        person.setId(1L << 40);
        person.setRatio(0.25);
        person.setActive(true);
        person.setColour(Colour.GREEN);
        person.setTags(new ArrayList<>(List.of("a", "b")));
        person.setBalance(new BigDecimal("1.50"));
        person.setHome(new Point(3, 4));
        return person;
    }

    @Test
    void collectionsArriveWithElementsOfTheDeclaredType() {
        assertArrives("longListPosition", new ArrayList<>(Arrays.asList(1L, null, 1L << 40)));
        assertArrives("beanListPosition", List.of(person("one"), person("two")));
        assertArrives("enumSetPosition", Set.of(Colour.RED, Colour.GREEN));
        Map<String, List<Point>> map = new LinkedHashMap<>();
        map.put("a", List.of(new Point(1, 2)));
        map.put("b", List.of());
        assertArrives("mapPosition", map);
    }

    @Test
    void valueOfAnotherTypeThanDeclaredIsRefused() {
        assertRefused("intPosition", "text");
        assertRefused("bytePosition", 300);
        assertRefused("recordPosition", List.of());
        assertRefused("textPosition", List.of("x"));
        assertRefused("longListPosition", "text");
    }

    private void assertRefused(String method, Object value) {
        begin(Integer.MAX_VALUE);
        assertThatThrownBy(() -> through(method, value)).isInstanceOf(SerializationException.class);
    }

    @Test
    void severalValuesFollowEachOther() {
        writer.writeString("first");
        writer.writeString(null);
        writer.writeInt(77);
        writer.writeObject(new Point(1, 2));
        writer.writeObject("last");
        ObjectReader read = reading();

        assertThat(read.readString()).isEqualTo("first");
        assertThat(read.readString()).isNull();
        assertThat(read.readInt()).isEqualTo(77);
        assertThat(read.readObject(parameter("recordPosition"))).isEqualTo(new Point(1, 2));
        assertThat(read.readObject(parameter("textPosition"))).isEqualTo("last");
        assertThat(read.remaining()).isZero();
    }

    private static tern.rpc.ValueType parameter(String method) {
        return SERVICE.overloads(method).get(0).parameters().get(0);
    }

    @Test
    void metadataNeedsNoTrust() {
        writer.startMap();
        writer.writeString("text");
        writer.writeString("value");
        writer.writeString("number");
        writer.writeInt(5);
        writer.writeString("bytes");
        writer.writeBytes(new byte[] {1, 2, -1});
        writer.endMap();
        writer.finish();
        byte[] bytes = buffer.toByteArray();
        Metadata read = new Metadata();

        reader.start(bytes, 0, bytes.length);
        reader.readMetadata(read);

        assertThat(read.get("text")).isEqualTo("value");
        assertThat(read.get("number")).isEqualTo("5");
        assertThat(read.getBytes("bytes")).containsExactly(1, 2, -1);
        assertThat(reader.remaining()).isZero();
    }

    @Test
    void exceptionsArriveWithMessageCauseAndFields() {
        Failure failure = new Failure(12, "failed");
        failure.initCause(new IllegalStateException("cause"));
        writer.writeThrowable(failure, 0);

        Throwable read = reading().readThrowable();

        assertThat(read).isExactlyInstanceOf(Failure.class).hasMessage("failed");
        assertThat(((Failure) read).getCode()).isEqualTo(12);
        assertThat(read.getCause()).isInstanceOf(IllegalStateException.class).hasMessage("cause");
    }

    @Test
    void framesAreSentOnlyIfConfigured() {
        Failure failure = new Failure(12, "failed");
        failure.setStackTrace(new StackTraceElement[] {new StackTraceElement("Remote", "run", "Remote.java", 3)});

        writer.writeThrowable(failure, 1);
        Throwable with = reading().readThrowable();
        begin(Integer.MAX_VALUE);
        writer.writeThrowable(failure, 0);
        Throwable without = reading().readThrowable();

        assertThat(with.getStackTrace()).isEqualTo(failure.getStackTrace());
        assertThat(without.getStackTrace()).isEmpty();
    }

    @Test
    void theLimitOfTheBufferIsKept() {
        begin(1000);

        assertThatThrownBy(() -> {
                    writer.writeObject(person("x".repeat(2000)));
                    writer.finish();
                })
                .isInstanceOf(MessageTooLargeException.class)
                .hasMessageContaining("1000 bytes");
        assertArrives("textPosition", "next");
    }

    @Test
    void aWriterIsReusedAfterAFailure() {
        assertThatThrownBy(() -> writer.writeObject(List.of(new Point(1, 2), unwritable())))
                .isInstanceOf(SerializationException.class);

        assertArrives("recordPosition", new Point(1, 2));
        assertArrives("recordPosition", new Point(1, 2));
    }

    @Test
    void aReaderIsReusedAfterAFailure() {
        writer.writeObject(new ArrayList<>(List.of(1L, "text")));
        assertThatThrownBy(() -> reading().readObject(parameter("longListPosition")))
                .isInstanceOf(SerializationException.class);

        assertArrives("recordPosition", new Point(1, 2));
    }

    @Test
    void preparedBytesAreCopied() {
        writer.writeString("prepared");
        writer.finish();
        byte[] prepared = buffer.toByteArray();
        begin(Integer.MAX_VALUE);
        writer.writeInt(1);
        writer.writeEncoded(prepared);
        writer.writeInt(2);
        ObjectReader read = reading();

        assertThat(read.readInt()).isEqualTo(1);
        assertThat(read.readString()).isEqualTo("prepared");
        assertThat(read.readInt()).isEqualTo(2);
    }

    @Test
    void writingBeginsWhereTheBufferStands() {
        buffer.reset(Integer.MAX_VALUE);
        buffer.claim(16);
        writer.start(buffer);
        writer.writeString("after");
        writer.finish();
        byte[] bytes = buffer.toByteArray();

        reader.start(bytes, 16, bytes.length - 16);

        assertThat(reader.readString()).isEqualTo("after");
    }

    @Test
    void readingStaysInsideItsRange() {
        writer.writeString("first");
        writer.finish();
        byte[] bytes = Arrays.copyOf(buffer.toByteArray(), 500);

        reader.start(bytes, 0, 3);

        assertThatThrownBy(reader::readString).isInstanceOf(SerializationException.class);
    }

    @Test
    void objectsAreNotReadBeforeTrust() {
        writer.writeObject("x");
        writer.finish();
        byte[] bytes = buffer.toByteArray();
        reader.start(bytes, 0, bytes.length);

        assertThatThrownBy(() -> reader.readObject(parameter("textPosition")))
                .isInstanceOf(IllegalStateException.class);
    }
}
