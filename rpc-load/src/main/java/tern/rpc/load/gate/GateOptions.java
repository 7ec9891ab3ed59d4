package tern.rpc.load.gate;

import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tern.rpc.load.Load;
import tern.rpc.load.Target;

/**
 * The command's arguments: the method to call, the load and the latency target.
 *
 * @param server the server's address, {@code http://host:port}
 * @param method the method's name; for an overload, followed by {@code ~} and the first letters of its parameter types
 * @param headers the headers of every call
 * @param timeout the timeout of one call
 * @param actuator the address of the application's Actuator endpoints; null if the application has none
 */
record GateOptions(
        URI server,
        String service,
        String method,
        Arguments arguments,
        Map<String, String> headers,
        Load load,
        Target target,
        Duration timeout,
        @Nullable URI actuator) {

    static final String HELP = """
        Calls one method at a steady rate, by JSON over HTTP, and reports whether the target was reached.

          --url=URL            of the server: http://host:20880 or https://host:20880
          --service=NAME       of the interface: example.GreetingService
          --method=NAME        of the method; with ~ and letters if it has overloads: place~Si
          --arguments=JSON     the argument, or an array of all; @FILE takes the lines of a file in turn; {number}
                               becomes the number of the call, {run} a text that no other run has ([])
          --group=NAME         of the service (none)
          --version=NAME       of the service (none)
          --header=NAME:VALUE  sent with every call; may be given several times
          --rate=N             calls a second, which is also the target (500)
          --seconds=N          how long the load counts (30)
          --warm-up=N          seconds before that; the rate rises during their first half (10)
          --latency=TIME       99 of 100 calls have to end within this, and none may fail (100ms)
          --timeout=TIME       a call that takes longer has failed (3s)
          --users=N            threads that call (200)
          --actuator=URL       of the application, http://host:8080/actuator: its diagnosis is shown (none)
          --help               this text

        Ends with 0 on PASS, 1 on FAIL, 2 if the arguments are wrong or the method cannot be called.
        """;

    private static final Pattern OPTION = Pattern.compile("--([a-z-]+)=(.*)", Pattern.DOTALL);
    private static final Pattern NAME_IN_HELP = Pattern.compile("^ {2}--([a-z-]+)=", Pattern.MULTILINE);
    private static final List<String> NAMES =
            NAME_IN_HELP.matcher(HELP).results().map(result -> result.group(1)).toList();
    private static final Pattern SERVICE_NAME = Pattern.compile("[\\w$-]+(\\.[\\w$-]+)*");
    private static final Pattern METHOD_NAME = Pattern.compile("[\\w$]+(~\\w*)?");
    private static final Pattern HEADER = Pattern.compile("([\\w-]+)\\s*:\\s*(.*)");
    private static final Pattern TIME = Pattern.compile("(\\d{1,6})(ms|s|m)");
    private static final String SEE_HELP = "; see --help";

    /**
     * The maximum number of users: slightly below 1,024, the default limit of a Tern server for the calls on one
     * connection.
     */
    private static final int MAX_USERS = 1_000;

    static GateOptions parse(List<String> arguments) throws CannotRunException {
        Map<String, String> given = new LinkedHashMap<>();
        Map<String, String> headers = new LinkedHashMap<>();
        for (String argument : arguments) {
            Matcher option = OPTION.matcher(argument);
            if (!option.matches() || !NAMES.contains(option.group(1))) {
                throw new CannotRunException("unknown argument '" + argument + "'; expected --name=value" + SEE_HELP);
            }
            if (option.group(1).equals("header")) {
                putHeader(headers, option.group(2));
            } else if (given.put(option.group(1), option.group(2)) != null) {
                throw new CannotRunException("--" + option.group(1) + " is given twice");
            }
        }
        return new Values(given).options(headers);
    }

    private static void putHeader(Map<String, String> headers, String text) throws CannotRunException {
        Matcher header = HEADER.matcher(text);
        if (!header.matches()) {
            throw new CannotRunException("--header is '" + text + "'; expected NAME:VALUE");
        }
        headers.put(header.group(1), header.group(2));
    }

    /** Returns the called method's name, for the result table. */
    String name() {
        return service.substring(service.lastIndexOf('.') + 1) + "." + method;
    }

    /** The options given on the command line. */
    private record Values(Map<String, String> given) {

        GateOptions options(Map<String, String> headers) throws CannotRunException {
            URI server = uri("url", required("url", "the server, such as http://localhost:20880"));
            if (!server.getPath().isEmpty() && !server.getPath().equals("/")) {
                throw new CannotRunException("--url is '" + server + "'; expected no path after host and port, which"
                        + " --service and --method make");
            }
            String service = name("service", SERVICE_NAME, "an interface, such as example.GreetingService");
            String method = name("method", METHOD_NAME, "a method, such as greet or place~Si");
            putIfGiven(headers, "group", "tri-service-group");
            putIfGiven(headers, "version", "tri-service-version");
            double rate = rate();
            Load load = new Load(
                    rate,
                    Duration.ofSeconds(number("warm-up", 10, 0, 3_600)),
                    Duration.ofSeconds(number("seconds", 30, 1, 86_400)),
                    number("users", 200, 1, MAX_USERS));
            String actuator = given.get("actuator");
            return new GateOptions(
                    server,
                    service,
                    method,
                    Arguments.of(
                            given.getOrDefault("arguments", "[]"),
                            Long.toString(System.currentTimeMillis(), Character.MAX_RADIX)),
                    Map.copyOf(headers),
                    load,
                    new Target(rate, time("latency", "100ms")),
                    time("timeout", "3s"),
                    actuator == null ? null : uri("actuator", actuator));
        }

        private String required(String name, String expected) throws CannotRunException {
            String value = given.get(name);
            if (value == null || value.isBlank()) {
                throw new CannotRunException("--" + name + " is missing; expected " + expected + SEE_HELP);
            }
            return value;
        }

        private String name(String name, Pattern form, String expected) throws CannotRunException {
            String value = required(name, expected);
            if (!form.matcher(value).matches()) {
                throw new CannotRunException("--" + name + " is '" + value + "'; expected " + expected);
            }
            return value;
        }

        private static URI uri(String name, String value) throws CannotRunException {
            try {
                URI uri = new URI(value);
                if (uri.getHost() != null && ("http".equals(uri.getScheme()) || "https".equals(uri.getScheme()))) {
                    return uri;
                }
            } catch (URISyntaxException e) {
                // A malformed address is reported with the same exception as an unsupported scheme, after this block.
            }
            throw new CannotRunException(
                    "--" + name + " is '" + value + "'; expected http:// or https://, a host and a port");
        }

        private void putIfGiven(Map<String, String> headers, String name, String header) {
            String value = given.get(name);
            if (value != null) {
                headers.put(header, value);
            }
        }

        private double rate() throws CannotRunException {
            String value = given.getOrDefault("rate", "500");
            try {
                double rate = Double.parseDouble(value);
                if (rate > 0 && rate <= 1_000_000) {
                    return rate;
                }
            } catch (NumberFormatException e) {
                // A malformed number is reported with the same exception as a number out of range, after this block.
            }
            throw new CannotRunException(
                    "--rate is '" + value + "'; expected calls a second, more than 0 and at most 1000000");
        }

        private int number(String name, int standard, int least, int most) throws CannotRunException {
            String value = given.getOrDefault(name, String.valueOf(standard));
            if (!value.matches("\\d{1,6}") || Integer.parseInt(value) < least || Integer.parseInt(value) > most) {
                throw new CannotRunException(
                        "--" + name + " is '" + value + "'; expected a whole number from " + least + " to " + most);
            }
            return Integer.parseInt(value);
        }

        private Duration time(String name, String standard) throws CannotRunException {
            String value = given.getOrDefault(name, standard);
            Matcher time = TIME.matcher(value);
            if (!time.matches() || Long.parseLong(time.group(1)) == 0) {
                throw new CannotRunException("--" + name + " is '" + value
                        + "'; expected a number above 0 with a unit, such as 100ms, 2s or 1m");
            }
            long number = Long.parseLong(time.group(1));
            return switch (time.group(2)) {
                case "ms" -> Duration.ofMillis(number);
                case "s" -> Duration.ofSeconds(number);
                default -> Duration.ofMinutes(number);
            };
        }
    }
}
