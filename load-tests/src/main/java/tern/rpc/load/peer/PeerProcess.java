package tern.rpc.load.peer;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * One side of a comparison in a separate process. The process reads commands from standard input and answers on
 * standard output:
 * <ul>
 * <li>{@code before} and {@code after} print the resources that the process has used so far
 * <li>{@code resources} prints the resources that the process holds after a garbage collection
 * <li>{@code live} prints the live objects by class
 * <li>{@code slow READERS MESSAGES} opens streams, which the client reads slowly
 * <li>{@code progress} prints the progress of these streams
 * <li>{@code run CALL CALLERS MILLIS} makes calls
 * <li>{@code end} ends the process
 * </ul> An answer that begins with {@code failed} contains a reason.
 */
public final class PeerProcess {

    static final String MARK = "PEER ";
    static final String FAILED = "failed ";

    private final List<Peer.Services> services = new ArrayList<>();
    private final ProcessMeter meter = new ProcessMeter();
    private final SlowReading slow = new SlowReading();
    private long looks;

    private PeerProcess() {}

    /** @param arguments {@code server PEER PORT} or {@code client PEER PORT[,PORT]} */
    public static void main(String[] arguments) {
        PeerProcess process = new PeerProcess();
        try {
            process.start(arguments[0].equals("server"), arguments[1], arguments[2]);
            answer("ready");
            process.obey();
        } catch (Exception | LinkageError e) {
            e.printStackTrace();
            answer(FAILED + Measurement.oneLine(reason(e)));
        }
        Runtime.getRuntime().halt(0);
    }

    /**
     * Returns the failure's message, followed by the message of its root cause. Frameworks often hide the root cause.
     */
    private static String reason(Throwable failure) {
        Throwable cause = failure;
        while (cause.getCause() != null && cause.getCause() != cause) {
            cause = cause.getCause();
        }
        return cause == failure ? failure.toString() : failure + ", caused by " + cause;
    }

    private void start(boolean server, String name, String ports) throws Exception {
        meter.start();
        Encryption.of(name).check();
        for (String port : ports.split(",", -1)) {
            Peer peer = Peer.named(name);
            if (server) {
                BenchmarkServices target = new BenchmarkServices();
                peer.serve(Integer.parseInt(port), new Peer.Services(target, target, target, new StreamAnswers()));
            } else {
                services.add(peer.connect(Integer.parseInt(port)));
            }
        }
    }

    private void obey() throws IOException, InterruptedException {
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        String line;
        while ((line = commands.readLine()) != null && !line.equals("end")) {
            String[] words = line.split(" ", -1);
            switch (words[0]) {
                case "before" -> answer("used " + meter.before().words());
                case "after" -> answer("used " + meter.after().words());
                case "resources" ->
                    answer("resources " + Resources.read(looks++).words());
                case "live" -> answer("live " + LiveObjects.count().words());
                case "slow" -> {
                    slow.start(services.get(0).streams(), Integer.parseInt(words[1]), Integer.parseInt(words[2]));
                    answer("reading");
                }
                case "progress" -> answer("progress " + slow.progress().words());
                default -> answer(run(words[1], Integer.parseInt(words[2]), Long.parseLong(words[3])));
            }
        }
    }

    private String run(String call, int callers, long millis) throws InterruptedException {
        return Measurement.line(new Load(callers, millis, meter)
                .run(caller -> SceneCall.of(call, services.get(caller % services.size()))));
    }

    private static void answer(String text) {
        System.out.println(MARK + text);
        System.out.flush();
    }
}
