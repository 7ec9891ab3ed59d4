package tern.rpc.spring.autoconfigure;

import static java.util.stream.Collectors.toMap;
import static java.util.stream.Collectors.toSet;
import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.spring.autoconfigure.Applications.provider;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.metrics.RpcMeter;
import tern.rpc.spring.RpcReference;
import tern.rpc.spring.RpcService;
import tern.rpc.spring.autoconfigure.pool.HikariAutoConfiguration;

/** Checks that the table in docs/meters.md lists exactly the registered meters with their types, units and tags. */
class MeterTableTest {

    private static final Path PAGE = Path.of("..", "docs", "meters.md");

    private static final Pattern ROW =
            Pattern.compile("\\| `(rpc\\.[a-z.]+)` \\| ([a-z]+) \\| ([a-z]*) ?\\| ([a-z` ]*)\\| .+ \\|");

    /** Micrometer's base units. A meter without a base unit is a count. */
    private static final Set<String> UNITS = Set.of("bytes", "seconds");

    record Row(String type, String unit, Set<String> tags) {}

    @RpcService
    static class Provider implements GreetingService {
        @Override
        public String greet(String name) {
            CallLedger ledger = CallLedger.current();
            ledger.leave(ledger.enter(Phase.SQL));
            return name;
        }
    }

    static class User {
        @RpcReference
        GreetingService greetings;
    }

    @Test
    void tableNamesExactlyTheMetersOfTheCode() throws Exception {
        Set<String> names = new TreeSet<>(registered().keySet());
        Arrays.stream(RpcMeter.values()).map(RpcMeter::key).forEach(names::add);

        assertThat(table().keySet()).isEqualTo(names);
    }

    @Test
    void typesUnitsAndTagsMatchTheRegistry() throws Exception {
        Map<String, Row> table = table();

        registered().forEach((name, row) -> assertThat(table.get(name)).as(name).isEqualTo(row));
    }

    @Test
    void ordinaryApplicationRegistersAllMetersExceptRefusalsOfFloods() {
        Set<String> names = Arrays.stream(RpcMeter.values()).map(RpcMeter::key).collect(toSet());
        names.removeAll(registered().keySet());

        assertThat(names).containsExactly(RpcMeter.SERVER_FLOODED.key());
    }

    /**
     * Returns the meters of an application that serves calls, makes calls, uses a pool, and has a setting that weakens
     * its protection.
     */
    private static Map<String, Row> registered() {
        MeterRegistry registry = new SimpleMeterRegistry();
        provider(Provider.class, User.class)
                .withConfiguration(
                        AutoConfigurations.of(HikariAutoConfiguration.class, DataSourceAutoConfiguration.class))
                .withBean(MeterRegistry.class, () -> registry)
                .withPropertyValues(
                        "rpc.client.url=local",
                        "rpc.server.generic-calls=true",
                        "spring.datasource.url=jdbc:h2:mem:meters;DB_CLOSE_DELAY=-1")
                .run(there -> there.getBean(User.class).greetings.greet("x"));
        // The meters are read only after the application has ended, because a server can count a call after its caller
        // has received the response.
        Map<String, Row> rows = new TreeMap<>();
        registry.getMeters().stream()
                .map(Meter::getId)
                .filter(id -> id.getName().startsWith("rpc.") && !id.getName().endsWith(".histogram"))
                .forEach(id -> rows.put(id.getName(), row(id)));
        return rows;
    }

    private static Row row(Meter.Id id) {
        String type = id.getType().name().toLowerCase(Locale.ROOT);
        boolean time = type.equals("timer") || id.getName().equals(RpcMeter.SERVER_PHASE.key());
        String unit = id.getBaseUnit() == null ? "" : id.getBaseUnit();
        return new Row(
                time ? "timer" : type,
                time ? "time" : unit,
                id.getTags().stream().map(Tag::getKey).collect(toSet()));
    }

    private static Map<String, Row> table() throws Exception {
        try (Stream<String> lines = Files.lines(PAGE)) {
            return lines.map(ROW::matcher)
                    .filter(Matcher::matches)
                    .collect(toMap(row -> row.group(1), MeterTableTest::row, (one, other) -> one, TreeMap::new));
        }
    }

    private static Row row(Matcher row) {
        String unit = row.group(3);
        Set<String> tags = Stream.of(row.group(4).split("[` ]+"))
                .filter(tag -> !tag.isEmpty())
                .collect(toSet());
        return new Row(row.group(2), unit.equals("time") || UNITS.contains(unit) ? unit : "", tags);
    }
}
