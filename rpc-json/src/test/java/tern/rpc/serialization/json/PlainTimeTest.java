package tern.rpc.serialization.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.annotation.JsonFormat;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.serialization.SerializationException;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.cfg.DateTimeFeature;
import tools.jackson.databind.json.JsonMapper;

/** Compares encoded and decoded dates and times with Jackson's results. */
class PlainTimeTest {

    record Times(
            @Nullable LocalDate day,
            @Nullable LocalDateTime time,
            List<LocalDateTime> more,
            Map<LocalDate, LocalDate> days) {}

    record Formatted(
            @JsonFormat(pattern = "dd.MM.yyyy") LocalDate day,
            @JsonFormat(pattern = "dd.MM.yyyy HH:mm") LocalDateTime time,
            @JsonFormat(shape = JsonFormat.Shape.ARRAY) LocalDateTime parts) {}

    interface Service {
        Times times();

        Formatted formatted();

        LocalDate day();

        LocalDateTime time();
    }

    private final JsonMapper jackson = new JsonMapper();

    private static Texts method(JsonMapper mapper, String name) {
        return Texts.of(new JsonCodec(mapper), Service.class, name);
    }

    @Test
    void timesOfAllKindsGoAndComeBackAsByJackson() {
        Texts texts = method(jackson, "times");
        Random random = new Random(3);
        int[] nanos = {0, 1, 10, 100_000_000, 120_000_000, 123_000_000, 123_456_000, 123_456_789, 999_999_999};
        for (int i = 0; i < 20_000; i++) {
            LocalDate day = i % 50 == 0
                    ? LocalDate.ofEpochDay(random.nextInt() * 100L)
                    : LocalDate.ofYearDay(random.nextInt(10_000), 1 + random.nextInt(365));
            LocalDateTime time = day.atTime(random.nextInt(24), random.nextInt(60), random.nextInt(60))
                    .withNano(i % 2 == 0 ? nanos[random.nextInt(nanos.length)] : random.nextInt(1_000_000_000));
            Times times = new Times(day, time, List.of(time, time.withSecond(0).withNano(0)), Map.of(day, day));

            String json = texts.writtenResult(times);

            assertThat(json).isEqualTo(jackson.writeValueAsString(times));
            assertThat(texts.result(json)).isEqualTo(times);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "2024-02-29",
                "2023-02-29",
                "2024-02-30",
                "2024-00-10",
                "2024-13-01",
                "2024-01-00",
                "2024-1-02",
                "24-01-02",
                "2024/01/02",
                "2024-01-02T",
                "+12024-01-02",
                "-0001-01-01",
                "-2024-1-02",
                " 2024-01-02 ",
                "",
                "2024-01-0a",
                "２０２４-01-02",
                "2024-01-02T03:04",
                "2024-01-02T03:04:",
                "2024-01-02T03:04:0",
                "2024-01-02T03:04:05",
                "2024-01-02T03:04:05.",
                "2024-01-02T03:04:05.6",
                "2024-01-02T03:04:05,6",
                "2024-01-02T03:04:05.123456789",
                "2024-01-02T03:04:05.1234567890",
                "2024-01-02t03:04:05",
                "2024-01-02 03:04:05",
                "2024-01-02T24:00",
                "2024-01-02T23:60",
                "2024-01-02T23:59:60",
                "2024-01-02T03.04.05",
                "2024-01-02T03:04:05Z",
                "2024-01-02T03:04:05+01:00",
                "2024-02-30T03:04:05",
                "2024-01-02T-3:04:05",
                "2024-01-02T03:04:-5"
            })
    void anyTextIsReadAsByJackson(String text) {
        String json = jackson.writeValueAsString(text);

        assertAlike(method(jackson, "day"), json, LocalDate.class);
        assertAlike(method(jackson, "time"), json, LocalDateTime.class);
    }

    private void assertAlike(Texts texts, String json, Class<?> type) {
        Object expected;
        try {
            expected = jackson.readValue(json, type);
        } catch (JacksonException refused) {
            assertThatThrownBy(() -> texts.result(json)).isInstanceOf(SerializationException.class);
            return;
        }
        assertThat(texts.result(json)).isEqualTo(expected);
    }

