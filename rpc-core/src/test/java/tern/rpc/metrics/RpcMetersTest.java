package tern.rpc.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tern.rpc.client.RpcClient;
import tern.rpc.client.ServiceReference;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.StaticEndpoints;
import tern.rpc.serialization.JdkSerializer;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;
import tern.rpc.transport.InMemoryTransport;

/**
 * Checks all meters of a server and a client after calls to services whose names differ only in package, group or
 * version.
 */
@Timeout(60)
class RpcMetersTest {

    /** Represents a package that contains an interface {@code OrderService}. */
    interface Shop {
        interface OrderService {
            String order(String name);
        }
    }

    /** Represents another package that also contains an interface {@code OrderService}. */
    interface Depot {
        interface OrderService {
            String order(String name);
        }
    }

    private static final String SHOP = Shop.OrderService.class.getName();
    private static final String DEPOT = Depot.OrderService.class.getName();
    private static final List<String> KEYS =
            List.of(SHOP, "blue/" + SHOP, SHOP + ":2.0", "blue/" + SHOP + ":2.0", DEPOT);

    /** Meters registered by the starter, and meters of events that this test does not cause. */
    private static final Set<RpcMeter> ELSEWHERE = EnumSet.of(RpcMeter.SERVER_FLOODED, RpcMeter.WEAKENED);

    private static final Set<RpcMeter> OF_METHODS = EnumSet.of(
            RpcMeter.SERVER_REQUESTS,
            RpcMeter.SERVER_QUEUE,
            RpcMeter.SERVER_PHASE,
            RpcMeter.SERVER_OPERATIONS,
            RpcMeter.CLIENT_REQUESTS);

    private static final Set<RpcMeter> OF_SERVICES = EnumSet.of(RpcMeter.CLIENT_HEDGES, RpcMeter.CLIENT_FALLBACKS);

    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final RpcMeters meters = new RpcMeters(registry, new Slo(500, Duration.ofMillis(100)));
    private final InMemoryTransport transport = new InMemoryTransport(new JdkSerializer());
    private final RpcServer server = RpcServer.builder(transport)
            .export(shop("", ""))
            .export(shop("blue", ""))
            .export(shop("", "2.0"))
            .export(shop("blue", "2.0"))
            .export(ServiceExport.of(Depot.OrderService.class, name -> name))
            .meters(meters)
            .build();
    private final RpcClient client =
            RpcClient.builder().transport(transport).meters(meters).build();

    private ServiceExport shop(String group, String version) {
        return ServiceExport.of(Shop.OrderService.class, this::order, group, version);
    }

    /**
     * Serves the {@code order} method. This method calls another service, so the ledger of its call contains an
     * operation.
     */
    private String order(String name) {
        return name.equals("fails")
                ? fail()
                : refer(Depot.OrderService.class, "", "").order(name);
    }

    private static String fail() {
        throw new IllegalStateException("no");
    }

    private <T> T refer(Class<T> type, String group, String version) {
        return client.refer(ServiceReference.to(type, new StaticEndpoints(List.of(new Endpoint("memory", 0))))
                .protocol(InMemoryTransport.PROTOCOL)
                .group(group)
                .version(version)
                .build());
    }

    @BeforeEach
    void callEach() {
        server.start();
        for (String group : List.of("", "blue")) {
            for (String version : List.of("", "2.0")) {
                Shop.OrderService shop = refer(Shop.OrderService.class, group, version);
                shop.order("x");
                assertThatThrownBy(() -> shop.order("fails")).isInstanceOf(IllegalStateException.class);
            }
        }
        while (served() < 12
                || meters.phases().stream().mapToLong(PhaseMeters::calls).sum() < 12) {
            LockSupport.parkNanos(1_000_000); // The server counts a call only after it has sent the answer.
        }
    }

    private double served() {
        return registry.find(RpcMeter.SERVER_REQUESTS.key()).timers().stream()
                .mapToDouble(Timer::count)
                .sum();
    }

