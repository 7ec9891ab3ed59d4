package tern.rpc.diagnosis.failure;

import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tern.rpc.NamedTimes;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.EndedCall;
import tern.rpc.diagnosis.account.OperationNames;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.stack.ThrowingLibrary;

/**
 * Recognizes answers of other services that a client cannot read, although their status reports success: another
 * content type, such as an HTML page instead of JSON, or a body that does not fit the expected class. The exceptions
 * are thrown in this process, but the answer of the peer is the cause.
 */
public final class UnreadableAnswers {

    private static final String ANSWERS = "answers ";
    private static final String WITHOUT_TYPE = "without content type";
    private static final String MARKUP = "HTML or XML";
    private static final String UNREADABLE = "an unreadable body";

    /** Exceptions that only clients throw, when they read an answer. */
    private static final Set<String> OF_CLIENTS = Set.of(
            "UnknownContentTypeException",
            "UnsupportedMediaTypeException", // WebClient
            "DecodeException", // Feign
            "ResponseProcessingException", // Jakarta REST
            "MessageBodyProviderNotFoundException"); // Jersey

    /** Exceptions that clients and servers throw when they read a body. */
    private static final Set<String> OF_BODIES = Set.of("HttpMessageNotReadableException", "DecodingException");

    /** Exceptions about the request that this process got. */
    private static final Set<String> OF_REQUESTS = Set.of(
            "ServerWebInputException", "UnsupportedMediaTypeStatusException", "HttpMediaTypeNotSupportedException");

    private static final Pattern OF_JSON = Pattern.compile("^(MismatchedInput|UnrecognizedProperty|InvalidFormat"
            + "|InvalidTypeId|ValueInstantiation|StreamRead|UnexpectedEndOfInput|JsonParse|JsonEOF|JsonMapping|JsonSyntax"
            + "|JsonParsing|JsonDecoding|JsonData|JsonEncoding|MalformedJson|JSON)Exception$");

    /** Exceptions about JSON that is valid, but does not fit the class into which it is read. */
    private static final Pattern OF_CLASS = Pattern.compile(
            "(MismatchedInput|UnrecognizedProperty|InvalidFormat|InvalidTypeId|ValueInstantiation|JsonData)");

    private static final Pattern CONTENT_TYPE =
            Pattern.compile("(?:[Cc]ontent[ -][Tt]ype|media type)(?: \\[| '|=)([\\w.+-]+/[\\w.+*-]+)?[^\\]',]*");

    /** Matches the character with which HTML and XML begin, in the message of a JSON parser. */
    private static final Pattern TAG =
            Pattern.compile("[Uu]nexpected character \\('<'|(?i:<!doctype|<html|<head|<body|<\\?xml)");

    /** Matches the status in the name of a failed exchange. */
    private static final Pattern FAILED_STATUS = Pattern.compile("\\((429|5\\d\\d)\\)$");

    private static final Pattern STATUS = Pattern.compile("^\\[?([23]\\d\\d)\\b");

    /** The default content type of the JDK and of Spring for an answer that names none. */
    private static final String UNKNOWN_TYPE = "application/octet-stream";

    private static final int MAX_SEARCHED = 1_000;

    private UnreadableAnswers() {}

    /** Returns what the peer answered, for example {@code answers text/html, status 200}; null for other failures. */
    static @Nullable String of(EndedCall call, List<Throwable> chain) {
        if (!isOfAnswer(call, chain)) {
            return null;
        }
        NamedTimes.Entry exchange = entry(call, chain);
        Matcher failed = FAILED_STATUS.matcher(exchange == null ? "" : exchange.name());
        String status = failed.find() ? failed.group(1) : status(chain);
        return ANSWERS + body(chain) + (status == null ? "" : ", status " + status);
    }

    private static String body(List<Throwable> chain) {
        String type = contentType(chain);
        Throwable json = chain.stream()
                .filter(one -> OF_JSON.matcher(simpleName(one)).find())
                .reduce((outer, inner) -> inner)
                .orElse(null);
        if (json == null) {
            return type == null ? UNREADABLE : type.equals(UNKNOWN_TYPE) ? WITHOUT_TYPE : type;
        }
        if (TAG.matcher(message(json)).find()) {
            return type == null || type.contains("json") ? MARKUP : type;
        }
        return (type == null ? "JSON" : type) + " (" + simpleName(json) + ")";
    }

    /** Returns the exchange whose answer could not be read; null if the call recorded no exchange. */
    static @Nullable String exchange(EndedCall call, List<Throwable> chain) {
        NamedTimes.Entry exchange = entry(call, chain);
        return exchange == null ? null : OperationNames.withoutStatus(exchange.name());
    }

