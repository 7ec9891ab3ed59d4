package tern.rpc.load.audit;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.apache.maven.artifact.versioning.ComparableVersion;
import tools.jackson.databind.JsonNode;

/** A security advisory in the OSV schema (version 1.7). Only the parts about Maven packages are read. */
record Advisory(String id, boolean withdrawn, List<Affected> affected) {

    /**
     * A Maven package that the advisory affects.
     *
     * @param name the group and artifact, joined by a colon
     */
    record Affected(String name, String severity, List<String> versions, List<List<Event>> ranges) {}

    record Event(Kind kind, ComparableVersion version, String text) {}

    /**
     * The kinds of events in an advisory's version range, such as the first fixed version. Events for the same version
     * are applied in the order of these constants.
     */
    enum Kind {
        FIXED,
        INTRODUCED,
        LAST_AFFECTED,
        LIMIT
    }

    /**
     * A vulnerability of a dependency, as described by an advisory.
     *
     * @param fixed the first fixed version, or a note if the advisory names no fixed version
     */
    record Finding(String id, String severity, String fixed) {}

    /**
     * Parses an advisory.
     *
     * @throws IllegalArgumentException if the JSON is not an advisory
     */
    static Advisory of(JsonNode node) {
        String id = node.path("id").asString("");
        if (id.isEmpty()) {
            throw new IllegalArgumentException("an advisory has no id");
        }
        List<Affected> affected = new ArrayList<>();
        for (JsonNode one : array(node, "affected", id)) {
            JsonNode described = one.path("package");
            String ecosystem = described.path("ecosystem").asString("");
            if (ecosystem.equals("Maven") || ecosystem.startsWith("Maven:")) {
                affected.add(affected(node, one, described.path("name").asString(""), id));
            }
        }
        return new Advisory(id, !node.path("withdrawn").asString("").isEmpty(), affected);
    }

    private static Affected affected(JsonNode advisory, JsonNode node, String name, String id) {
        List<String> versions = new ArrayList<>();
        for (JsonNode version : array(node, "versions", id)) {
            versions.add(version.asString());
        }
        List<List<Event>> ranges = new ArrayList<>();
        for (JsonNode range : array(node, "ranges", id)) {
            if (!range.path("type").asString("").equals("GIT")) {
                ranges.add(events(range, id));
            }
        }
        return new Affected(name, severity(advisory, node), versions, ranges);
    }

    private static List<Event> events(JsonNode range, String id) {
        List<Event> events = new ArrayList<>();
        for (JsonNode event : array(range, "events", id)) {
            Kind kind = event.has("introduced")
                    ? Kind.INTRODUCED
                    : event.has("fixed") ? Kind.FIXED : event.has("last_affected") ? Kind.LAST_AFFECTED : Kind.LIMIT;
            String text =
                    event.path(kind.name().toLowerCase(java.util.Locale.ROOT)).asString("");
            if (text.isEmpty()) {
                throw new IllegalArgumentException("advisory " + id + " has an event without a version: " + event);
            }
            events.add(new Event(kind, new ComparableVersion(text), text));
        }
        if (events.stream().noneMatch(event -> event.kind == Kind.INTRODUCED)) {
            throw new IllegalArgumentException("advisory " + id + " has a range without 'introduced'");
        }
        // The version "0" precedes all other versions, even those that Maven sorts before 0.
        events.sort(Comparator.comparing((Event event) -> !event.text.equals("0"))
                .thenComparing(Event::version)
                .thenComparing(Event::kind));
        return events;
    }

    private static String severity(JsonNode advisory, JsonNode affected) {
        for (JsonNode node : List.of(advisory, affected)) {
            String word = node.path("database_specific").path("severity").asString("");
            if (!word.isEmpty()) {
                return word;
            }
        }
        for (JsonNode node : List.of(affected, advisory)) {
            String score = node.path("severity").path(0).path("score").asString("");
            if (!score.isEmpty()) {
                return score;
            }
        }
        return "unknown";
    }

    private static JsonNode array(JsonNode node, String name, String id) {
        JsonNode found = node.path(name);
        if (!found.isMissingNode() && !found.isNull() && !found.isArray()) {
            throw new IllegalArgumentException("advisory " + id + " has '" + name + "' that is not a list");
        }
        return found;
    }

    /**
     * Returns the finding for a version of a package. Returns an empty result if the version is not affected or the
     * advisory has been withdrawn.
     */
    Optional<Finding> of(String name, String version) {
        if (withdrawn) {
            return Optional.empty();
        }
        ComparableVersion asked = new ComparableVersion(version);
        for (Affected one : affected) {
            if (!one.name.equals(name)) {
                continue;
            }
            for (List<Event> range : one.ranges) {
                if (isIn(range, asked)) {
                    return Optional.of(new Finding(id, one.severity, fixed(range, asked)));
                }
            }
            if (one.versions.stream().anyMatch(listed -> asked.equals(new ComparableVersion(listed)))) {
                String fixed = one.ranges.isEmpty() ? "no fixed version named" : fixed(one.ranges.get(0), asked);
                return Optional.of(new Finding(id, one.severity, fixed));
            }
        }
        return Optional.empty();
    }

    /**
     * Returns whether the version is in the range, according to the algorithm in the section "Evaluation" of the OSV
     * schema.
     */
    private static boolean isIn(List<Event> range, ComparableVersion asked) {
        boolean limited = false;
        boolean below = false;
        boolean affected = false;
        for (Event event : range) {
            int order = asked.compareTo(event.version);
            switch (event.kind) {
                case INTRODUCED -> affected |= order >= 0 || event.text.equals("0");
                case FIXED -> affected &= order < 0;
                case LAST_AFFECTED -> affected &= order <= 0;
                case LIMIT -> {
                    limited = true;
                    below |= order < 0 || event.text.equals("*");
                }
            }
        }
        return affected && (below || !limited);
    }

    private static String fixed(List<Event> range, ComparableVersion asked) {
        for (Event event : range) {
            if (event.kind == Kind.FIXED && asked.compareTo(event.version) < 0) {
                return "fixed in " + event.text;
            }
            if (event.kind == Kind.LAST_AFFECTED && asked.compareTo(event.version) <= 0) {
                return "fixed after " + event.text;
            }
        }
        return "no fixed version named";
    }
}
