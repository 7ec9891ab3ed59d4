package tern.rpc.load.peer;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * The process that runs the server or the client of a compared framework. A separate thread reads the output of the
 * process, because a framework that logs a lot would otherwise block on a full pipe. Not thread-safe.
 */
final class Side implements AutoCloseable {

    /** The JVM flags, which are the same for all frameworks. */
    static final List<String> FLAGS = List.of("-Xms512m", "-Xmx512m");

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    /** Thrown when the process cannot execute a command. The message contains the reason. */
    static final class Failure extends IOException {
        private static final long serialVersionUID = 1L;

        Failure(String message) {
            super(message);
        }
    }

    private final String name;
    private final Process process;
    private final OutputStream commands;

    /** The output lines of the process. An empty element means that the process has ended. */
    private final BlockingQueue<Optional<String>> answers = new LinkedBlockingQueue<>();

    /**
     * Starts the process without waiting for it. {@link #awaitReady} blocks until the process is ready.
     *
     * @param side {@code server} or {@code client}
     * @param ports the servers' ports, separated by commas
     */
    Side(String side, String peer, String ports) throws IOException {
        this.name = side;
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(FLAGS);
        command.addAll(Encryption.of(peer).flags());
        command.addAll(
                List.of("-cp", System.getProperty("java.class.path"), PeerProcess.class.getName(), side, peer, ports));
        process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        commands = process.getOutputStream();
        Thread reader = new Thread(this::read, "side-reader");
        reader.setDaemon(true);
        reader.start();
    }

    private void read() {
        try (BufferedReader output = process.inputReader(StandardCharsets.UTF_8)) {
            String line;
            while ((line = output.readLine()) != null) {
                if (line.startsWith(PeerProcess.MARK)) {
                    answers.add(Optional.of(line.substring(PeerProcess.MARK.length())));
                }
            }
        } catch (IOException e) {
            // The output can no longer be read, because the process has ended.
        } finally {
            answers.add(Optional.empty());
        }
    }

    void awaitReady() throws IOException {
        answer(PATIENCE);
    }

    String ask(String command) throws IOException {
        send(command);
        return answer(PATIENCE);
    }

    /** Sends a command without waiting for the answer. */
    void send(String command) throws IOException {
        try {
            commands.write((command + "\n").getBytes(StandardCharsets.UTF_8));
            commands.flush();
        } catch (IOException e) {
            throw new Failure("the " + name + " ended early");
        }
    }

    /**
     * Waits for the next answer.
     *
     * @param expected the expected duration of the work; the time limit is longer, to allow for overhead in the process
     */
    String answerAfter(Duration expected) throws IOException {
        return answer(PATIENCE.plus(expected));
    }

    private String answer(Duration patience) throws IOException {
        Optional<String> answer;
        try {
            answer = answers.poll(patience.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new Failure("interrupted while the " + name + " was at work");
        }
        if (answer == null) {
            process.destroyForcibly();
            throw new Failure("the " + name + " did not answer within " + patience.toSeconds() + " s");
        }
        return checked(answer.orElseThrow(() -> new Failure("the " + name + " ended early")));
    }

    private String checked(String answer) throws Failure {
        if (answer.startsWith(PeerProcess.FAILED)) {
            throw new Failure(name + ": " + answer.substring(PeerProcess.FAILED.length()));
        }
        return answer;
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
