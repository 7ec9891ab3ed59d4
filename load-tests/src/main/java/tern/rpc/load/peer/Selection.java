package tern.rpc.load.peer;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * The command-line arguments.
 *
 * @param peers the compared frameworks in the order of the first round; ratios refer to the first framework
 * @param scenes the scenarios, each with its number of callers
 * @param rounds the number of rounds; each framework runs once per round
 * @param millis the duration of each scenario in each round, in milliseconds
 * @param report the file to which the HTML page is written
 */
record Selection(List<String> peers, List<Scene> scenes, int rounds, int millis, Path report) {

    private static final List<String> SHORT_PEERS =
            List.of("tern-dubbo", "dubbo-hessian2", "grpc-java", "tern-proto", "floor");

    private static final List<String> SHORT_SCENES = List.of("existUser", "getUser", "listUser", "50KB");

    private static final int SHORT_ROUNDS = 3;
    private static final int LONG_ROUNDS = 5;
    private static final int MILLIS = 2_000;
    private static final int MAX_MILLIS = 600_000;
    private static final int MAX_CALLERS = 1_000;
    private static final int MAX_ROUNDS = 99;

    static final String HELP = """
            Options (names separated by commas, or 'all'):
              --peers=NAME,…    default %s
                                known: %s
                                with TLS by the engine of the JDK (-tls) or by netty-tcnative (-boringssl)
              --scenes=NAME,…   default %s
                                known: %s
              --rounds=N        default %d; each peer once in each, in turn, every other round in reverse
              --millis=N        of each scene in each round, default %d
              --callers=N       in place of the scenes' own
              --report=FILE     default load-tests/target/peers.html
              --long            all peers in clear text, all scenes, %d rounds
              --help
            """.formatted(
                    String.join(",", knownOf(SHORT_PEERS)),
                    String.join(",", Peer.NAMES),
                    String.join(",", SHORT_SCENES),
                    String.join(",", Scene.NAMES),
                    SHORT_ROUNDS,
                    MILLIS,
                    LONG_ROUNDS);

    Selection {
        peers = List.copyOf(peers);
        scenes = List.copyOf(scenes);
    }

    /**
     * Parses the options.
     *
     * @throws IllegalArgumentException if an option is unknown or invalid; the message lists the valid values
     */
    static Selection of(String... options) {
        boolean everything = Arrays.asList(options).contains("--long");
        List<String> peers = everything ? Peer.CLEAR_TEXT : knownOf(SHORT_PEERS);
        List<String> scenes = everything ? Scene.NAMES : SHORT_SCENES;
        int rounds = everything ? LONG_ROUNDS : SHORT_ROUNDS;
        int millis = MILLIS;
        int callers = 0;
        Path report = Path.of("load-tests", "target", "peers.html");
        for (String option : options) {
            String value = option.substring(option.indexOf('=') + 1);
            switch (option.substring(0, option.length() - value.length())) {
                case "--peers=" -> peers = names("--peers", value, Peer.NAMES);
                case "--scenes=" -> scenes = names("--scenes", value, Scene.NAMES);
                case "--rounds=" -> rounds = number("--rounds", value, MAX_ROUNDS);
                case "--millis=" -> millis = number("--millis", value, MAX_MILLIS);
                case "--callers=" -> callers = number("--callers", value, MAX_CALLERS);
                case "--report=" -> report = Path.of(value);
                default -> {
                    if (!option.equals("--long")) {
                        throw new IllegalArgumentException("option '" + option + "' is not known; --help shows all");
                    }
                }
            }
        }
        return new Selection(peers, scenes(scenes, callers), rounds, millis, report);
    }

    private static List<String> knownOf(List<String> wanted) {
        return wanted.stream().filter(Peer.NAMES::contains).toList();
    }

    private static List<Scene> scenes(List<String> names, int callers) {
        Function<Scene, Scene> called = scene -> callers == 0 ? scene : scene.withCallers(callers);
        return names.stream().map(Scene::named).map(called).toList();
    }

    private static List<String> names(String option, String value, List<String> known) {
        if (value.equals("all")) {
            return known;
        }
        List<String> names = Arrays.stream(value.split(",", -1)).distinct().toList();
        String unknown = names.stream()
                .filter(name -> !known.contains(name))
                .map(name -> "'" + name + "'")
                .collect(Collectors.joining(", "));
        if (!unknown.isEmpty()) {
            throw new IllegalArgumentException(
                    option + " has " + unknown + "; expected all, or some of " + String.join(", ", known));
        }
        return names;
    }

    /**
     * Parses an option's value.
     *
     * @throws IllegalArgumentException if {@code text} is not an integer from 1 to {@code most}
     */
    static int number(String option, String text, int most) {
        if (text.matches("[0-9]{1,6}") && Integer.parseInt(text) >= 1 && Integer.parseInt(text) <= most) {
            return Integer.parseInt(text);
        }
        throw new IllegalArgumentException(option + " is '" + text + "'; expected a whole number from 1 to " + most);
    }
}
