package tern.rpc.diagnosis.stack;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import tern.rpc.pool.ApplicationCode;

/**
 * Recognizes applications that create many JDK HTTP clients, for example one for each exchange. Each client opens its
 * own connections on a separate thread, so the stacks of calls only show a wait for an answer. The number of clients is
 * known because the name of a client's thread contains the client's number. Not thread-safe: only one thread uses it.
 */
public final class NewHttpClients {

    private static final Pattern THREAD = Pattern.compile("HttpClient-(\\d+)-SelectorManager");

    private static final String JDK_CLIENT = "jdk.internal.net.http.";

    /** The number of new clients per second is computed only if the inspections cover at least this period. */
    private static final long MIN_NANOS = 2_000_000_000L;

    private long firstNanos; // the time of the first inspection that found a client; 0 if there was none
    private long firstNumber; // the highest client number in the first inspection that found a client
    private long lastNanos;
    private long lastNumber;

    /** Returns whether the thread uses the JDK's HTTP client, directly or through Spring. */
    public static boolean isUsedBy(ThreadSnapshot thread) {
        for (StackTraceElement frame : thread.frames()) {
            String type = frame.getClassName();
            if (type.startsWith(JDK_CLIENT) || type.endsWith(".JdkClientHttpRequest")) {
                return true;
            }
            if (ApplicationCode.owns(type)) {
                return false;
            }
        }
        return false;
    }

    public void add(String thread) {
        Matcher client = THREAD.matcher(thread);
        if (client.matches()) {
            lastNumber = Math.max(lastNumber, Long.parseLong(client.group(1)));
        }
    }

    /** Ends an inspection. Must be called after the names of all threads have been added. */
    public void looked(long now) {
        if (firstNanos == 0 && lastNumber > 0) {
            firstNanos = now;
            firstNumber = lastNumber;
        }
        lastNanos = firstNanos == 0 ? 0 : now;
    }

    /** Returns the number of clients that the process creates per second; 0 if it is not known yet. */
    public double perSecond() {
        long passed = lastNanos - firstNanos;
        return passed < MIN_NANOS ? 0 : (lastNumber - firstNumber) * 1e9 / passed;
    }

    /** Forgets all clients, so that later numbers are not compared with the numbers of an earlier period. */
    public void clear() {
        firstNanos = 0;
        firstNumber = 0;
        lastNanos = 0;
        lastNumber = 0;
    }
}
