package garden.blind;

import static garden.run.Fault.NO_SIZE;

import garden.run.Fault;
import garden.run.Kind;
import garden.run.Stand;
import java.util.List;

/**
 * The faults inside the shop application or its machine: faults in code, locks, executors, memory, processors, files
 * and logs.
 */
final class InnerFaults {

    private InnerFaults() {}

    static List<Fault> all() {
        return List.of(
                Fault.of("code-2", Stand.HIKARI, "a recursion tries every choice")
                        .truth(Kind.CODE, "Bundles", "Bundles", NO_SIZE)
                        .plant(garden -> garden.set("code-2", 24)),
                Fault.of("code-4", Stand.DRUID, "thousands of exceptions in a call are control flow")
                        .truth(Kind.CODE, "Coupons", "Coupons", NO_SIZE)
                        .plant(garden -> garden.set("code-4", 9_000)),
                Fault.of("code-6", Stand.DRUID, "a list is searched for each of its elements")
                        .truth(Kind.CODE, "Recipients", "Recipients", NO_SIZE)
                        .plant(garden -> garden.set("code-6", 8_000)),
                Fault.of("lock-2", Stand.HIKARI, "the writer of a ReadWriteLock stops its readers")
                        .truth(Kind.LOCK, "Tariffs", "Tariffs", NO_SIZE)
                        .plant(garden -> garden.set("lock-2", 450)),
                Fault.of("lock-4", Stand.DRUID, "threads wait for the initializer of a class")
                        .truth(Kind.LOCK + "|" + Kind.HUNG + "|init", "Countries", "Countries", NO_SIZE)
                        .plant(garden -> garden.set("lock-4", 1)),
                Fault.of("lock-6", Stand.DRUID, "a thread outside calls holds a monitor for 700 ms")
                        .truth(Kind.LOCK, "Inventory", "Inventory", NO_SIZE)
                        .plant(garden -> garden.set("lock-6", 700)),
                Fault.of("executors-2", Stand.HIKARI, "tasks wait for tasks in the same executor")
                        .truth(Kind.EXECUTOR + "|" + Kind.HUNG, "Wrapping|wrapper", "Wrapping", NO_SIZE)
                        .plant(garden -> garden.set("executors-2", 20)),
                Fault.of("executors-4", Stand.DRUID, "slow tasks fill the application's executor before those of calls")
                        .truth(
                                Kind.EXECUTOR,
                                "Mail|Stickers|task-|applicationTaskExecutor",
                                "Mail|Stickers|task|executor",
                                "(max-active|rpc\\.server\\.threads)=\\d")
                        .plant(garden -> garden.set("executors-4", 1_500)),
                Fault.of("executors-6", Stand.HIKARI, "a batch occupies the common pool")
                        .truth(Kind.EXECUTOR, "Statistics|common|ForkJoin", "Statistics|common", NO_SIZE)
                        .plant(garden -> garden.set("executors-6", 2)),
                Fault.of("collector-2", Stand.DRUID, "code asks for collections")
                        .truth(
                                Kind.COLLECTOR + "|pause",
                                "System\\.gc|explicit|Cleanup|Runtime\\.gc",
                                "System\\.gc|explicit|Cleanup|DisableExplicitGC|Runtime\\.gc",
                                NO_SIZE)
                        .plant(garden -> garden.set("collector-2", 4)),
                Fault.of("collector-4", Stand.HIKARI, "a map grows until the heap is full")
                        .truth(
                                Kind.COLLECTOR,
                                "heap|full|old|live|Recents",
                                "Xmx|heap|bound|cache|Recents",
                                "(max-active|maximum-pool-size|threads)=\\d")
                        .plant(garden -> garden.set("collector-4", 260)),
                Fault.of("processors-2", Stand.DRUID, "twelve processes of others compute")
                        .truth(
                                Kind.PROCESSORS,
                                "other|neighbou?r|machine|process",
                                "machine|processor|other|neighbou?r|instance",
                                NO_SIZE)
                        .plant(garden -> {
                            garden.world().machine().neighbours(12);
                            garden.load().factor(2);
                        }),
                Fault.of("processors-4", Stand.HIKARI, "the shop may use one processor, which others use too")
                        .truth(
                                Kind.PROCESSORS,
                                "other|neighbou?r|machine|process|allowed|1 of",
                                "machine|processor|other|neighbou?r|allowed|affinity|cpuset|taskset",
                                NO_SIZE)
                        .plant(garden -> {
                            garden.world().machine().oneProcessor(8);
                            garden.load().factor(1.5);
                        }),
                Fault.of("disk-2", Stand.DRUID, "writes to a slow volume")
                        .truth(Kind.FILE, "Archive", "Archive", NO_SIZE)
                        .plant(garden -> garden.set("disk-2", 600)),
                Fault.of("log-2", Stand.HIKARI, "the reader of standard output is slow")
                        .truth(
                                Kind.LOG,
                                "log|console|stdout|Footprints",
                                "log|async|console|stdout|Footprints|fewer lines",
                                NO_SIZE)
                        .plant(garden -> {
                            garden.shop().quiet(200);
                            garden.set("log-2", 15);
                        }),
                Fault.of("workers-2", Stand.DRUID, "calls of one method sleep until all workers are taken")
                        .truth(Kind.HUNG, "Promotions\\.review|Promotions", "Promotions", NO_SIZE)
                        .plant(garden -> garden.set("workers-2", 9_000)),
                Fault.of("caller-2", Stand.HIKARI, "requests of 6 MB")
                        .truth(
                                Kind.CALLER + "|decode|" + Kind.COLLECTOR,
                                "request|attach|bytes|size|decode|alloc|byte",
                                "request|attach|size|smaller|chunk|stream|limit|max-request|byte|Xmx|heap",
                                "(max-active|maximum-pool-size)=\\d")
                        .plant(garden -> garden.load().documents(6_000_000)),
                Fault.of("errors-2", Stand.HIKARI, "a statement on a table that is missing after a deployment")
                        .truth(
                                Kind.FAILURE,
                                "BadSqlGrammar|JdbcSQLSyntaxError|loyalty|Histories",
                                "Histories|loyalty|statement|table|BadSqlGrammar",
                                NO_SIZE)
                        .plant(garden -> garden.set("errors-2", 1)),
                Fault.of("virtual-2", Stand.VIRTUAL, "a statement of virtual threads takes 220 ms")
                        .truth(Kind.STATEMENT, "tax", "statement|query|index|plan|database", NO_SIZE)
                        .plant(garden -> garden.set("virtual-2", 220)),
                Fault.of("virtual-4", Stand.VIRTUAL, "virtual threads wait for a semaphore of two")
                        .truth(Kind.LOCK + "|" + Kind.HUNG, "Promotions\\.stamp|Promotions", "Promotions", NO_SIZE)
                        .plant(garden -> garden.set("virtual-4", 110)),
                Fault.of("web-4", Stand.WEB, "an exception in each fourth web request of one route")
                        .truth(Kind.FAILURE, "IllegalArgument|Promotions", "Promotions", NO_SIZE)
                        .plant(garden -> garden.set("web-4", 1)));
    }
}
