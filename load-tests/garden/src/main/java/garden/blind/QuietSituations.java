package garden.blind;

import garden.run.Fault;
import garden.run.Stand;
import java.util.List;

/** Situations that look like faults even though all calls meet their target. */
final class QuietSituations {

    private QuietSituations() {}

    static List<Fault> all() {
        return List.of(
                Fault.of("healthy-2", Stand.HIKARI, "300 threads that wait")
                        .plant(garden -> garden.set("healthy-threads", 300)),
                Fault.of("healthy-4", Stand.DRUID, "many lines of the log")
                        .plant(garden -> garden.set("healthy-log", 10)),
                Fault.of("healthy-6", Stand.HIKARI, "much garbage that dies young")
                        .plant(garden -> garden.set("healthy-garbage", 20)),
                Fault.of("healthy-8", Stand.DRUID, "two neighbours compute")
                        .plant(garden -> garden.world().machine().neighbours(2)),
                Fault.of("healthy-10", Stand.HIKARI, "a statement of ten seconds outside calls")
                        .plant(garden -> garden.set("healthy-sql", 10_000)),
                Fault.of("healthy-12", Stand.DRUID, "twice the rate, documents of 50 KB")
                        .plant(garden -> {
                            garden.load().factor(2);
                            garden.load().documents(50_000);
                        }),
                Fault.of("healthy-14", Stand.HIKARI, "Redis is 10 ms away")
                        .plant(garden -> garden.world().redisLink().requestDelay(10)),
                Fault.of("healthy-16", Stand.TIGHT, "a pool of two that is often full")
                        .plant(garden -> garden.load().factor(1.3)),
                Fault.of("healthy-18", Stand.WEB, "web requests come in waves")
                        .plant(garden -> garden.load().wave(0.6)),
                Fault.of("healthy-20", Stand.VIRTUAL, "virtual threads are called at twice the rate")
                        .plant(garden -> garden.load().factor(2)));
    }
}
