package tern.rpc.registry.dubbo.rules;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import tern.rpc.endpoint.Instance;
import tern.rpc.registry.dubbo.Limits;

/**
 * One condition of a rule. Calls that match {@code calls} go only to providers that match {@code providers}.
 *
 * @param calls the terms that the call and the consumer must match; empty for all calls
 * @param providers the terms that a provider must match; empty to reject the calls
 */
record Condition(List<Term> calls, List<Term> providers) {

    private static final String METHOD = "method";
    private static final Set<String> CALL_FIELDS = Set.of(METHOD, "host", "application");

    /**
     * Matches a term of a condition. The quantifiers of the pattern are possessive. Otherwise, a malicious text could
     * cause extensive backtracking.
     */
    private static final Pattern TERM = Pattern.compile("\\s*+([^&!=,\\s]++)\\s*+(!?=)\\s*+([^&!=]++)");

    /**
     * A term such as {@code host = 10.0.*,10.1.*}.
     *
     * @param isEqual false for {@code !=}
     */
    record Term(String field, boolean isEqual, List<String> patterns) {

        boolean holds(Predicate<String> matches) {
            return patterns.stream().anyMatch(matches) == isEqual;
        }
    }

    /**
     * Parses a condition.
     *
     * @throws IllegalArgumentException if a part of the condition is not supported
     */
    static Condition parse(String text) {
        int arrow = text.indexOf("=>");
        if (arrow < 0) {
            throw new IllegalArgumentException("the condition '" + Limits.shown(text) + "' has no '=>'");
        }
        return of(text.substring(0, arrow), text.substring(arrow + 2));
    }

    /**
     * Parses the two parts of a condition. As in Dubbo, {@code true} stands for all calls, and {@code false} stands for
     * no provider.
     */
    static Condition of(String calls, String providers) {
        return new Condition(
                calls.trim().equals("true") ? List.of() : terms(calls, CALL_FIELDS),
                providers.trim().equals("false") ? List.of() : terms(providers, Fields.NAMES));
    }

    private static List<Term> terms(String text, Set<String> fields) {
        if (text.isBlank()) {
            return List.of();
        }
        // The patterns for each field and operator. As in Dubbo, "host=a & host=b" is the same as "host=a,b".
        Map<Term, List<String>> terms = new LinkedHashMap<>();
        for (String part : text.split("&", -1)) {
            Matcher term = TERM.matcher(part);
            if (!term.matches() || !fields.contains(field(term))) {
                throw new IllegalArgumentException("'" + Limits.shown(part.trim()) + "' is not understood; expected one"
                        + " of " + String.join(", ", fields.stream().sorted().toList()));
            }
            List<String> patterns = Pattern.compile(",")
                    .splitAsStream(term.group(3))
                    .map(String::trim)
                    .toList();
            if (patterns.stream().anyMatch(pattern -> pattern.startsWith("$") || !Fields.isPattern(pattern))) {
                throw new IllegalArgumentException("'" + Limits.shown(part.trim()) + "' is not understood");
            }
            terms.computeIfAbsent(
                            new Term(field(term), term.group(2).equals("="), List.of()), unseen -> new ArrayList<>())
                    .addAll(patterns);
        }
        return terms.entrySet().stream()
                .map(term -> new Term(term.getKey().field(), term.getKey().isEqual(), List.copyOf(term.getValue())))
                .toList();
    }

    /** Returns the name of the field, without a prefix that Dubbo ignores. */
    private static String field(Matcher term) {
        String written = term.group(1);
        return written.startsWith("consumer.") || written.startsWith("provider.")
                ? written.substring(written.indexOf('.') + 1)
                : written;
    }

    /** Returns the number of patterns in this condition. */
    int size() {
        return Stream.concat(calls.stream(), providers.stream())
                .mapToInt(term -> term.patterns().size())
                .sum();
    }

    boolean isByMethod() {
        return calls.stream().anyMatch(term -> term.field().equals(METHOD));
    }

    boolean isFor(String method, RuleConsumer consumer) {
        return calls.stream()
                .allMatch(term -> term.holds(pattern -> switch (term.field()) {
                    case METHOD -> Fields.matches(pattern, method);
                    case "host" -> consumer.hosts().stream().anyMatch(host -> Fields.matches(pattern, host));
                    default -> Fields.matches(pattern, consumer.application());
                }));
    }

    /** Returns the providers that match the condition's provider terms, in the given order. */
    List<Instance> among(List<Instance> instances) {
        if (providers.isEmpty()) {
            return List.of();
        }
        return instances.stream()
                .filter(instance -> providers.stream()
                        .allMatch(term ->
                                term.holds(pattern -> Fields.matches(pattern, Fields.of(instance, term.field())))))
                .toList();
    }
}
