package tern.rpc.diagnosis.failure;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import tern.rpc.diagnosis.account.Part;

/** Recognizes exceptions that executors throw when they reject tasks. */
public final class Rejections {

    /** The name of the executor behind Reactor's scheduler for blocking work. */
    public static final String ELASTIC = "boundedElastic";

    /** Matches an executor's name and the text around it in the message of an exception. */
    private static final Pattern NAMED = Pattern.compile("the pool \"([^\"]+)\" is full");

    /** Matches the messages of the JDK, Spring and Tern that say that an executor accepts no more tasks. */
    private static final Pattern STOPPED =
            Pattern.compile("is shut down|\\[(Shutting down|Terminated)|in (shutdown|terminated) state|been closed");

    /** A part of the error message of Reactor's bounded elastic scheduler when it rejects a task. */
    private static final String ELASTIC_FULL = "bounded elastic scheduler reached";

    private Rejections() {}

    /**
     * Returns the part of a call's time that represents the rejection of a task. The part's name contains the code that
     * submitted the task and, if the exception names the executor, also the executor.
     *
     * @param place the application code that submitted the task, with a leading {@code in}; empty if unknown
     */
    static Part part(List<Throwable> chain, String place) {
        String executor = "";
        for (Throwable one : chain) {
            String message = String.valueOf(one.getMessage());
            if (STOPPED.matcher(message).find()) {
                return new Part(Part.Kind.FAILURE, "RejectedExecutionException (executor shut down)" + place);
            }
            Matcher named = NAMED.matcher(message);
            executor = named.find() ? named.group(1) : message.contains(ELASTIC_FULL) ? ELASTIC : executor;
        }
        return new Part(Part.Kind.EXECUTOR, executor + place);
    }
}
