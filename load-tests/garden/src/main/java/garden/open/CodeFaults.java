package garden.open;

import static garden.run.Fault.NO_SIZE;

import garden.run.Fault;
import garden.run.Kind;
import garden.run.Stand;
import java.util.List;

/** Faults in code, locks, executors and memory, and faults of the machine. */
final class CodeFaults {

    private CodeFaults() {}

    static List<Fault> all() {
        return List.of(
                Fault.of("code-1", Stand.DRUID, "a regular expression tries all ways to match")
                        .truth(Kind.CODE, "Titles\\.clean|regex", "Titles\\.clean|Titles", NO_SIZE)
                        .plant(garden -> garden.set("code-1", 75)),
                Fault.of("code-3", Stand.HIKARI, "a large list is sorted in each call of one method")
                        .truth(Kind.CODE, "Rankings\\.top|Rankings", "Rankings", NO_SIZE)
                        .plant(garden -> garden.set("code-3", 90_000)),
                Fault.of("code-5", Stand.DRUID, "a loop polls until time has passed")
                        .truth(Kind.CODE, "Tickets\\.draw", "Tickets\\.draw", NO_SIZE)
                        .plant(garden -> garden.set("code-5", 150)),
                Fault.of("lock-1", Stand.HIKARI, "a ReentrantLock is held for 55 ms")
                        .truth(Kind.LOCK, "Numbers\\.next|Numbers", "Numbers", NO_SIZE)
                        .plant(garden -> garden.set("lock-1", 55)),
                Fault.of("lock-3", Stand.DRUID, "ConcurrentHashMap.compute waits inside")
                        .truth(Kind.LOCK, "Catalogue", "Catalogue", NO_SIZE)
                        .plant(garden -> garden.set("lock-3", 60)),
                Fault.of("lock-5", Stand.HIKARI, "a statement inside a synchronized method")
                        .truth(Kind.LOCK + "|" + Kind.STATEMENT, "Ledgers|tax", "Ledgers|statement", NO_SIZE)
                        .plant(garden -> garden.set("lock-5", 55)),
                Fault.of("executors-1", Stand.HIKARI, "two threads for tasks that would need three")
                        .truth(
                                Kind.EXECUTOR,
                                "pack|Packing",
                                "pack|Packing",
                                "(max-active|maximum-pool-size|rpc\\.server\\.threads)=\\d")
                        .plant(garden -> garden.set("executors-1", 120)),
                Fault.of("executors-3", Stand.DRUID, "tasks that sleep in the common pool")
                        .truth(Kind.EXECUTOR, "common|ForkJoin|Delivery", "Delivery|common", NO_SIZE)
                        .plant(garden -> garden.set("executors-3", 55)),
                Fault.of("executors-5", Stand.HIKARI, "a full executor whose callers run its tasks")
                        .truth(
                                Kind.EXECUTOR,
                                "print|Labels",
                                "print|Labels",
                                "(max-active|maximum-pool-size|rpc\\.server\\.threads)=\\d")
                        .plant(garden -> garden.set("executors-5", 70)),
                Fault.of("collector-1", Stand.HIKARI, "each call makes a large list")
                        .truth(
                                Kind.COLLECTOR + "|" + Kind.CODE,
                                "Exports",
                                "Exports",
                                "(max-active|maximum-pool-size|threads)=\\d")
                        .plant(garden -> garden.set("collector-1", 150_000)),
                Fault.of("collector-3", Stand.DRUID, "each call makes arrays of more than half a region")
                        .truth(
                                Kind.COLLECTOR,
                                "Scans|humongous|large|heap|alloc|collect",
                                "Scans|humongous|region|Xmx|alloc",
                                "(max-active|threads)=\\d")
                        .plant(garden -> garden.set("collector-3", 14)),
                Fault.of("collector-5", Stand.DRUID, "direct memory is used up")
                        .truth(Kind.NATIVE, "direct|Thumbnails", "direct|Thumbnails", NO_SIZE)
                        .plant(garden -> garden.set("collector-5", 4_000_000)),
                Fault.of("processors-1", Stand.HIKARI, "threads of the shop compute all the time")
                        .truth(Kind.PROCESSORS, "indexer|Indexer|this (process|jvm)|own", "index", NO_SIZE)
                        .plant(garden -> garden.set("processors-1", 24)),
                Fault.of("processors-3", Stand.HIKARI, "the quota of the control group is 25 % of a processor")
                        .truth(
                                Kind.PROCESSORS,
                                "quota|throttl|cgroup|control group|limit",
                                "quota|limit|cgroup|container|control group",
                                NO_SIZE)
                        .plant(garden -> {
                            garden.world().machine().quota(25);
                            garden.load().factor(1.5);
                        }),
                Fault.of("disk-1", Stand.HIKARI, "each call forces a file many times")
                        .truth(Kind.FILE, "Journal\\.note|Journal", "Journal", NO_SIZE)
                        .plant(garden -> garden.set("disk-1", 150)),
                Fault.of("log-1", Stand.DRUID, "an appender needs 60 ms for each line")
                        .truth(Kind.LOG + "|" + Kind.LOCK, "log|mirror|appender", "log|async|mirror|appender", NO_SIZE)
                        .plant(garden -> garden.set("log-1", 60)),
                Fault.of("log-3", Stand.LOG4J, "whatever reads standard output is slow, and Log4j 2 waits for it")
                        .truth(Kind.LOG + "|" + Kind.LOCK, "log|Diary|console|stdout", "log|async|Diary", NO_SIZE)
                        .plant(garden -> {
                            garden.shop().quiet(300);
                            garden.set("log-3", 20);
                        }),
                Fault.of("workers-1", Stand.HIKARI, "calls of one method wait for ever")
                        .truth(Kind.HUNG, "Approvals\\.approve|Approvals", "Approvals", NO_SIZE)
                        .plant(garden -> garden.set("workers-1", 1)),
                Fault.of("caller-1", Stand.DRUID, "a burst of calls, 30 times the usual rate")
                        .truth(
                                Kind.CALLER,
                                "worker|rate|caller|processor|calls|load",
                                "caller|processor|limit|instance|rate|less|fewer",
                                "(max-active|max-total)=\\d")
                        .plant(garden -> garden.load().factor(30)),
                Fault.of("errors-1", Stand.HIKARI, "an exception in each third call of one method")
                        .truth(Kind.FAILURE, "NullPointer|Vouchers", "Vouchers", NO_SIZE)
                        .plant(garden -> garden.set("errors-1", 1)),
                Fault.of("virtual-1", Stand.VIRTUAL, "virtual threads wait for a ReentrantLock")
                        .truth(Kind.LOCK, "Numbers", "Numbers", NO_SIZE)
                        .plant(garden -> garden.set("lock-1", 60)),
                Fault.of("virtual-3", Stand.VIRTUAL, "a code path never closes its connection of Hikari")
                        .truth(Kind.LEAK, "OrderRepository\\.export", "OrderRepository\\.export", NO_SIZE)
                        .plant(garden -> garden.set("table-1", 1)),
                Fault.of("web-1", Stand.WEB, "web requests wait for a synchronized method")
                        .truth(Kind.LOCK, "Signatures", "Signatures", NO_SIZE)
                        .plant(garden -> garden.set("table-3", 60)),
                Fault.of("web-3", Stand.WEB, "one statement of web requests takes 180 ms")
                        .truth(Kind.STATEMENT, "tax", "statement|query|index|plan|database", NO_SIZE)
                        .plant(garden -> garden.set("table-2", 180)));
    }
}
