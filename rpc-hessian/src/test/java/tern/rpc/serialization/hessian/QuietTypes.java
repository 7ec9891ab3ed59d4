package tern.rpc.serialization.hessian;

import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.MonthDay;
import java.time.Period;
import java.time.Year;
import java.time.YearMonth;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collections;
import java.util.Currency;
import java.util.Date;
import java.util.GregorianCalendar;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLongArray;

/** A program that writes and reads a value of each supported type. */
public final class QuietTypes {

    private QuietTypes() {}

    public static void main(String[] arguments) {
        LocalDateTime at = LocalDateTime.of(2024, 2, 29, 1, 2, 3, 4);
        List<Object> values =
                new ArrayList<>(List.of(at, at.toLocalDate(), at.toLocalTime(), LocalTime.MIN, Year.of(1)));
        values.addAll(
                List.of(at.atZone(ZoneId.of("Europe/Paris")), at.atOffset(ZoneOffset.UTC), ZoneId.of("Asia/Tokyo")));
        values.addAll(
                List.of(at.atOffset(ZoneOffset.UTC).toOffsetTime(), Instant.EPOCH, Duration.ofNanos(1), Period.ZERO));
        values.addAll(List.of(YearMonth.of(2000, 1), MonthDay.of(1, 1), ZoneOffset.UTC, LocalDate.MAX, new Date(5)));
        values.addAll(List.of(new UUID(1, 2), Currency.getInstance("EUR"), BigDecimal.TEN, new GregorianCalendar()));
        values.addAll(List.of(new java.sql.Date(1), new java.sql.Timestamp(2), new java.sql.Time(3), new byte[] {1}));
        values.addAll(
                List.of(BitSet.valueOf(new long[] {5}), List.of(), List.of(1), List.of(1, 2, 3), Set.of(1, 2, 3)));
        values.addAll(
                List.of(Set.of(1), Map.of(), Map.of(1, 2), Map.of(1, 2, 3, 4), Arrays.asList(1, 2), new Object[3]));
        values.addAll(List.of(Collections.unmodifiableList(new ArrayList<>(List.of(1))), Collections.emptyMap()));
        values.addAll(
                List.of(Collections.unmodifiableMap(Map.of(1, 2)), Collections.singletonList(1), true, 1L, 2.5, 'c'));
        values.addAll(List.of(new ShapeTypes.Bean(), new Graphs.Pair("x", 1, List.of(2)), new Graphs.Node()));
        values.addAll(List.of(new StringBuilder("Ada"), new StringBuilder("\u6f22"), new StringBuffer("Ada")));
        values.addAll(List.of(new AtomicIntegerArray(new int[] {1, 2}), new AtomicLongArray(new long[] {1L << 40})));
        values.add(new IllegalStateException().getStackTrace()[0]);
        TypeShapesTest.valuesArriveAsSent().map(each -> each.get()[1]).forEach(values::add);
        Set<Class<?>> left = new HashSet<>(JdkForms.made());
        for (Object value : values) {
            // For some types, all subclasses have the same encoding, so the test uses only one subclass.
            left.removeIf(type -> type.isInstance(value));
        }
        if (!left.isEmpty()) {
            throw new IllegalStateException("no value of " + left);
        }
        Coding shapes = Coding.of(ShapeTypes.Shapes.class);
        Coding graphs = Coding.of(Graphs.Graph.class);
        for (Object value : values) {
            boolean graph = value.getClass().getName().contains("Graphs");
            (graph ? graphs : shapes).through(value, Object.class);
            if (arguments.length > 0) {
                System.err.println("after " + value.getClass());
            }
        }
        shapes.readThrowable(shapes.writeThrowable(new IllegalStateException("x", new ArithmeticException()), 3));
        System.out.println("read " + values.size());
    }
}