    @Test
    void aFormatOfItsOwnIsKept() {
        Formatted formatted = new Formatted(
                LocalDate.of(2024, 1, 2), LocalDateTime.of(2024, 1, 2, 3, 4), LocalDateTime.of(2024, 1, 2, 3, 4, 5));
        Texts texts = method(jackson, "formatted");

        String json = texts.writtenResult(formatted);

        assertThat(json).isEqualTo("{\"day\":\"02.01.2024\",\"time\":\"02.01.2024 03:04\",\"parts\":[2024,1,2,3,4,5]}");
        assertThat(texts.result(json)).isEqualTo(formatted);
    }

    @Test
    void aFormatThatTheUsersMapperSetsForATypeIsKept() {
        JsonMapper user = JsonMapper.builder()
                .withConfigOverride(
                        LocalDate.class, override -> override.setFormat(JsonFormat.Value.forPattern("yyyyMMdd")))
                .build();
        Texts texts = method(user, "day");

        String json = texts.writtenResult(LocalDate.of(2024, 1, 2));

        assertThat(json).isEqualTo("\"20240102\"");
        assertThat(texts.result(json)).isEqualTo(LocalDate.of(2024, 1, 2));
    }

    @Test
    void timesAreCutToMillisecondsIfTheUsersMapperRequiresIt() {
        JsonMapper user = JsonMapper.builder()
                .enable(DateTimeFeature.TRUNCATE_TO_MSECS_ON_READ, DateTimeFeature.TRUNCATE_TO_MSECS_ON_WRITE)
                .build();
        Texts texts = method(user, "time");

        assertThat(texts.writtenResult(LocalDateTime.of(2024, 1, 2, 3, 4, 5, 123_456_789)))
                .isEqualTo("\"2024-01-02T03:04:05.123\"");
        assertThat(texts.result("\"2024-01-02T03:04:05.123456789\""))
                .isEqualTo(LocalDateTime.of(2024, 1, 2, 3, 4, 5, 123_000_000));
    }

    record Moments(
            @Nullable Instant instant,
            @Nullable OffsetDateTime offset,

            @JsonFormat(without = JsonFormat.Feature.READ_DATE_TIMESTAMPS_AS_NANOSECONDS) @Nullable
            Instant millis) {}

    interface MomentService {
        void at(Instant instant);

        void all(Moments moments);
    }

    private static Texts moments(JsonMapper mapper, String name) {
        return Texts.of(new JsonCodec(mapper), MomentService.class, name);
    }

    @Test
    void millisecondsAreRefusedWhereANumberIsReadAsSeconds() {
        String found =
                ", found a number that is too large for seconds; send a text, in JavaScript that of toISOString()";

        assertThatThrownBy(() -> moments(jackson, "at").arguments("1700000000000"))
                .hasMessageEndingWith("expected java.time.Instant such as 2026-01-31T12:30:00Z" + found);
        assertThatThrownBy(() -> moments(jackson, "all").arguments("{\"offset\":1700000000000}"))
                .hasMessageContaining("at $.offset: expected java.time.OffsetDateTime")
                .hasMessageEndingWith(found);
        assertThatThrownBy(() -> moments(jackson, "at").query("instant=1700000000000"))
                .hasMessageEndingWith(found);
    }

    @Test
    void secondsAndDeclaredMillisecondsAreRead() {
        Instant instant = Instant.ofEpochSecond(1_700_000_000);
        JsonMapper ofMillis = JsonMapper.builder()
                .disable(DateTimeFeature.READ_DATE_TIMESTAMPS_AS_NANOSECONDS)
                .build();

        assertThat(moments(jackson, "at").arguments("1700000000")).containsExactly(instant);
        assertThat(moments(jackson, "at").query("instant=1700000000")).containsExactly(instant);
        assertThat(moments(jackson, "at").arguments("\"2023-11-14T22:13:20Z\"")).containsExactly(instant);
        assertThat(moments(jackson, "all").arguments("{\"millis\":1700000000000}"))
                .containsExactly(new Moments(null, null, instant));
        assertThat(moments(ofMillis, "at").arguments("1700000000000")).containsExactly(instant);
    }
}
