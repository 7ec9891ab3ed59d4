package tern.rpc.load.cluster;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tern.rpc.load.sample.Program;

/** A running {@link RegistryConsumer}. Not thread-safe. */
final class ConsumerProcess implements AutoCloseable {

    private static final long PATIENCE_SECONDS = 300;

    /** The length of a list of providers that the client received, and the time when the list arrived. */
    record Seen(int size, long nanos) {}

    /** The heap in use after a garbage collection, and the processor time since the process started. */
    record Figures(long heapBytes, long processorNanos) {}

    /** The numbers of calls and failures since the previous {@code calls} command, and the latency of the calls. */
    record Calls(long all, long failed, double p99Millis) {}

    private final Program program;
    private final Path errors;
    private final BlockingQueue<String[]> answers;
    private final BlockingQueue<Seen> lists;
    private final AtomicLong logged;

    private ConsumerProcess(
            Program program,
            Path errors,
            BlockingQueue<String[]> answers,
            BlockingQueue<Seen> lists,
            AtomicLong logged) {
        this.program = program;
        this.errors = errors;
        this.answers = answers;
        this.lists = lists;
        this.logged = logged;
    }

    /**
     * Starts the process.
     *
     * @param framework tern or dubbo
     * @param registry the address of the ZooKeeper server
     * @param errors the file for standard error
     */
    static ConsumerProcess start(String framework, String registry, Path errors) throws IOException {
        BlockingQueue<String[]> answers = new LinkedBlockingQueue<>();
        BlockingQueue<Seen> lists = new LinkedBlockingQueue<>();
        AtomicLong logged = new AtomicLong();
        List<String> command = List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx1g",
                "-Dlogback.configurationFile=tern/rpc/load/cluster/consumer-logging.xml",
                "-cp",
                System.getProperty("java.class.path"),
                RegistryConsumer.class.getName(),
                "--framework=" + framework,
                "--registry=" + registry);
        Program program = Program.startRead(framework, errors, command, line -> {
            if (!line.startsWith(RegistryConsumer.MARK)) {
                logged.incrementAndGet();
                return;
            }
            String[] words = line.substring(RegistryConsumer.MARK.length()).split(" ");
            if (words[0].equals("list")) {
                lists.add(new Seen(Integer.parseInt(words[1]), Long.parseLong(words[2])));
            } else {
                answers.add(words);
            }
        });
        return new ConsumerProcess(program, errors, answers, lists, logged);
    }

    /** Waits for the first answered call. Returns the time from the start of the JVM to the answer, in milliseconds. */
    long firstCallMillis() throws InterruptedException, TimeoutException {
        return Long.parseLong(await("first")[1]);
    }

    Figures figures() throws IOException, InterruptedException, TimeoutException {
        program.enter("figures");
        String[] words = await("figures");
        return new Figures(Long.parseLong(words[1]), Long.parseLong(words[2]));
    }

    Calls calls() throws IOException, InterruptedException, TimeoutException {
        program.enter("calls");
        String[] words = await("calls");
        return new Calls(Long.parseLong(words[1]), Long.parseLong(words[2]), Double.parseDouble(words[3]));
    }

    /**
     * Waits until the client receives a list of {@code size} providers, and returns that list. Drops all earlier lists.
     */
    Seen awaitList(int size) throws InterruptedException, TimeoutException {
        Seen seen;
        do {
            seen = lists.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
            if (seen == null) {
                throw new TimeoutException(
                        "the consumer got no list of " + size + " within " + PATIENCE_SECONDS + " s");
            }
        } while (seen.size() != size);
        return seen;
    }

    /** Removes and returns the lists of providers that the client has received so far, in order of arrival. */
    List<Seen> takeLists() {
        List<Seen> taken = new ArrayList<>();
        lists.drainTo(taken);
        return taken;
    }

    /** Returns the number of log lines that the process has written so far. */
    long loggedLines() throws IOException {
        try (Stream<String> lines = Files.lines(errors)) {
            return logged.get() + lines.count();
        }
    }

    private String[] await(String word) throws InterruptedException, TimeoutException {
        String @Nullable [] words = null;
        for (int i = 0; i < PATIENCE_SECONDS && words == null && program.isAlive(); i++) {
            words = answers.poll(1, TimeUnit.SECONDS);
        }
        if (words == null || !words[0].equals(word)) {
            throw new TimeoutException("the consumer ended, or did not answer '" + word + "' within " + PATIENCE_SECONDS
                    + " s; see " + errors);
        }
        return words;
    }

    @Override
    public void close() {
        program.close();
    }
}
