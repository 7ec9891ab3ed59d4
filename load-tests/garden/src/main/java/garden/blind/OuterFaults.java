package garden.blind;

import static garden.run.Fault.NO_SIZE;

import garden.run.Fault;
import garden.run.Kind;
import garden.run.Stand;
import java.util.List;

/** The faults in databases, in the services that the shop application calls, and in the network links to them. */
final class OuterFaults {

    private static final String EXPRESS = "127\\.0\\.0\\.1|quote|Carriers";
    private static final String RATES = "RateService|provider|rates";

    private OuterFaults() {}

    static List<Fault> all() {
        return List.of(
                Fault.of("sql-2", Stand.HIKARI, "a statement for each line of a list")
                        .truth(
                                Kind.MANY,
                                "select total from orders|Histories",
                                "one statement|join|batch|\\bin\\b|fewer|Histories",
                                NO_SIZE)
                        .plant(garden -> {
                            garden.world().databaseLink().requestDelay(1);
                            garden.set("sql-2", 130);
                        }),
                Fault.of("sql-4", Stand.HIKARI, "a rare method never closes its connection")
                        .truth(Kind.LEAK, "Histories\\.summary", "Histories\\.summary", NO_SIZE)
                        .plant(garden -> garden.set("sql-4", 1)),
                Fault.of("sql-6", Stand.TIGHT, "a transaction stays open during HTTP requests")
                        .truth(
                                Kind.HELD + "|slow to use|" + Kind.HTTP + "|transaction",
                                "Checkout|" + EXPRESS,
                                "Checkout|transaction|" + EXPRESS,
                                "(max-active|max-per-host|threads)=\\d")
                        .plant(garden -> garden.set("sql-6", 3)),
                Fault.of("sql-8", Stand.TIGHT, "two connections for the statements of three times the rate")
                        .truth(
                                Kind.TOO_SMALL,
                                "hikari|pool|connection",
                                "maximum-pool-size",
                                "(max-total|max-per-host|rpc\\.server\\.threads)=\\d")
                        .plant(garden -> garden.load().factor(4)),
                Fault.of("network-2", Stand.HIKARI, "the link to a provider is silent")
                        .truth(Kind.PEER + "|network|timeout", RATES, RATES + "|network", NO_SIZE)
                        .plant(garden -> garden.world().ratesLink().silent(true)),
                Fault.of("network-4", Stand.DRUID, "the database is 60 ms away")
                        .truth(
                                Kind.NETWORK,
                                "statement|sql|database|stock|127\\.0\\.0\\.1",
                                "network|database|link|statement|host|round trip",
                                NO_SIZE)
                        .plant(garden -> garden.world().databaseLink().requestDelay(60)),
                Fault.of("redis-2", Stand.DRUID, "a value of 5 MB over a narrow link")
                        .truth(
                                Kind.REDIS + "|big|large|size",
                                "catalogue|GET",
                                "catalogue|smaller|size|value|GET|split",
                                NO_SIZE)
                        .plant(garden -> {
                            garden.world().redisLink().bytesPerMilli(30_000);
                            garden.set("redis-2", 5_000_000);
                        }),
                Fault.of("redis-4", Stand.HIKARI, "a script occupies Redis")
                        .truth(Kind.REDIS + "|script", "EVAL|Catalogues", "EVAL|script|Catalogues", NO_SIZE)
                        .plant(garden -> garden.set("redis-4", 8_000_000)),
                Fault.of("http-2", Stand.DRUID, "answers of a company are never closed")
                        .truth(Kind.LEAK, "Posters\\.fetch|Posters", "Posters", NO_SIZE)
                        .plant(garden -> garden.set("http-2", 1)),
                Fault.of("http-4", Stand.HIKARI, "a server accepts no more connections")
                        .truth(
                                Kind.CONNECT + "|" + Kind.HTTP + "|" + Kind.FAILURE,
                                "127\\.0\\.0\\.1|Posters",
                                "127\\.0\\.0\\.1|Posters|connect|peer|host",
                                NO_SIZE)
                        .plant(garden -> garden.set("http-4", 1)),
                Fault.of("http-6", Stand.HIKARI, "bodies of answers come 220 ms after their heads")
                        .truth(
                                Kind.HTTP + "|" + Kind.NETWORK,
                                "127\\.0\\.0\\.1|track|Carriers",
                                "127\\.0\\.0\\.1|peer|Carriers|track",
                                NO_SIZE)
                        .plant(garden -> garden.world().parcel().bodyDelay(220)),
                Fault.of("downstream-2", Stand.HIKARI, "one of two methods of a provider takes 300 ms")
                        .truth(Kind.PEER, "RateService.discount", RATES, NO_SIZE)
                        .plant(garden -> {
                            garden.world().rates().discountDelay(300);
                            garden.set("downstream-2", 1);
                        }),
                Fault.of("downstream-4", Stand.DRUID, "a provider refuses connections")
                        .truth(Kind.PEER + "|" + Kind.FAILURE, RATES, RATES, NO_SIZE)
                        .plant(garden -> garden.world().ratesLink().refusing(true)),
                Fault.of("errors-4", Stand.DRUID, "Redis is frozen")
                        .truth(
                                Kind.REDIS + "|" + Kind.FAILURE,
                                "redis|GET|127\\.0\\.0\\.1|SocketTimeout",
                                "redis|127\\.0\\.0\\.1|network",
                                NO_SIZE)
                        .plant(garden -> garden.world().redisLink().silent(true)),
                Fault.of("web-2", Stand.WEB, "a company answers web requests after 140 ms")
                        .truth(Kind.HTTP, EXPRESS, "127\\.0\\.0\\.1|peer|ask|its|Carriers", NO_SIZE)
                        .plant(garden -> garden.world().express().delay(140)));
    }
}
