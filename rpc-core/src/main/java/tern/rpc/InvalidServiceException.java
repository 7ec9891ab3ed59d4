package tern.rpc;

import java.io.Serial;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Reports all problems of a service interface at once, so that a developer need not start the application again to find
 * the next problem.
 */
public final class InvalidServiceException extends IllegalArgumentException {

    @Serial
    private static final long serialVersionUID = 1L;

    /** The maximum number of problems in a message. */
    private static final int MAX_SHOWN = 20;

    private final transient List<String> problems;
    private final transient @Nullable ServiceDescriptor rest;

    /**
     * @param service the simple name of the interface
     * @param problems the problems, at least one; each names the method
     * @param rest the service without the methods that have problems; null if it is not known
     */
    public InvalidServiceException(String service, List<String> problems, @Nullable ServiceDescriptor rest) {
        super(
                problems.size() == 1
                        ? problems.get(0)
                        : service + " has " + problems.size() + " problems:" + list(problems));
        this.problems = List.copyOf(problems);
        this.rest = rest;
    }

    /** Returns the problems in the form of a list: one line for each problem, and at most 20 lines. */
    public static String list(List<String> problems) {
        String lines = problems.stream()
                .limit(MAX_SHOWN)
                .map(problem -> "\n  - " + problem)
                .collect(Collectors.joining());
        int others = problems.size() - MAX_SHOWN;
        return others > 0 ? lines + "\n  - and " + others + " more" : lines;
    }

    /** Returns the problems that an exception reports. For any other exception, its message is the only problem. */
    static List<String> problemsOf(IllegalArgumentException e) {
        return e instanceof InvalidServiceException several
                ? several.problems()
                : List.of(String.valueOf(e.getMessage()));
    }

    /** Returns the problems; each names the method. */
    public List<String> problems() {
        return problems;
    }

    /**
     * Returns the service without the methods that have problems, so that the types of the other methods can also be
     * checked. Returns null if no method is left, or if the other methods have already been checked.
     */
    public @Nullable ServiceDescriptor rest() {
        return rest;
    }
}
