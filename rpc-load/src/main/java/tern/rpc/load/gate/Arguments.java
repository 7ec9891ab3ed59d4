package tern.rpc.load.gate;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import tools.jackson.core.JacksonException;

/**
 * The request bodies of the calls. The bodies are used in turn; after the last body, the first one is used again. In a
 * body, {@code {number}} is replaced with the call's number, and {@code {run}} with a string that is unique to this
 * run.
 */
final class Arguments {

    private static final String NUMBER = "{number}";
    private static final String RUN = "{run}";

    private final List<String> bodies;

    private Arguments(List<String> bodies) {
        this.bodies = bodies;
    }

    /**
     * @param text a JSON body, or {@code @} followed by the name of a file with one body per line
     * @param run the string that is unique to this run
     */
    static Arguments of(String text, String run) throws CannotRunException {
        List<String> bodies = text.startsWith("@") ? lines(Path.of(text.substring(1))) : List.of(text);
        for (String body : bodies) {
            check(body);
        }
        return new Arguments(bodies.stream().map(body -> body.replace(RUN, run)).toList());
    }

    private static List<String> lines(Path file) throws CannotRunException {
        List<String> lines;
        try {
            lines = Files.readAllLines(file).stream()
                    .filter(line -> !line.isBlank())
                    .toList();
        } catch (IOException e) {
            throw new CannotRunException("--arguments names the file " + file + ", which cannot be read: " + e);
        }
        if (lines.isEmpty()) {
            throw new CannotRunException("--arguments names the file " + file + ", which is empty; expected one line"
                    + " of JSON for each call, used in turn");
        }
        return lines;
    }

    private static void check(String body) throws CannotRunException {
        try {
            if (Json.tree(body.replace(NUMBER, "0")).isMissingNode()) {
                throw noJson(body, "empty");
            }
        } catch (JacksonException e) {
            throw noJson(body, e.getOriginalMessage());
        }
    }

    private static CannotRunException noJson(String body, String why) {
        return new CannotRunException("--arguments has '" + body + "', which is not JSON (" + why
                + "); expected the argument or an array of all, such as [\"Ada\", 2]");
    }

    String body(long number) {
        return bodies.get((int) (number % bodies.size())).replace(NUMBER, Long.toString(number));
    }
}
