package garden.open;

import garden.run.Fault;
import garden.run.Stand;
import java.util.List;

/** Situations that look like faults even though all calls meet their target. */
final class HealthySituations {

    private HealthySituations() {}

    static List<Fault> all() {
        return List.of(
                Fault.of("healthy-1", Stand.DRUID, "nothing is wrong").plant(garden -> {}),
                Fault.of("healthy-3", Stand.DRUID, "three times the usual rate")
                        .plant(garden -> garden.load().factor(3)),
                Fault.of("healthy-5", Stand.HIKARI, "few calls: two a second")
                        .plant(garden -> garden.load().factor(0.05)),
                Fault.of("healthy-7", Stand.HIKARI, "one neighbour computes")
                        .plant(garden -> garden.world().machine().neighbours(1)),
                Fault.of("healthy-9", Stand.DRUID, "a peer needs 30 ms more, calls stay in time")
                        .plant(garden -> garden.world().express().delay(20)),
                Fault.of("healthy-11", Stand.HIKARI, "a background thread computes")
                        .plant(garden -> garden.set("processors-1", 1)),
                Fault.of("healthy-13", Stand.DRUID, "half of the connections are held, none is waited for")
                        .plant(garden -> garden.set("sql-5", 5)),
                Fault.of("healthy-15", Stand.HIKARI, "the rate rises and falls by half")
                        .plant(garden -> garden.load().wave(0.5)),
                Fault.of("healthy-17", Stand.WEB, "web requests are served in time")
                        .plant(garden -> {}),
                Fault.of("healthy-19", Stand.DRUID, "the common pool works, calls stay in time")
                        .plant(garden -> garden.set("executors-3", 5)));
    }
}