    @AfterEach
    void close() {
        client.close();
        server.close();
    }

    /** Returns the meters without the gauges that the registry creates for the buckets of a timer. */
    private List<Meter> registered() {
        return registry.getMeters().stream()
                .filter(meter -> !meter.getId().getName().endsWith(".histogram"))
                .toList();
    }

    @Test
    void packageGroupAndVersionMakeSeriesOfTheirOwn() {
        for (RpcMeter meter : OF_METHODS) {
            Set<String> services = registry.getMeters().stream()
                    .filter(each -> each.getId().getName().equals(meter.key()))
                    .map(each -> each.getId().getTag(RpcMeter.SERVICE))
                    .collect(Collectors.toSet());

            assertThat(services)
                    .as(meter.key())
                    .containsAll(meter == RpcMeter.SERVER_OPERATIONS ? KEYS.subList(0, 4) : KEYS);
            assertThat(KEYS).as(meter.key()).containsAll(services);
        }
        for (String key : KEYS) {
            for (RpcMeter requests : List.of(RpcMeter.SERVER_REQUESTS, RpcMeter.CLIENT_REQUESTS)) {
                assertThat(registry.get(requests.key())
                                .tags(RpcMeter.SERVICE, key, RpcMeter.METHOD, "order", RpcMeter.OUTCOME, "ok")
                                .timer()
                                .count())
                        .as(requests + " of " + key)
                        .isEqualTo(key.equals(DEPOT) ? 4 : 1);
            }
        }
        assertThat(meters.servedMethods()).extracting(MethodCalls::service).containsExactlyInAnyOrderElementsOf(KEYS);
    }

    @Test
    void callsOfAllReferencesToAMethodAreCounted() {
        CalledMethod called = meters.calledMethods().stream()
                .filter(method -> method.name().equals("OrderService.order"))
                .findFirst()
                .orElseThrow();

        assertThat(called.calls()).isEqualTo(12);
        assertThat(called.totalNanos()).isPositive();
    }

    @Test
    void everyMeterHasADescriptionAndTheUnitOfItsValues() {
        Set<String> seen =
                registered().stream().map(meter -> meter.getId().getName()).collect(Collectors.toSet());
        assertThat(seen)
                .containsExactlyInAnyOrderElementsOf(Arrays.stream(RpcMeter.values())
                        .filter(meter -> !ELSEWHERE.contains(meter))
                        .map(RpcMeter::key)
                        .toList());
        for (Meter meter : registered()) {
            Meter.Id id = meter.getId();
            assertThat(id.getDescription()).as("description of " + id).isNotBlank();
            assertThat(id.getBaseUnit()).as("unit of " + id).isEqualTo(unit(meter));
        }
    }

    /** Returns the unit of a meter's values, which is the first word of the meter's description. */
    private static String unit(Meter meter) {
        if (meter instanceof Timer || meter instanceof FunctionTimer) {
            return "seconds";
        }
        String description = String.valueOf(meter.getId().getDescription());
        return description.startsWith("Bytes") ? "bytes" : description.startsWith("Seconds") ? "seconds" : null;
    }

    @Test
    void metersOfMethodsHaveTheTagsOfTheirServiceAndMethod() {
        Set<String> ofMethods = keys(OF_METHODS);
        Set<String> ofServices = keys(OF_SERVICES);
        for (Meter meter : registered()) {
            String name = meter.getId().getName();
            List<String> tags =
                    meter.getId().getTags().stream().map(Tag::getKey).toList();
            assertThat(tags.contains(RpcMeter.SERVICE))
                    .as("service of " + meter.getId())
                    .isEqualTo(ofMethods.contains(name) || ofServices.contains(name));
            assertThat(tags.contains(RpcMeter.METHOD))
                    .as("method of " + meter.getId())
                    .isEqualTo(ofMethods.contains(name));
        }
    }

    private static Set<String> keys(Set<RpcMeter> meters) {
        return meters.stream().map(RpcMeter::key).collect(Collectors.toSet());
    }
}