    private static NamedTimes.@Nullable Entry entry(EndedCall call, List<Throwable> chain) {
        return call.ledger().named().stream()
                .filter(entry -> entry.kind() == Phase.HTTP && !entry.name().equals(NamedTimes.OTHERS))
                .max(Comparator.<NamedTimes.Entry>comparingInt(entry -> Mentions.of(chain, entry))
                        .thenComparingLong(NamedTimes.Entry::nanos))
                .orElse(null);
    }

    /** Returns whether {@link #of} has named the given failure of a peer. */
    public static boolean is(String failure) {
        return failure.startsWith(ANSWERS)
                && (failure.contains("/")
                        || failure.startsWith(MARKUP, ANSWERS.length())
                        || failure.startsWith("JSON (", ANSWERS.length())
                        || failure.startsWith(UNREADABLE, ANSWERS.length())
                        || failure.startsWith(WITHOUT_TYPE, ANSWERS.length()));
    }

    /** Returns the advice for the given failure of a peer. */
    static String advice(String peer, String failure) {
        if (OF_CLASS.matcher(failure).find()) {
            return "compare the answer of " + peer + " with the class into which it is read: the peer has other members"
                    + " or types, often since a new version: it " + failure;
        }
        return "find out why " + peer + " " + failure
                + (failure.contains("Exception)") ? ", which is no valid JSON" : "")
                + ": the client cannot read it; it may be a maintenance, login or error page, of the peer or of a proxy in"
                + " between, or the address is wrong; let the peer answer with the expected content type, or send such"
                + " pages with an error status";
    }

    private static boolean isOfAnswer(EndedCall call, List<Throwable> chain) {
        if (chain.stream().anyMatch(one -> OF_REQUESTS.contains(simpleName(one)))) {
            return false;
        }
        if (chain.stream().anyMatch(one -> OF_CLIENTS.contains(simpleName(one)))) {
            return true;
        }
        boolean isOfJson =
                chain.stream().anyMatch(one -> OF_JSON.matcher(simpleName(one)).find());
        boolean isOfBody = chain.stream().anyMatch(one -> OF_BODIES.contains(simpleName(one)));
        if (!isOfJson && !isOfBody) {
            return false;
        }
        if (chain.stream().anyMatch(FailedPeer::isOfHttp) || ThrowingLibrary.of(chain) == Kind.HTTP) {
            return true;
        }
        boolean isReactive = chain.stream().anyMatch(one -> simpleName(one).equals("DecodingException"));
        return call.ledger().count(Phase.HTTP) > 0
                && (isReactive || (!isOfBody && (isOnlySource(call) || hasTag(chain))));
    }

    /** Returns whether the JSON can only be the answer of an exchange, because the call has read nothing else. */
    private static boolean isOnlySource(EndedCall call) {
        return Stream.of(Phase.SQL, Phase.REDIS, Phase.RPC)
                .noneMatch(phase -> call.ledger().count(phase) > 0);
    }

    private static boolean hasTag(List<Throwable> chain) {
        return chain.stream()
                .anyMatch(one -> OF_JSON.matcher(simpleName(one)).find()
                        && TAG.matcher(message(one)).find());
    }

    private static @Nullable String contentType(List<Throwable> chain) {
        for (Throwable one : chain) {
            Matcher type = CONTENT_TYPE.matcher(message(one));
            if (type.find()) {
                return type.group(1) == null ? UNKNOWN_TYPE : type.group(1);
            }
        }
        return null;
    }

    /** Returns the status of the answer, from the message or from the exception itself; null if it is unknown. */
    private static @Nullable String status(List<Throwable> chain) {
        for (Throwable one : chain) {
            for (String method : List.of("getStatusCode", "getRawStatusCode", "status")) {
                Matcher status = STATUS.matcher(property(one, method));
                if (status.find()) {
                    return status.group(1);
                }
            }
            Matcher status = STATUS.matcher(message(one));
            if (status.find()) {
                return status.group(1);
            }
        }
        return null;
    }

    /** Returns the value of the exception's property as text; empty if there is no such property. */
    private static String property(Throwable failure, String method) {
        try {
            return String.valueOf(failure.getClass().getMethod(method).invoke(failure));
        } catch (ReflectiveOperationException | RuntimeException e) {
            return "";
        }
    }

    private static String simpleName(Throwable failure) {
        return failure.getClass().getSimpleName();
    }

    private static String message(Throwable failure) {
        String message = String.valueOf(failure.getMessage());
        return message.substring(0, Math.min(MAX_SEARCHED, message.length()));
    }
}
