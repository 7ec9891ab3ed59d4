package tern.rpc.load.peer;

import java.util.List;

/**
 * One scenario of the comparison. In stream scenarios, each message counts as one call in the report.
 *
 * @param callers the number of calling threads or parallel streams in each client
 * @param pairs the number of servers, which equals the number of clients; every client calls all servers in turn
 */
record Scene(String name, int callers, int pairs, String description) {

    private static final int MANY = 200;
    private static final int SOME = 20;
    private static final int FEW = 10;
    private static final int STREAMS = 50;

    /** The name prefixes of the scenarios with streams. */
    private static final List<String> STREAM_KINDS = List.of("feed", "ping", "pipe", "map");

    static final List<Scene> ALL = List.of(
            new Scene("existUser", MANY, 1, "a short text there, a boolean back"),
            new Scene("createUser", MANY, 1, "a user of twelve fields there, a boolean back"),
            new Scene("getUser", MANY, 1, "a number there, a user back"),
            new Scene("listUser", MANY, 1, "a number there, a page of 15 users back"),
            new Scene("1KB", MANY, 1, "a text of 1 KiB there and back"),
            new Scene("50KB", MANY, 1, "a text of 50 KiB there and back"),
            new Scene("200KB", MANY, 1, "a text of 200 KiB there and back"),
            new Scene("Person", MANY, 1, "a nested person there and back"),
            new Scene("1KB-few", FEW, 1, "a text of 1 KiB there and back"),
            new Scene("50KB-few", FEW, 1, "a text of 50 KiB there and back"),
            new Scene("200KB-few", FEW, 1, "a text of 200 KiB there and back"),
            new Scene("Person-few", FEW, 1, "a nested person there and back"),
            new Scene("work", SOME, 1, "the server builds a text of 1 KB 10,000 times"),
            new Scene("mixed", SOME, 2, "texts of 20 bytes to 200 KB that change with time, two servers, two clients"),
            new Scene("feed1", 1, 1, "one stream of 200,000 messages of 100 bytes from the server"),
            new Scene("feed50", STREAMS, 1, "50 streams at once, each of 20,000 messages of 100 bytes from the server"),
            new Scene("ping1", 1, 1, "messages of 100 bytes there and back on one stream, one at a time"),
            new Scene("pipe1", 1, 1, "20,000 messages of 100 bytes there and back on one stream, without waiting"),
            new Scene("map1", 1, 1, "as pipe1, but through publishers that request one message at a time"),
            new Scene(
                    "ping50", STREAMS, 1, "messages of 100 bytes there and back on 50 streams, one at a time on each"));

    /** A scenario that is used only by {@link Stability} and is not part of the comparison. */
    static final Scene STABILITY = new Scene("stability", SOME, 1, "all kinds of calls in turn");

    static final List<String> NAMES = ALL.stream().map(Scene::name).toList();

    static Scene named(String name) {
        return ALL.stream()
                .filter(scene -> scene.name.equals(name))
                .findFirst()
                .orElseThrow(() ->
                        new IllegalArgumentException("scene '" + name + "' is not known; expected one of " + NAMES));
    }

    Scene withCallers(int callers) {
        return new Scene(name, callers, pairs, description);
    }

    /** Returns whether the scenario counts stream messages instead of calls. */
    boolean streams() {
        return STREAM_KINDS.stream().anyMatch(name::startsWith);
    }

    /** Returns the name of the call. Scenarios that differ only in the number of callers have the same call. */
    String call() {
        return name.endsWith("-few") ? name.substring(0, name.length() - "-few".length()) : name;
    }
}
