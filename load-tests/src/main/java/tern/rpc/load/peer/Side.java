package tern.rpc.load.peer;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** The handle of a process with one side of a peer. Not thread-safe. */
final class Side implements AutoCloseable {

    /** The same for all peers. */
    static final List<String> FLAGS = List.of("-Xms512m", "-Xmx512m");

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    /** The side did not do what it was told; the message is the reason. */
    static final class Failure extends IOException {
        private static final long serialVersionUID = 1L;

        Failure(String message) {
            super(message);
        }
    }

    private final String name;
    private final Process process;
    private final BufferedReader answers;
    private final OutputStream commands;
    private final ScheduledExecutorService watch = Executors.newSingleThreadScheduledExecutor(work -> {
        Thread thread = new Thread(work, "side-watch");
        thread.setDaemon(true);
        return thread;
    });
    private volatile boolean late;

    /**
     * Starts it; {@link #awaitReady} tells whether it got there.
     *
     * @param side {@code server} or {@code client}
     * @param ports separated by commas
     */
    Side(String side, String peer, String ports) throws IOException {
        this.name = side;
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(FLAGS);
        command.addAll(
                List.of("-cp", System.getProperty("java.class.path"), PeerProcess.class.getName(), side, peer, ports));
        process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        answers = process.inputReader(StandardCharsets.UTF_8);
        commands = process.getOutputStream();
    }

    void awaitReady() throws IOException {
        answer(PATIENCE);
    }

    String ask(String command) throws IOException {
        tell(command);
        return answer(PATIENCE);
    }

    /** Without waiting for the answer. */
    void tell(String command) throws IOException {
        try {
            commands.write((command + "\n").getBytes(StandardCharsets.UTF_8));
            commands.flush();
        } catch (IOException e) {
            throw new Failure("the " + name + " ended early");
        }
    }

    /**
     * The next answer.
     *
     * @param expected how long the work itself takes
     */
    String answerAfter(Duration expected) throws IOException {
        return answer(PATIENCE.plus(expected));
    }

    private String answer(Duration patience) throws IOException {
        Future<?> alarm = watch.schedule(this::giveUp, patience.toMillis(), TimeUnit.MILLISECONDS);
        try {
            String line;
            while ((line = answers.readLine()) != null) {
                if (line.startsWith(PeerProcess.MARK)) {
                    return checked(line.substring(PeerProcess.MARK.length()));
                }
            }
        } finally {
            alarm.cancel(false);
        }
        throw new Failure(
                late
                        ? "the " + name + " did not answer within " + patience.toSeconds() + " s"
                        : "the " + name + " ended early");
    }

    private String checked(String answer) throws Failure {
        if (answer.startsWith(PeerProcess.FAILED)) {
            throw new Failure(name + ": " + answer.substring(PeerProcess.FAILED.length()));
        }
        return answer;
    }

    private void giveUp() {
        late = true;
        process.destroyForcibly();
    }

    @Override
    public void close() {
        watch.shutdownNow();
        process.destroyForcibly();
    }
}
