package garden.open;

import static garden.run.Fault.NO_SIZE;

import garden.run.Fault;
import garden.run.Kind;
import garden.run.Stand;
import garden.shop.Naps;
import java.util.List;

/** Faults in the SQL and Redis servers, and in the network links to them. */
final class StoreFaults {

    private StoreFaults() {}

    static List<Fault> all() {
        return List.of(
                Fault.of("sql-1", Stand.HIKARI, "a statement that joins without an index")
                        .truth(Kind.STATEMENT, "orders a|orders b|Reports", "statement|index|plan|query", NO_SIZE)
                        .plant(garden -> garden.set("sql-1", 700)),
                Fault.of("sql-3", Stand.DRUID, "a transaction of somebody else locks the rows of an update")
                        .truth(Kind.ROW, "update stock", "row|lock|transaction|statement|database", NO_SIZE)
                        .plant(garden ->
                                garden.world().database().stranger("update stock set quantity = quantity + 1")),
                Fault.of("sql-5", Stand.HIKARI, "threads outside calls hold the connections")
                        .truth(Kind.HELD, "backup|Backups", "Backups|backup", NO_SIZE)
                        .plant(garden -> garden.set("sql-5", 10)),
                Fault.of("sql-7", Stand.DRUID, "connections are cut, and new ones take 700 ms")
                        .truth(
                                Kind.CONNECT + "|" + Kind.FAILURE,
                                "druid|connection|database|127\\.0\\.0\\.1",
                                "connect|database|network|host|127\\.0\\.0\\.1",
                                NO_SIZE)
                        .plant(garden -> {
                            garden.world().databaseLink().connectDelay(700);
                            Thread cuts = new Thread(() -> {
                                for (int i = 0; i < 20; i++) {
                                    garden.world().databaseLink().reset();
                                    Naps.millis(900);
                                }
                            });
                            cuts.setDaemon(true);
                            cuts.start();
                        }),
                Fault.of("redis-1", Stand.DRUID, "KEYS over 400,000 keys in one of three methods")
                        .truth(Kind.REDIS, "KEYS", "KEYS|SCAN|Regions", NO_SIZE)
                        .plant(garden -> garden.set("redis-1", 400_000)),
                Fault.of("redis-3", Stand.DRUID, "a command that waits for a value")
                        .truth(
                                Kind.REDIS + "|block",
                                "B.?L?POP|blpop|Regions\\.next|jobs",
                                "B.?L?POP|block|Regions\\.next|jobs",
                                NO_SIZE)
                        .plant(garden -> garden.set("redis-3", 1)),
                Fault.of("redis-5", Stand.DRUID, "connections of Jedis are not given back")
                        .truth(Kind.LEAK, "Regions\\.touch", "Regions\\.touch", NO_SIZE)
                        .plant(garden -> garden.set("redis-5", 1)),
                Fault.of("network-1", Stand.HIKARI, "Redis is 150 ms away")
                        .truth(Kind.NETWORK, "redis|GET|127\\.0\\.0\\.1", "network|redis|server|host", NO_SIZE)
                        .plant(garden -> garden.world().redisLink().requestDelay(150)));
    }
}
