package com.example.types;

import com.example.types.Types.Animal;
import com.example.types.Types.Failure;
import com.example.types.Types.Fixed;
import com.example.types.Types.Floating;
import com.example.types.Types.Hidden;
import com.example.types.Types.Item;
import com.example.types.Types.Level;
import com.example.types.Types.Nested;
import com.example.types.Types.Operation;
import com.example.types.Types.Page;
import com.example.types.Types.Pair;
import com.example.types.Types.Point;
import com.example.types.Types.Ring;
import com.example.types.Types.Vehicle;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URI;
import java.sql.Timestamp;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.Year;
import java.time.ZonedDateTime;
import java.util.BitSet;
import java.util.Calendar;
import java.util.Collection;
import java.util.Currency;
import java.util.Date;
import java.util.Deque;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.LinkedList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;

/** A service with one method for each kind of type. Each method returns its argument. */
public interface TypeService {
    int aInt(int value);

    Integer aNull(Integer value);

    long aLong(long value);

    short aShort(short value);

    byte aByte(byte value);

    char aChar(char value);

    boolean aBoolean(boolean value);

    double aDouble(double value);

    float aFloat(float value);

    String text(String value);

    byte[] bytes(byte[] value);

    int[] ints(int[] value);

    long[][] longsInLongs(long[][] value);

    String[] texts(String[] value);

    Item[] items(Item[] value);

    BigDecimal decimal(BigDecimal value);

    BigInteger integer(BigInteger value);

    Date date(Date value);

    Timestamp timestamp(Timestamp value);

    Calendar calendar(Calendar value);

    Instant instant(Instant value);

    LocalDate localDate(LocalDate value);

    LocalTime localTime(LocalTime value);

    LocalDateTime localDateTime(LocalDateTime value);

    OffsetDateTime offsetDateTime(OffsetDateTime value);

    ZonedDateTime zonedDateTime(ZonedDateTime value);

    Duration duration(Duration value);

    Year year(Year value);

    UUID uuid(UUID value);

    Currency currency(Currency value);

    Locale locale(Locale value);

    URI uri(URI value);

    StringBuilder builder(StringBuilder value);

    AtomicLong atomic(AtomicLong value);

    BitSet bits(BitSet value);

    Level level(Level value);

    Operation operation(Operation value);

    EnumSet<Level> levels(EnumSet<Level> value);

    EnumMap<Level, Long> byLevel(EnumMap<Level, Long> value);

    List<String> list(List<String> value);

    List<Long> listOfLongs(List<Long> value);

    List<Item> listOf(List<Item> value);

    List<Item> unmodifiable(List<Item> value);

    List<Item> rows(List<Item> value);

    Collection<Item> collection(Collection<Item> value);

    LinkedList<String> linked(LinkedList<String> value);

    Deque<String> deque(Deque<String> value);

    Set<Integer> set(Set<Integer> value);

    Set<String> setOf(Set<String> value);

    Map<String, Item> map(Map<String, Item> value);

    Map<Long, List<Item>> nestedMap(Map<Long, List<Item>> value);

    Map<String, Integer> mapOf(Map<String, Integer> value);

    Map<String, Integer> columns(Map<String, Integer> value);

    SortedMap<String, Integer> sorted(SortedMap<String, Integer> value);

    Item bean(Item value);

    Item subclass(Item value);

    Hidden hidden(Hidden value);

    Floating floating(Floating value);

    Fixed fixed(Fixed value);

    Page<Item> page(Page<Item> value);

    Ring ring(Ring value);

    Point record(Point value);

    Pair<Point, Long> pair(Pair<Point, Long> value);

    Nested nested(Nested value);

    Vehicle sealedRecord(Vehicle value);

    Vehicle sealedClass(Vehicle value);

    Animal unlisted(Animal value);

    Object object(Object value);

    CompletableFuture<Item> later(Item value);

    Failure failure(Failure value) throws Failure;
}
