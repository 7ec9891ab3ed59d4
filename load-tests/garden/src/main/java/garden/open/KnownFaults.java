package garden.open;

import static garden.run.Fault.NO_SIZE;

import garden.run.Fault;
import garden.run.Kind;
import garden.run.Stand;
import java.util.List;

/**
 * The faults that the authors used to write the diagnosis rules. The list includes the faults of the program
 * {@code tern.rpc.load.replay.Replay}.
 */
final class KnownFaults {

    private KnownFaults() {}

    static List<Fault> all() {
        return List.of(
                Fault.of("round-1", Stand.DRUID, "60 GETs one after the other, Redis 2 ms away")
                        .truth(
                                Kind.MANY + "|redis",
                                "GET|Regions\\.each",
                                "MGET|pipelin|one command|batch|fewer|Regions\\.each",
                                NO_SIZE)
                        .plant(garden -> {
                            garden.world().redisLink().requestDelay(2);
                            garden.set("round-1", 60);
                        }),
                Fault.of("round-2", Stand.SMALL, "two HTTP connections to one host at three times the rate")
                        .truth(
                                Kind.TOO_SMALL,
                                "http|host",
                                "max-per-host",
                                "(max-active|maximum-pool-size|threads)=\\d")
                        .plant(garden -> garden.load().factor(3.5)),
                Fault.of("round-3", Stand.HIKARI, "1,200 GETs one after the other through Lettuce")
                        .truth(
                                Kind.MANY + "|redis|lettuce|client|processor",
                                "GET|lettuce|Regions\\.all",
                                "MGET|pipelin|one command|batch|fewer|jedis|Regions\\.all",
                                NO_SIZE)
                        .plant(garden -> garden.set("round-3", 1_200)),
                Fault.of("round-4", Stand.DRUID, "a full executor whose callers run its tasks, and a slow log")
                        .truth(Kind.EXECUTOR, "print|Labels", "print|Labels", "(max-active|rpc\\.server\\.threads)=\\d")
                        .truth(Kind.LOG, "log|mirror", "async|log|mirror", "(max-active|rpc\\.server\\.threads)=\\d")
                        .plant(garden -> {
                            garden.set("executors-5", 60);
                            garden.set("log-1", 25);
                        }),
                Fault.of("table-1", Stand.DRUID, "a code path never closes its connection of Druid")
                        .truth(Kind.LEAK, "OrderRepository\\.export", "close.*OrderRepository\\.export", NO_SIZE)
                        .plant(garden -> garden.set("table-1", 1)),
                Fault.of("table-2", Stand.DRUID, "one statement takes 250 ms")
                        .truth(Kind.STATEMENT, "tax", "statement|query|index|plan|database", NO_SIZE)
                        .plant(garden -> garden.set("table-2", 250)),
                Fault.of("table-3", Stand.DRUID, "a synchronized method that sleeps")
                        .truth(Kind.LOCK, "Signatures", "Signatures\\.sign", NO_SIZE)
                        .plant(garden -> garden.set("table-3", 60)),
                Fault.of("table-4", Stand.DRUID, "the heap is nearly full")
                        .truth(
                                Kind.COLLECTOR,
                                "heap|full|old|live",
                                "Xmx|heap|bound|cache|QuoteCache",
                                "(max-active|max-total|threads)=\\d")
                        .plant(garden -> garden.set("table-4", 14)),
                Fault.of("table-5", Stand.DRUID, "the provider of a reference takes 150 ms")
                        .truth(Kind.PEER, "RateService", "RateService|provider|rates|127\\.0\\.0\\.1", NO_SIZE)
                        .plant(garden -> garden.world().rates().rateDelay(150)));
    }
}
