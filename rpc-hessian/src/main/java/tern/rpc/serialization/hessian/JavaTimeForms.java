package tern.rpc.serialization.hessian;

import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.MonthDay;
import java.time.OffsetDateTime;
import java.time.OffsetTime;
import java.time.Period;
import java.time.Year;
import java.time.YearMonth;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Reads {@code java.time} values, which are encoded as hessian-lite's handles. A handle's fields are read without
 * loading the handle class.
 */
final class JavaTimeForms {

    private static final String PACKAGE = JdkForms.PACKAGE + "java8.";

    private JavaTimeForms() {}

    static Map<String, Shape> all() {
        Map<String, Shape> forms = new HashMap<>();
        amounts(forms);
        dates(forms);
        zoned(forms);
        return forms;
    }

    private static void amounts(Map<String, Shape> forms) {
        forms.put(
                PACKAGE + "DurationHandle",
                FormShape.of(Duration.class)
                        .part("seconds", long.class)
                        .part("nanos", int.class)
                        .by((parts, reader) -> Duration.ofSeconds(longPart(parts, 0), intPart(parts, 1))));
        forms.put(
                PACKAGE + "PeriodHandle",
                new IntsShape(Period.class, List.of("years", "months", "days"), (a, b, c, d) -> Period.of(a, b, c)));
    }

    private static void dates(Map<String, Shape> forms) {
        forms.put(
                PACKAGE + "InstantHandle",
                FormShape.of(Instant.class)
                        .part("seconds", long.class)
                        .part("nanos", int.class)
                        .by((parts, reader) -> Instant.ofEpochSecond(longPart(parts, 0), intPart(parts, 1))));
        forms.put(
                PACKAGE + "LocalDateHandle",
                new IntsShape(LocalDate.class, List.of("year", "month", "day"), (a, b, c, d) -> LocalDate.of(a, b, c)));
        forms.put(
                PACKAGE + "LocalTimeHandle",
                new IntsShape(
                        LocalTime.class,
                        List.of("hour", "minute", "second", "nano"),
                        (a, b, c, d) -> LocalTime.of(a, b, c, d)));
        forms.put(
                PACKAGE + "LocalDateTimeHandle",
                FormShape.of(LocalDateTime.class)
                        .part("date", LocalDate.class)
                        .part("time", LocalTime.class)
                        .by((parts, reader) ->
                                LocalDateTime.of((LocalDate) part(parts, 0), (LocalTime) part(parts, 1))));
        forms.put(
                PACKAGE + "MonthDayHandle",
                new IntsShape(MonthDay.class, List.of("month", "day"), (a, b, c, d) -> MonthDay.of(a, b)));
        forms.put(PACKAGE + "YearHandle", new IntsShape(Year.class, List.of("year"), (a, b, c, d) -> Year.of(a)));
        forms.put(
                PACKAGE + "YearMonthHandle",
                new IntsShape(YearMonth.class, List.of("year", "month"), (a, b, c, d) -> YearMonth.of(a, b)));
    }

    private static void zoned(Map<String, Shape> forms) {
        forms.put(
                PACKAGE + "ZoneOffsetHandle",
                new IntsShape(ZoneOffset.class, List.of("seconds"), (a, b, c, d) -> ZoneOffset.ofTotalSeconds(a)));
        forms.put(
                PACKAGE + "ZoneIdHandle",
                FormShape.of(ZoneId.class)
                        .part("zoneId", String.class)
                        .by((parts, reader) -> ZoneId.of((String) part(parts, 0))));
        forms.put(
                PACKAGE + "OffsetTimeHandle",
                FormShape.of(OffsetTime.class)
                        .part("localTime", LocalTime.class)
                        .part("zoneOffset", ZoneOffset.class)
                        .by((parts, reader) -> OffsetTime.of((LocalTime) part(parts, 0), (ZoneOffset) part(parts, 1))));
        forms.put(
                PACKAGE + "OffsetDateTimeHandle",
                FormShape.of(OffsetDateTime.class)
                        .part("dateTime", LocalDateTime.class)
                        .part("offset", ZoneOffset.class)
                        .by((parts, reader) ->
                                OffsetDateTime.of((LocalDateTime) part(parts, 0), (ZoneOffset) part(parts, 1))));
        forms.put(
                PACKAGE + "ZonedDateTimeHandle",
                FormShape.of(ZonedDateTime.class)
                        .part("dateTime", LocalDateTime.class)
                        .part("offset", ZoneOffset.class)
                        .part("zoneId", String.class)
                        .by((parts, reader) -> ZonedDateTime.ofLocal(
                                (LocalDateTime) part(parts, 0), ZoneId.of((String) part(parts, 2)), (ZoneOffset)
                                        parts[1])));
    }

    private static int intPart(@Nullable Object[] parts, int index) {
        return (int) part(parts, index);
    }

    private static long longPart(@Nullable Object[] parts, int index) {
        return (long) part(parts, index);
    }

    private static Object part(@Nullable Object[] parts, int index) {
        return Objects.requireNonNull(parts[index]);
    }
}
