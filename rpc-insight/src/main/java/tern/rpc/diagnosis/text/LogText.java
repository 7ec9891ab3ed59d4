package tern.rpc.diagnosis.text;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.cause.Cause.Change;
import tern.rpc.diagnosis.cause.Cause.Where;
import tern.rpc.diagnosis.cause.CauseDescription;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.excess.Operations;
import tern.rpc.diagnosis.excess.StoppedLog;
import tern.rpc.diagnosis.sample.SampledCall;
import tern.rpc.diagnosis.stack.LibraryWork;
import tern.rpc.pool.LoggingMode;

/** Creates the causes for slow log appenders and for calls that write many log lines. */
final class LogText {

    /** A call counts as writing too many log lines if it writes at least {@value} times the usual number. */
    private static final double MORE_LINES = 2;

    /** A logger's search of the stack can be the cause only if at least {@value} samples show such a search. */
    private static final int MIN_LOCATIONS = 5;

    private final Evidence evidence;
    private final ExcessTime excess;
    private final Operations operations;

    LogText(Evidence evidence, ExcessTime excess, Operations operations) {
        this.evidence = evidence;
        this.excess = excess;
        this.operations = operations;
    }

    /** Returns the cause description for the time that calls spend writing log lines. */
    CauseDescription describe(Part part) {
        CauseDescription slow = slow(part);
        StoppedLog stopped = StoppedLog.of(evidence);
        if (stopped == null) {
            return slow;
        }
        List<String> facts = new ArrayList<>(slow.facts());
        facts.add("stopped  no call has logged a line for " + Times.millis(stopped.nanos()) + " ms, while "
                + stopped.calls() + " calls wait for the logger");
        String appender = appender();
        String reason = LibraryWork.CONSOLE.equals(appender)
                ? "find out why the output of this process is not read: the process that reads its standard output"
                        + " (container runtime, log collector, terminal) has stopped, or its disk is full"
                : "find out why "
                        + (appender == null ? "the appender" : appender)
                        + " writes no more lines: its disk is full or does not answer, or the process that reads the"
                        + " lines has stopped";
        Change change = slow.change();
        return new CauseDescription(
                slow.kind(),
                slow.name(),
                Change.of(Where.MACHINE, reason + "; so that calls do not wait for it, " + change.text()),
                facts);
    }

    private CauseDescription slow(Part part) {
        List<String> facts = new ArrayList<>();
        Operations.Sum sum = operations.of(Phase.LOGGING, "");
        if (sum.count() > 0) {
            facts.add(Operations.perCall("log", sum, -1));
        }
        StackTraceElement line = excess.samples.lineIn(Phase.LOGGING);
        String calls = part.name().isEmpty() && line != null
                ? excess.samples.shown(line, Phase.LOGGING)
                : excess.samples.shownLineOf(part);
        String appender = appender();
        if (appender != null) {
            facts.add("appender " + appender);
        }
        if (calls != null) {
            facts.add("from     " + calls);
        }
        if (part.name().endsWith(LibraryWork.FULL_QUEUE)) {
            return new CauseDescription(
                    "SLOW LOG",
                    "log appenders",
                    Change.of(
                            Where.CODE,
                            "the queue of the asynchronous appender is full: the appender (disk, console, network)"
                                    + " writes more slowly than the calls log; write fewer lines, use a faster"
                                    + " appender, or drop lines instead of waiting (neverBlock in Logback,"
                                    + " AsyncQueueFullPolicy in Log4j)"),
                    facts);
        }
        double lines = operations.count(Phase.LOGGING);
        double usually = operations.usualCount(Phase.LOGGING);
        if (usually >= 0 && lines > MORE_LINES * Math.max(1, usually)) {
            String counted =
                    String.format(Locale.ROOT, "%.0f lines per call are written, usually %.0f", lines, usually);
            facts.add("lines    " + counted);
            return new CauseDescription(
                    "SLOW LOG",
                    "log appenders",
                    Change.of(
                            Where.CODE,
                            "set a higher log level, or write fewer lines per call: " + counted
                                    + "; asynchronous appenders only help while the disk or the reader keeps up"),
                    facts);
        }
        if (areLocationsSearched()) {
            return new CauseDescription(
                    "SLOW LOG",
                    "log appenders",
                    Change.of(
                            Where.CODE,
                            "remove class, method and line (%C, %M, %L, %l, %F) from the appenders' patterns, and set"
                                    + " includeLocation=\"false\" (Log4j) or includeCallerData to false (Logback):"
                                    + " for each line, the logger walks through the stack"
                                    + in(calls)),
                    facts);
        }
        LoggingMode mode = evidence.logging();
        String own = appender == null ? "" : " in front of the appender with " + appender;
        Change change = switch (mode) {
            case SWITCHED_OFF ->
                new Change(
                        Where.PROPERTY,
                        "set rpc.logging.async=true, so that another thread writes the lines; or write fewer lines"
                                + " per call",
                        "rpc.logging.async",
                        "false",
                        "true",
                        -1);
            case NO_DISRUPTOR ->
                Change.of(
                        Where.CODE,
                        "add com.lmax:disruptor to the application: another thread then writes the lines; or write"
                                + " fewer lines per call");
            case OWN_CONFIGURATION ->
                Change.of(
                        Where.CODE,
                        "use an <Async> appender with blocking=\"false\"" + own
                                + ", or asynchronous loggers (<AsyncRoot>, which"
                                + " need com.lmax:disruptor), in the Log4j configuration of the application; or use a"
                                + " faster appender, or write fewer lines per call" + in(calls));
            case LOGBACK ->
                Change.of(
                        Where.CODE,
                        "use an AsyncAppender with neverBlock" + own
                                + " in the Logback configuration, or a faster appender, or write fewer lines per call"
                                + in(calls));
            case ASYNCHRONOUS ->
                Change.of(Where.CODE, "use a faster appender, or write fewer lines per call" + in(calls));
        };
        return new CauseDescription("SLOW LOG", "log appenders", change, facts);
    }

    /** Returns whether the logger was found searching a stack in at least half of the samples of logging calls. */
    private boolean areLocationsSearched() {
        int looks = 0;
        for (ExcessTime.Counted counted : excess.accounts) {
            SampledCall samples = evidence.samples().get(counted.call().ledger());
            looks += samples == null ? 0 : samples.locationLooks;
        }
        long logging = excess.samples.all().stream()
                .filter(sample -> sample.phase() == Phase.LOGGING)
                .count();
        return looks >= MIN_LOCATIONS && 2L * looks >= logging;
    }

    private static String in(@Nullable String calls) {
        return calls == null ? "" : ": they are written in " + calls;
    }

    /**
     * Returns the logger class in which samples found most calls, such as {@code TcpSocketManager}; null if unknown.
     */
    private @Nullable String appender() {
        Map<String, Integer> found = new TreeMap<>();
        for (ExcessTime.Counted counted : excess.accounts) {
            SampledCall samples = evidence.samples().get(counted.call().ledger());
            if (samples != null && samples.appender != null) {
                found.merge(samples.appender, 1, Integer::sum);
            }
        }
        String most = found.entrySet().stream()
                .max(Map.Entry.comparingByValue())
                .map(Map.Entry::getKey)
                .orElse(null);
        // Only the thread that writes to the console has a stack that shows the console. All other threads wait for a
        // lock whose class is a common base class of appenders.
        boolean isConsole = found.containsKey(LibraryWork.CONSOLE) && most != null && LibraryWork.isBase(most);
        return isConsole ? LibraryWork.CONSOLE : most;
    }
}
