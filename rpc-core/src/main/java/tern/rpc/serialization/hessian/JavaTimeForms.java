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
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** {@code java.time} travels as handles of hessian-lite, of which the fields are read and the classes are not. */
final class JavaTimeForms {

    private static final String PACKAGE = JdkForms.PACKAGE + "java8.";

    private JavaTimeForms() {}

    static Map<String, FormShape> all() {
        Map<String, FormShape> forms = new HashMap<>();
        amounts(forms);
        dates(forms);
        zoned(forms);
        return forms;
    }

    private static void amounts(Map<String, FormShape> forms) {
        forms.put(
                PACKAGE + "DurationHandle",
                FormShape.of(Duration.class)
                        .part("seconds", long.class)
                        .part("nanos", int.class)
                        .by((parts, reader) -> Duration.ofSeconds(longPart(parts, 0), intPart(parts, 1))));
        forms.put(
                PACKAGE + "PeriodHandle",
                FormShape.of(Period.class)
                        .part("years", int.class)
                        .part("months", int.class)
                        .part("days", int.class)
                        .by((parts, reader) -> Period.of(intPart(parts, 0), intPart(parts, 1), intPart(parts, 2))));
    }

    private static void dates(Map<String, FormShape> forms) {
        forms.put(
                PACKAGE + "InstantHandle",
                FormShape.of(Instant.class)
                        .part("seconds", long.class)
                        .part("nanos", int.class)
                        .by((parts, reader) -> Instant.ofEpochSecond(longPart(parts, 0), intPart(parts, 1))));
        forms.put(
                PACKAGE + "LocalDateHandle",
                FormShape.of(LocalDate.class)
                        .part("year", int.class)
                        .part("month", int.class)
                        .part("day", int.class)
                        .by((parts, reader) -> LocalDate.of(intPart(parts, 0), intPart(parts, 1), intPart(parts, 2))));
        forms.put(
                PACKAGE + "LocalTimeHandle",
                FormShape.of(LocalTime.class)
                        .part("hour", int.class)
                        .part("minute", int.class)
                        .part("second", int.class)
                        .part("nano", int.class)
                        .by((parts, reader) -> LocalTime.of(
                                intPart(parts, 0), intPart(parts, 1), intPart(parts, 2), intPart(parts, 3))));
        forms.put(
                PACKAGE + "LocalDateTimeHandle",
                FormShape.of(LocalDateTime.class)
                        .part("date", LocalDate.class)
                        .part("time", LocalTime.class)
                        .by((parts, reader) ->
                                LocalDateTime.of((LocalDate) part(parts, 0), (LocalTime) part(parts, 1))));
        forms.put(
                PACKAGE + "MonthDayHandle",
                FormShape.of(MonthDay.class)
                        .part("month", int.class)
                        .part("day", int.class)
                        .by((parts, reader) -> MonthDay.of(intPart(parts, 0), intPart(parts, 1))));
        forms.put(
                PACKAGE + "YearHandle",
                FormShape.of(Year.class).part("year", int.class).by((parts, reader) -> Year.of(intPart(parts, 0))));
        forms.put(
                PACKAGE + "YearMonthHandle",
                FormShape.of(YearMonth.class)
                        .part("year", int.class)
                        .part("month", int.class)
                        .by((parts, reader) -> YearMonth.of(intPart(parts, 0), intPart(parts, 1))));
    }

    private static void zoned(Map<String, FormShape> forms) {
        forms.put(
                PACKAGE + "ZoneOffsetHandle",
                FormShape.of(ZoneOffset.class)
                        .part("seconds", int.class)
                        .by((parts, reader) -> ZoneOffset.ofTotalSeconds(intPart(parts, 0))));
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
