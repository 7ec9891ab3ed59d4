package tern.rpc.load.replay;

import java.util.List;
import java.util.Set;

/**
 * One round: a configuration error in the sample provider, and its fix.
 *
 * @param profile the Spring profile of the sample provider
 * @param mistake a short description of the error
 * @param fix the properties that undo the error; empty if there is none
 * @param redisDelayed whether a proxy delays connections to Redis by a millisecond in each direction
 * @param sqlDelayed whether a proxy delays connections to a database server by a millisecond in each direction
 * @param slowLog whether the provider's console output is read slowly
 * @param byHand the cause that was originally found by hand, from thread dumps
 * @param causes the prefixes of the names that the diagnosis can give to the true cause; empty if there is no error
 */
record Round(
        int number,
        String profile,
        String mistake,
        List<String> fix,
        boolean redisDelayed,
        boolean sqlDelayed,
        boolean slowLog,
        String byHand,
        Set<String> causes) {

    static final List<Round> ALL = List.of(
            new Round(
                    1,
                    "round1",
                    "40 serial GETs a call",
                    List.of("sample.redis.serial=false"),
                    true,
                    false,
                    false,
                    "140 QPS, 8 s: more than 40 serial Redis GETs a call; one MGET instead",
                    Set.of("MANY COMMANDS")),
            new Round(
                    2,
                    "round2",
                    "HTTP: total 300, per host 8",
                    List.of("rpc.pools.http.max-per-host=300"),
                    true,
                    false,
                    false,
                    "300 QPS, 3 s: the limit of connections per host stayed 8 when the total was raised to 300",
                    Set.of("POOL TOO SMALL: http")),
            new Round(
                    3,
                    "round3",
                    "Redis through Lettuce, 200 serial GETs a call",
                    List.of("spring.data.redis.client-type=jedis"),
                    false,
                    false,
                    false,
                    "300 QPS, 2 s, processors full: eight event loops of Lettuce; Jedis instead",
                    Set.of("PROCESSORS: event loops of Lettuce")),
            new Round(
                    4,
                    "round4",
                    "fair Druid lock, bind pool of 16 with caller-runs, synchronous Log4j into a slow sink",
                    List.of(
                            "spring.datasource.druid.use-unfair-lock=true",
                            "rpc.pools.executors.bind.threads=64",
                            "rpc.pools.executors.bind.queue-capacity=1000",
                            "rpc.pools.executors.bind.rejection=abort",
                            "rpc.logging.async=true"),
                    true,
                    true,
                    true,
                    "400 QPS, 2 s: threads at get Druid connection 442, return it 164, bind pool 107, Log4j 77, Jedis"
                            + " 2",
                    Set.of("FAIR LOCK", "CALLER RUNS", "EXECUTOR TOO SMALL: bind", "SLOW LOG")),
            new Round(
                    5,
                    "round5",
                    "none: everything as tuned",
                    List.of(),
                    true,
                    true,
                    false,
                    "600 QPS, less than 40 ms: unfair lock, larger pools, a queue of 20,000, asynchronous loggers",
                    Set.of()));

    String setting(boolean fixed) {
        return fixed ? String.join(", ", fix) : mistake;
    }
}
