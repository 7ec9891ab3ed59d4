package tern.rpc.netty;

import com.google.protobuf.StringValue;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import tern.rpc.netty.peer.AllProtocols;
import tern.rpc.netty.peer.LiveObjects;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;

/**
 * A server in a separate JVM that reports the growth of its heap. This heap contains no clients and no objects of other
 * tests. If the JVM crashes while it counts the objects, the tests continue.
 */
final class IdleServer implements AutoCloseable {

    private static final int MAX_CONNECTIONS = 20_000;
    private static final long SECONDS_TO_END = 30;
    private static final String ANSWER = "answer ";
    private static final String END = "end";

    /** A service with a protobuf message as argument, which all protocols support. */
    public interface Shout {
        StringValue shout(StringValue text);
    }

    /**
     * The heap growth caused by connections.
     *
     * @param classes one line for each class whose objects occupy at least 4 bytes per connection
     */
    record Added(long bytes, List<String> classes) {}

    private final Process process;
    private final BufferedReader answers;
    private final int port;

    private IdleServer(Process process) throws IOException {
        this.process = process;
        answers = process.inputReader(StandardCharsets.UTF_8);
        port = Integer.parseInt(next());
    }

    static IdleServer start() throws IOException {
        return new IdleServer(new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        // With TieredStopAtLevel=1, the JVM starts faster, and the measured heap does not change.
                        "-XX:TieredStopAtLevel=1",
                        // The parallel collector leaves less free space between objects than other collectors.
                        "-XX:+UseParallelGC",
                        // The leak detector is disabled, because its records would be included in the measurement.
                        "-Dio.netty.leakDetection.level=disabled",
                        "-cp",
                        System.getProperty("java.class.path"),
                        IdleServer.class.getName())
                .redirectError(Redirect.INHERIT)
                .start());
    }

    int port() {
        return port;
    }

    /** Counts the objects on the heap. {@link #added} reports the growth since this count. */
    void count() throws IOException {
        ask("count");
        next();
    }

    /** Returns the growth of the heap since the last {@link #count}. */
    Added added(int connections) throws IOException {
        ask("added " + connections);
        long bytes = Long.parseLong(next());
        List<String> classes =
                answers.lines().takeWhile(line -> !line.equals(END)).toList();
        return new Added(bytes, classes);
    }

    private void ask(String question) throws IOException {
        process.outputWriter(StandardCharsets.UTF_8)
                .append(question)
                .append('\n')
                .flush();
    }

    private String next() throws IOException {
        for (String line = answers.readLine(); line != null; line = answers.readLine()) {
            if (line.startsWith(ANSWER)) {
                return line.substring(ANSWER.length());
            }
            System.out.println(line); // the line comes from the JVM itself and is not an answer
        }
        throw new IOException("the server's JVM has ended");
    }

    /** Ends the server by closing its input. */
    @Override
    public void close() throws IOException {
        try {
            process.outputWriter(StandardCharsets.UTF_8).close();
            process.waitFor(SECONDS_TO_END, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            process.destroyForcibly();
        }
    }

    public static void main(String[] args) throws Exception {
        PrintStream answers = System.out;
        // log output goes to the error stream, so that the standard output contains only the answers of this program
        System.setOut(System.err);
        EventLoops loops = EventLoops.start(2);
        Duration idle = Duration.ofHours(1);
        try (RpcServer server = RpcServer.builder(new NettyServerTransport(
                        ServerTransportSettings.onPort(0)
                                .withMaxConnections(MAX_CONNECTIONS, MAX_CONNECTIONS)
                                .withIdleTimeout(idle)
                                .withFirstBytesTimeout(idle),
                        loops,
                        new AllProtocols().ofServer()))
                .export(ServiceExport.of(Shout.class, text -> text))
                .build()) {
            server.start();
            answers.println(ANSWER + server.port());
            answerQuestions(answers);
        } finally {
            loops.close();
        }
    }

    private static void answerQuestions(PrintStream answers) throws IOException {
        BufferedReader questions = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        LiveObjects before = null;
        for (String question = questions.readLine(); question != null; question = questions.readLine()) {
            if (question.equals("count")) {
                before = LiveObjects.count();
                answers.println(ANSWER + "counted");
            } else {
                LiveObjects added = before.added();
                int connections = Integer.parseInt(question.substring("added ".length()));
                answers.println(ANSWER + added.bytes() + "\n" + added.each(connections) + "\n" + END);
            }
        }
    }
}
