package tern.rpc.load.replay;

import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;

/**
 * The provider's own diagnosis under load.
 *
 * @param causes the causes of the missed target, the most expensive first; empty if the target is met
 * @param text the diagnosis in readable form
 */
record Answer(List<Cause> causes, String text) {

    /** A cause: its kind, its name, its share of a late call's time, and the recommended change. */
    record Cause(String kind, String name, double ms, double ofMs, String change) {

        String title() {
            return kind + ": " + name;
        }
    }

    Answer {
        causes = List.copyOf(causes);
    }

    static Answer of(JsonNode diagnosis) {
        List<Cause> causes = new ArrayList<>();
        for (JsonNode cause : diagnosis.path("causes")) {
            causes.add(new Cause(
                    text(cause, "kind"),
                    text(cause, "name"),
                    cause.path("ms").asDouble(),
                    cause.path("ofMs").asDouble(),
                    text(cause.path("change"), "text")));
        }
        return new Answer(causes, text(diagnosis, "text"));
    }

    private static String text(JsonNode node, String name) {
        return node.path(name).asString("");
    }

    /** Returns the kind and name of the first cause, or an empty string if there is none. */
    String firstTitle() {
        return causes.isEmpty() ? "" : causes.get(0).title();
    }

    String first() {
        return causes.isEmpty()
                ? "nothing"
                : firstTitle() + "; " + causes.get(0).change();
    }
}
