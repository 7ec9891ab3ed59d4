package garden.run;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The result of a diagnosis: its state and the causes that it found. */
record Answer(String state, List<Found> causes) {

    /** The JSON fields of a diagnosed cause that contain symptoms, expected effects, or causes that were ruled out. */
    private static final Set<String> OTHERS = Set.of("symptoms", "acquitted", "brings", "not");

    private static final JsonMapper JSON = new JsonMapper();

    /**
     * A cause that the diagnosis found.
     *
     * @param all the fields of the cause as one string, without symptoms and without causes that were ruled out
     */
    record Found(String title, String change, String all) {}

    static Answer of(String json) {
        JsonNode root = JSON.readTree(json);
        List<Found> causes = new ArrayList<>();
        for (JsonNode cause : root.path("causes")) {
            StringBuilder all = new StringBuilder();
            cause.properties().forEach(field -> {
                if (!OTHERS.contains(field.getKey())) {
                    all.append(text(field.getValue())).append('\n');
                }
            });
            JsonNode change = cause.path("change");
            causes.add(new Found(
                    text(cause.path("kind")) + ": " + text(cause.path("name")),
                    change.isObject() ? text(change.path("text")) + setting(change) : text(change),
                    all.toString()));
        }
        return new Answer(text(root.path("state")), causes);
    }

    /**
     * Returns a suffix for the text of a recommended change. The suffix contains the property to set, because the text
     * itself might omit it.
     */
    private static String setting(JsonNode change) {
        String property = text(change.path("property"));
        return property.isEmpty() ? "" : " (" + property + "=" + text(change.path("to")) + ")";
    }

    /** Returns the status in the JSON of {@code /actuator/health}. */
    static String status(String json) {
        return text(JSON.readTree(json).path("status"));
    }

    private static String text(JsonNode node) {
        if (node.isString()) {
            return node.stringValue();
        }
        return node.isMissingNode() || node.isNull() ? "" : node.toString();
    }

    boolean misses() {
        return state.equals("MISS") || !causes.isEmpty();
    }
}
