package tern.rpc.load.gate;

import java.io.PrintStream;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tern.rpc.load.LatencyReport;
import tern.rpc.load.OpenLoopDriver;
import tern.rpc.load.Scenario;
import tern.rpc.load.Tally;

/**
 * A program that checks a service-level objective in a build. The gate calls one method of a running application at the
 * required rate. The exit code is 0 if the application met the target, 1 if it missed the target, and 2 if the
 * measurement was impossible. {@code --help} lists the arguments.
 */
public final class SloGate {

    private final PrintStream out;

    private SloGate(PrintStream out) {
        this.out = out;
    }

    public static void main(String[] arguments) throws InterruptedException {
        System.exit(run(List.of(arguments), System.out, System.err));
    }

    /**
     * Like {@link #main}, but returns the exit code instead of ending the process.
     *
     * @return the exit code: 0, 1 or 2
     */
    public static int run(List<String> arguments, PrintStream out, PrintStream err) throws InterruptedException {
        if (arguments.contains("--help")) {
            out.print(GateOptions.HELP);
            return 0;
        }
        try {
            return new SloGate(out).passes(GateOptions.parse(arguments)) ? 0 : 1;
        } catch (CannotRunException e) {
            err.println("slo-gate: " + e.getMessage());
            return 2;
        }
    }

    private boolean passes(GateOptions options) throws CannotRunException, InterruptedException {
        JsonCall call = new JsonCall(options);
        call.tryOnce();
        Actuator actuator = options.actuator() == null ? null : new Actuator(options.actuator());
        if (actuator == null) {
            return drive(call, options, null).passed();
        }
        // This first request for a diagnosis detects a wrong Actuator address before the load starts.
        actuator.diagnosis();
        SlowMoments slow = new SlowMoments(options.target(), actuator::diagnosisNow);
        LatencyReport report = drive(call, options, slow);
        out.println();
        out.print(report.passed() ? diagnosis(actuator) : slow.text());
        return report.passed();
    }

    /**
     * Returns the current diagnosis, or a message that the application has stopped answering. Throws no exception, so
     * that the result of the load is always printed.
     */
    private static String diagnosis(Actuator actuator) throws InterruptedException {
        try {
            return actuator.diagnosis();
        } catch (CannotRunException e) {
            return String.format("No diagnosis: %s%n", e.getMessage());
        }
    }

    private LatencyReport drive(JsonCall call, GateOptions options, @Nullable SlowMoments slow)
            throws InterruptedException {
        Scenario scenario = Scenario.builder().step(options.name(), 1, call).build();
        Tally tally = new OpenLoopDriver(scenario, options.load()).run(second -> {
            out.println(second.toText());
            if (slow != null) {
                slow.report(second);
            }
        });
        LatencyReport report = LatencyReport.of(tally, options.target());
        out.println();
        out.print(report.toText());
        if (slow == null && !report.passed()) {
            out.println("--actuator=http://host:8080/actuator would show the application's diagnosis.");
        }
        out.flush();
        return report;
    }
}
