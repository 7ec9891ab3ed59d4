package garden.open;

import static garden.run.Fault.NO_SIZE;

import garden.run.Fault;
import garden.run.Kind;
import garden.run.Stand;
import java.util.List;

/** Faults in the services that the shop application calls, and in the network links to them. */
final class PeerFaults {

    private PeerFaults() {}

    static List<Fault> all() {
        return List.of(
                Fault.of("http-1", Stand.DRUID, "a company answers after 160 ms")
                        .truth(
                                Kind.HTTP,
                                "127\\.0\\.0\\.1|quote|Carriers",
                                "127\\.0\\.0\\.1|peer|ask|its|Carriers",
                                NO_SIZE)
                        .plant(garden -> garden.world().express().delay(160)),
                Fault.of("http-5", Stand.HIKARI, "one of three answers of a company is status 503")
                        .truth(
                                Kind.FAILURE + "|" + Kind.HTTP,
                                "503|127\\.0\\.0\\.1|quote|Carriers",
                                "127\\.0\\.0\\.1|503|peer|Carriers",
                                NO_SIZE)
                        .plant(garden -> garden.world().express().failEach(3)),
                Fault.of("network-3", Stand.HIKARI, "connections to a company are cut")
                        .truth(
                                Kind.FAILURE + "|" + Kind.HTTP,
                                "127\\.0\\.0\\.1|quote|Carriers|connect|refus|reset",
                                "127\\.0\\.0\\.1|peer|network|connect|Carriers",
                                NO_SIZE)
                        .plant(garden -> garden.world().expressLink().refusing(true)),
                Fault.of("downstream-1", Stand.HIKARI, "the provider of a reference fails")
                        .truth(Kind.PEER, "RateService", "RateService|provider|rates", NO_SIZE)
                        .plant(garden -> garden.world().rates().failing(true)),
                Fault.of("downstream-3", Stand.DRUID, "the provider of a reference has too few threads and refuses")
                        .truth(Kind.PEER, "RateService", "RateService|provider|rates", NO_SIZE)
                        .plant(garden -> garden.world().rates().rateDelay(1_200)),
                Fault.of("resolver-1", Stand.DRUID, "each lookup of a name takes 140 ms")
                        .truth(Kind.RESOLVER, "Directory|resolv|localhost", "Directory|resolv|dns|localhost", NO_SIZE)
                        .plant(garden -> garden.set("resolver-1", 140)),
                Fault.of("virtual-5", Stand.VIRTUAL, "a company answers virtual threads after 200 ms")
                        .truth(
                                Kind.HTTP,
                                "127\\.0\\.0\\.1|quote|Carriers",
                                "127\\.0\\.0\\.1|peer|ask|its|Carriers",
                                NO_SIZE)
                        .plant(garden -> garden.world().express().delay(200)));
    }
}
