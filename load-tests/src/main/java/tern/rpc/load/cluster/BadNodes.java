package tern.rpc.load.cluster;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Compares Tern, grpc-java and Dubbo while one of ten nodes is faulty. Measures failed calls, response times, and the
 * time until the recovered node serves calls again. Retries and hedging are disabled. Prints tables.
 */
public final class BadNodes {

    /** A framework, and the framework's name for one of its load balancing policies. */
    private record Policy(String label, Supplier<Framework> framework, String name) {}

    private static final List<Policy> POLICIES = List.of(
            new Policy("Tern p2c", () -> new TernNodes(0), "p2c"),
            new Policy("Tern p2c, half of the calls idempotent", () -> new TernNodes(50), "p2c"),
            new Policy("Tern round-robin", () -> new TernNodes(0), "round-robin"),
            new Policy("grpc-java round_robin + outlier detection", GrpcNodes::new, "round_robin"),
            new Policy("Dubbo adaptive", DubboNodes::new, "adaptive"),
            new Policy("Dubbo shortestresponse", DubboNodes::new, "shortestresponse"),
            new Policy("Dubbo leastactive", DubboNodes::new, "leastactive"));

    private static final List<Integer> CLIENTS = List.of(4, 200);

    private BadNodes() {}

    /**
     * @param arguments {@code --policies=} parts of policy names, {@code --clients=} numbers of clients, {@code
     *     --nodes=} faults of the first node, all separated by commas; {@code --workers=} the number of workers per
     *     node
     */
    public static void main(String[] arguments) throws Exception {
        Options options = new Options(arguments);
        List<String> wanted = list(options, "policies");
        List<Policy> policies = POLICIES.stream()
                .filter(policy -> wanted.isEmpty() || wanted.stream().anyMatch(policy.label()::contains))
                .toList();
        List<Integer> clients =
                list(options, "clients").stream().map(Integer::valueOf).toList();
        List<BadNode> badNodes = list(options, "nodes").stream()
                .map(name -> BadNode.valueOf(name.toUpperCase(Locale.ROOT)))
                .toList();
        List<BadNodeRun.Result> results = new ArrayList<>();
        for (BadNode badNode : badNodes.isEmpty() ? Arrays.asList(BadNode.values()) : badNodes) {
            for (int count : clients.isEmpty() ? CLIENTS : clients) {
                for (Policy policy : policies) {
                    results.add(run(policy, badNode, count, options.number("workers", 2)));
                }
            }
        }
        System.out.println(table(results));
        System.out.println(seconds(results));
        System.exit(0);
    }

    private static List<String> list(Options options, String name) {
        return Stream.of(options.text(name, "").split(","))
                .filter(value -> !value.isEmpty())
                .toList();
    }

    private static BadNodeRun.Result run(Policy policy, BadNode badNode, int clients, int workers) throws Exception {
        try (BadNodeRun run = new BadNodeRun(policy.framework(), policy.name(), clients, workers)) {
            BadNodeRun.Result result = run.run(policy.label(), badNode);
            System.err.println(
                    row(result) + "\n  first failure: " + result.timeline().firstFailure());
            return result;
        }
    }

    private static String table(List<BadNodeRun.Result> results) {
        return "| bad node | clients | policy | calls | failed | failed % | most of one client | p99 before ms |"
                + " p99 after 3 s ms | share 5 s after cure % |\n"
                + "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n"
                + results.stream().map(BadNodes::row).collect(Collectors.joining("\n")) + "\n";
    }

    private static String row(BadNodeRun.Result result) {
        Timeline times = result.timeline();
        return String.format(
                Locale.ROOT,
                "| %s | %d | %s | %,d | %,d | %.2f | %d | %.1f | %.1f | %.1f |",
                result.badNode().label(),
                result.clients(),
                result.policy(),
                times.callsInFault(),
                times.failedInFault(),
                100.0 * times.failedInFault() / Math.max(1, times.callsInFault()),
                times.mostOfOneClient(),
                times.healthyP99Millis(),
                times.faultP99Millis(),
                result.curedPercent());
    }

    /** Returns the percentage of failed calls in each second, for plots. */
    private static String seconds(List<BadNodeRun.Result> results) {
        int count = results.isEmpty() ? 0 : results.get(0).timeline().seconds();
        String head = IntStream.range(0, count)
                .mapToObj(second -> " " + (second - Timeline.BEFORE) + " |")
                .collect(Collectors.joining());
        return "| failed % in second | clients | policy |" + head + "\n| --- | --- | --- |" + " --- |".repeat(count)
                + "\n" + results.stream().map(BadNodes::secondsOf).collect(Collectors.joining("\n")) + "\n";
    }

    private static String secondsOf(BadNodeRun.Result result) {
        return "| " + result.badNode().label() + " | " + result.clients() + " | " + result.policy() + " |"
                + IntStream.range(0, result.timeline().seconds())
                        .mapToObj(second -> String.format(
                                Locale.ROOT, " %.1f |", result.timeline().failedPercent(second)))
                        .collect(Collectors.joining());
    }
}
