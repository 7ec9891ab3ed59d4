package tern.rpc.load.cluster;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/** Reads the lines that {@link DemoConsumer} prints, and prints a row for each second. Thread-safe. */
final class DemoReport implements Consumer<String> {

    static final String CONNECTED = "connected";

    private static final String ABSENT = "not listed";

    private record Row(long calls, String state) {}

    private final Map<Integer, String> names = new LinkedHashMap<>();
    private final Consumer<String> out;
    private final List<LostCall> lost = new ArrayList<>(); // This object's lock guards this and all following fields.
    private final Map<Integer, Row> before = new HashMap<>();
    private final Map<Integer, Row> now = new HashMap<>();
    private final Map<Integer, String> shown = new HashMap<>();
    private final Map<Integer, Long> served = new HashMap<>();
    private int lostBefore;
    private long seconds;
    private long calls;
    private boolean ended;
    private boolean complete;

    /**
     * @param names the providers' names by port, in the order of the columns
     * @param out receives each row
     */
    DemoReport(Map<Integer, String> names, Consumer<String> out) {
        this.names.putAll(names);
        this.out = out;
    }

    @Override
    public synchronized void accept(String line) {
        String[] words = line.split(" ", 5);
        switch (words[0]) {
            case "provider" -> now.put(Integer.parseInt(words[1]), new Row(Long.parseLong(words[2]), words[3]));
            case "lost" ->
                lost.add(new LostCall(
                        Long.parseLong(words[1]), Long.parseLong(words[2]), Boolean.parseBoolean(words[3]), words[4]));
            case "second" -> second();
            case "end" -> {
                ended = true;
                complete = Boolean.parseBoolean(words[1]);
                calls = Long.parseLong(words[2]);
            }
            default -> throw new IllegalArgumentException("the consumer printed '" + line + "'");
        }
        notifyAll();
    }

    private void second() {
        seconds++;
        List<LostCall> recent = lost.subList(lostBefore, lost.size());
        StringBuilder row = new StringBuilder(String.format(Locale.ROOT, "%4d s", seconds));
        names.forEach((port, name) -> {
            Row current = now.get(port);
            long count = current == null ? 0 : count(port, current);
            String state = current == null ? ABSENT : current.state();
            shown.put(port, state);
            served.put(port, count);
            row.append(
                    cell(count, recent.stream().filter(call -> call.isOf(port)).count(), state));
        });
        out.accept(row.toString());
        lostBefore = lost.size();
        before.putAll(now);
        now.clear();
    }

    /**
     * Returns the number of calls to a provider since the last printed row. For a provider that was absent for a long
     * time, the consumer's count starts again at zero.
     */
    private long count(int port, Row current) {
        Row last = before.get(port);
        return last == null || last.calls() > current.calls() ? current.calls() : current.calls() - last.calls();
    }

    private static String cell(long calls, long failed, String state) {
        return String.format(Locale.ROOT, " | %5d %6d  %-11s", calls, failed, state);
    }

    synchronized String head() {
        StringBuilder head = new StringBuilder("      ");
        names.values().forEach(name -> head.append(String.format(Locale.ROOT, " | %-26s", name)));
        head.append('\n').append("      ");
        names.values()
                .forEach(name ->
                        head.append(String.format(Locale.ROOT, " | %5s %6s  %-11s", "calls", "failed", "state")));
        return head.toString();
    }

    /**
     * Waits until the provider has received calls for a second and is still connected.
     *
     * @return false if the time limit has passed
     */
    synchronized boolean awaitServing(int port, long atMostSeconds) throws InterruptedException {
        return await(() -> CONNECTED.equals(shown.get(port)) && served.getOrDefault(port, 0L) > 0, atMostSeconds);
    }

    /**
     * Discards the last reported state of a provider. {@link #awaitServing} then waits at least until the consumer's
     * next report, which arrives once per second.
     */
    synchronized void forget(int port) {
        shown.remove(port);
    }

    /**
     * Waits until the consumer's last call has ended.
     *
     * @return false if the time limit has passed
     */
    synchronized boolean awaitEnd(long atMostSeconds) throws InterruptedException {
        return await(() -> ended, atMostSeconds);
    }

    private boolean await(BooleanSupplier condition, long atMostSeconds) throws InterruptedException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(atMostSeconds);
        while (!condition.getAsBoolean()) {
            long left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
            if (left <= 0) {
                return false;
            }
            wait(left);
        }
        return true;
    }

    synchronized DemoVerdict verdict(DemoVerdict.Kill kill) {
        return DemoVerdict.of(List.copyOf(lost), kill, calls, ended && complete);
    }

    /** Returns the number of calls in the run, or 0 until the run has ended. */
    synchronized long calls() {
        return calls;
    }

    /** Returns the elapsed time of the run in seconds. */
    synchronized long seconds() {
        return seconds;
    }
}
