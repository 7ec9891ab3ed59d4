package tern.rpc.console;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import tern.rpc.Metadata;
import tern.rpc.PeerText;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.databind.JsonNode;

/**
 * A request for a call, as sent by the console's page.
 *
 * @param service the service's key in the form of {@link tern.rpc.ServiceKey#toString()}
 * @param descriptor the concatenated JVM descriptors of the parameter types; null if the method is not overloaded
 * @param messages JSON texts: one text with all arguments, or one text for each message of a request stream
 * @param maxMessages the number of answers after which the console cancels a stream
 * @param id an id that differs for each press of the Send button, so that the server can reject a repeated request;
 *     null if the client sends no id
 * @param instance the id of the process that provided the data shown on the page; null if unknown
 */
record CallRequest(
        String service,
        String method,
        @Nullable String descriptor,
        List<String> messages,
        Metadata headers,
        Duration timeout,
        int maxMessages,
        @Nullable String id,
        @Nullable String instance) {

    static final int MAX_BYTES = 1 << 20;

    private static final int MAX_MESSAGES = 1_000;
    private static final int MAX_ANSWERS = 10_000;
    private static final int MAX_HEADERS = 64;
    private static final int MAX_HEADER_LENGTH = 8 << 10;
    private static final int MAX_ID = 100;
    private static final long MAX_MILLIS = 60_000;

    private static final Set<String> MEMBERS = Set.of(
            "service", "method", "descriptor", "messages", "headers", "timeoutMillis", "maxMessages", "id", "instance");

    /** @throws WrongRequestException if the body is not a valid call request; the message names the invalid member */
    static CallRequest read(byte[] body, Json json) {
        JsonNode tree;
        try {
            tree = json.read(body);
        } catch (JacksonException e) {
            throw new WrongRequestException("the request is not JSON: " + reason(e));
        }
        if (tree.isMissingNode()) {
            throw new WrongRequestException("the request is empty, which is not JSON");
        }
        if (!tree.isObject()) {
            throw new WrongRequestException("the request is not a JSON object; send {\"service\": …, \"method\": …}");
        }
        Set<String> unknown = new TreeSet<>(tree.propertyNames());
        unknown.removeAll(MEMBERS);
        if (!unknown.isEmpty()) {
            throw new WrongRequestException("the request has the unknown member "
                    + PeerText.name(unknown.iterator().next()) + "; expected only " + new TreeSet<>(MEMBERS));
        }
        String service = text(tree, "service", 1_000);
        String method = text(tree, "method", 1_000);
        if (service == null || method == null) {
            throw new WrongRequestException("the request has no " + (service == null ? "service" : "method")
                    + "; take both from the list of services");
        }
        return new CallRequest(
                service,
                method,
                text(tree, "descriptor", 10_000),
                messages(tree.path("messages")),
                headers(tree.path("headers")),
                Duration.ofMillis(number(tree, "timeoutMillis", 10_000, MAX_MILLIS)),
                (int) number(tree, "maxMessages", 100, MAX_ANSWERS),
                text(tree, "id", MAX_ID),
                text(tree, "instance", MAX_ID));
    }

    /**
     * Reads a request to stop a call. Returns the id of the request that made the call.
     *
     * @throws WrongRequestException if the body contains no id
     */
    static String readId(byte[] body, Json json) {
        String id;
        try {
            id = text(json.read(body), "id", MAX_ID);
        } catch (JacksonException e) {
            throw new WrongRequestException("the request is not JSON: " + reason(e));
        }
        if (id == null) {
            throw new WrongRequestException("the request has no id; send the id of the call, {\"id\": …}");
        }
        return id;
    }

    private static @Nullable String text(JsonNode tree, String name, int longest) {
        JsonNode value = tree.path(name);
        if (value.isMissingNode() || value.isNull()) {
            return null;
        }
        if (!value.isString()) {
            throw new WrongRequestException(name + " is not a text");
        }
        String text = value.asString();
        if (text.length() > longest) {
            throw new WrongRequestException(
                    name + " has " + text.length() + " characters; at most " + longest + " are allowed");
        }
        return text;
    }

    private static long number(JsonNode tree, String name, long otherwise, long max) {
        JsonNode value = tree.path(name);
        if (value.isMissingNode() || value.isNull()) {
            return otherwise;
        }
        if (!value.isIntegralNumber() || !value.canConvertToLong() || value.asLong() < 1 || value.asLong() > max) {
            throw new WrongRequestException(
                    name + " is " + PeerText.name(value.toString()) + "; expected a whole number from 1 to " + max);
        }
        return value.asLong();
    }

    private static List<String> messages(JsonNode list) {
        if (list.isMissingNode() || list.isNull()) {
            return List.of();
        }
        if (!list.isArray()) {
            throw new WrongRequestException("messages is not a list; expected a list of JSON texts");
        }
        if (list.size() > MAX_MESSAGES) {
            throw new WrongRequestException(
                    "messages has " + list.size() + " elements; at most " + MAX_MESSAGES + " are allowed");
        }
        List<String> messages = new ArrayList<>();
        for (JsonNode each : list) {
            if (!each.isString()) {
                throw new WrongRequestException(
                        "messages[" + messages.size() + "] is not a text; each message is JSON as a text");
            }
            messages.add(each.asString());
        }
        return messages;
    }

    private static Metadata headers(JsonNode tree) {
        Metadata headers = new Metadata();
        if (tree.isMissingNode() || tree.isNull()) {
            return headers;
        }
        if (tree.isMissingNode()) {
            throw new WrongRequestException("the request is empty, which is not JSON");
        }
        if (!tree.isObject()) {
            throw new WrongRequestException("headers is not an object; expected {\"name\": \"value\"}");
        }
        if (tree.size() > MAX_HEADERS) {
            throw new WrongRequestException(
                    "headers has " + tree.size() + " members; at most " + MAX_HEADERS + " are allowed");
        }
        for (Map.Entry<String, JsonNode> entry : tree.properties()) {
            String name = entry.getKey();
            if (!name.matches("[A-Za-z0-9!#$%&'*+.^_`|~-]{1,200}")) {
                throw new WrongRequestException("the header " + PeerText.name(name)
                        + " has a name that HTTP does not allow; use letters, digits and dashes");
            }
            if (!entry.getValue().isString()) {
                throw new WrongRequestException("the header " + name + " is not a text");
            }
            String value = entry.getValue().asString();
            if (value.length() > MAX_HEADER_LENGTH) {
                throw new WrongRequestException("the header " + name + " has " + value.length()
                        + " characters; at most " + MAX_HEADER_LENGTH + " are allowed");
            }
            if (value.chars().anyMatch(c -> c < ' ' || c == 0x7F)) {
                throw new WrongRequestException("the header " + name + " contains a control character; remove it");
            }
            if (name.endsWith("-bin")) {
                headers.add(name, binary(name, value));
            } else {
                headers.add(name, value);
            }
        }
        return headers;
    }

    private static byte[] binary(String name, String value) {
        try {
            return Base64.getDecoder().decode(value);
        } catch (IllegalArgumentException e) {
            throw new WrongRequestException(
                    "the header " + name + " is not base64; its name ends in -bin, so its value must be base64");
        }
    }

    /**
     * Converts a message to the form that the method's codec reads: the only argument without an enclosing array, or an
     * array of all arguments.
     *
     * @param parameters the number of the method's parameters
     * @throws WrongRequestException if the text is not JSON; the exception's message contains the position
     */
    static byte[] argumentsOf(String text, int parameters, Json json) {
        String found = unwrapped(text, "messages[0]", parameters == 1, json);
        return found.getBytes(StandardCharsets.UTF_8);
    }

    /**
     * Converts one message of a request stream to the form that the codec reads. The message has no enclosing array.
     */
    static byte[] messageOf(String text, int index, Json json) {
        return unwrapped(text, "messages[" + index + "]", false, json).getBytes(StandardCharsets.UTF_8);
    }

    /**
     * Checks that the text is JSON, and returns the text. If {@code only} is true and the text is an array with one
     * element, returns this element instead.
     */
    private static String unwrapped(String text, String where, boolean only, Json json) {
        try (JsonParser parser = json.parser(text)) {
            JsonToken first = parser.nextToken();
            if (first == null) {
                throw new WrongRequestException(where + " is empty; write [] for no arguments");
            }
            String element = null;
            if (first == JsonToken.START_ARRAY && only) {
                element = onlyElement(parser, text);
            } else {
                parser.skipChildren();
            }
            if (parser.nextToken() != null) {
                throw new WrongRequestException(where + " continues after its end, at line "
                        + parser.currentTokenLocation().getLineNr() + ", column "
                        + parser.currentTokenLocation().getColumnNr());
            }
            return element == null ? text : element;
        } catch (JacksonException e) {
            throw new WrongRequestException(where + " is not JSON: " + reason(e));
        }
    }

    /**
     * Reads a JSON array to its end. Returns the JSON text of its only element, or null if the array does not have
     * exactly one element.
     */
    private static @Nullable String onlyElement(JsonParser parser, String text) {
        if (parser.nextToken() == JsonToken.END_ARRAY) {
            return null;
        }
        int begin = (int) parser.currentTokenLocation().getCharOffset();
        parser.skipChildren();
        boolean single = parser.nextToken() == JsonToken.END_ARRAY;
        int end = (int) parser.currentTokenLocation().getCharOffset();
        if (single) {
            return text.substring(begin, end).strip();
        }
        while (parser.currentToken() != JsonToken.END_ARRAY) {
            parser.skipChildren();
            parser.nextToken();
        }
        return null;
    }

    private static String reason(JacksonException failure) {
        String where = failure.getLocation() == null
                ? ""
                : " at line " + failure.getLocation().getLineNr() + ", column "
                        + failure.getLocation().getColumnNr();
        return PeerText.name(failure.getOriginalMessage()) + where;
    }
}
